"""What the graph of an agent refers to, as far as its code shows: its tools, and what they call.

1. It looks, and calls nothing. What a program makes up while it runs (a tool fetched from a server
   inside a node, a name looked up by text) cannot be seen.
2. Followed: what nodes are made of, the tools of a ToolNode, closures, and the globals that code of
   the agent's own names, also through a module (`payments.issue_refund`). Code of libraries is
   followed by what it holds, not by what it names.
"""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from runs import graphs

MOST = 50_000
"""Objects looked at; a graph that refers to more is not looked at to the end."""
LONGEST = 500
"""Items of a list that are looked at."""
LIBRARIES = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
PARTS = ("bound", "first", "last", "middle", "steps", "deps", "func", "afunc", "coroutine")
"""Where runnables, tools and nodes keep what they are made of."""
KINDRED = ("langchain", "langchain_core", "langgraph")
"""Packages whose objects have such parts. Others are left alone: asking them could do something."""

Leaf = Callable[[object], bool]


def by(graph: object, *, leaf: Leaf = lambda _: False) -> Iterator[object]:
    """Every object that this compiled graph or function refers to, each once; nearest first.

    What `leaf` says yes to is told and not looked into.
    """
    todo: list[object] = [graph]
    seen: dict[int, object] = {}
    while todo and len(seen) < MOST:
        found = todo.pop(0)
        if id(found) in seen:
            continue
        seen[id(found)] = found  # kept, so that no other object gets its id meanwhile
        yield found
        if not leaf(found):
            todo.extend(_of(found))


def tools(graph: object, *, leaf: Leaf = lambda _: False) -> dict[str, BaseTool]:
    """The tools that a model of this graph may call, by the name by which it calls them."""
    return {each.name: each for each in by(graph, leaf=leaf) if isinstance(each, BaseTool)}


def _of(found: object) -> Iterator[object]:
    if isinstance(found, types.FunctionType):
        yield from _of_function(found)
    elif isinstance(found, types.MethodType):
        yield found.__func__
    elif isinstance(found, functools.partial):
        yield from (found.func, *found.args, *found.keywords.values())
    elif isinstance(found, list | tuple | set | frozenset):
        yield from list(found)[:LONGEST]
    elif isinstance(found, Mapping):
        yield from list(found.values())[:LONGEST]
    elif isinstance(found, Runnable) or _root(type(found)) in KINDRED:
        yield from _of_object(found)


def _of_object(found: object) -> Iterator[object]:
    """The parts of a graph, a node, a runnable or a tool."""
    nodes = getattr(found, "nodes", None)
    if isinstance(nodes, Mapping):
        yield from nodes.values()
    for name in (*PARTS, "tools_by_name"):
        part = inspect.getattr_static(found, name, None)
        if part is not None:
            yield getattr(found, name, None)
    if isinstance(found, BaseTool) and not hasattr(found, "func"):
        yield from (type(found)._run, type(found)._arun)


def _of_function(function: types.FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that was never given a value
            continue
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield wrapped
    if _is_own(function):
        yield from _globals(function)


def _globals(function: types.FunctionType) -> Iterator[object]:
    """Globals that the code names, and what it names in modules."""
    names = set(_names(function.__code__))
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        if isinstance(value, types.ModuleType):
            inside = vars(value)
            yield from (inside[each] for each in sorted(names & inside.keys()))
        else:
            yield value


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):  # a function or comprehension inside
            yield from _names(constant)


def _is_own(function: types.FunctionType) -> bool:
    """Whether this is code of the agent's, not of a library or of Signalbox."""
    root = _root(function)
    if root in sys.stdlib_module_names or root in graphs.OURS:
        return False
    return not function.__code__.co_filename.startswith(LIBRARIES)


def _root(made: Any) -> str:  # Any: a function or a class
    return str(made.__module__ or "").partition(".")[0]


def place(function: Any) -> str:  # Any: functions, methods and callable objects
    """Where something callable is written, as far as it is known."""
    held = inspect.unwrap(function) if callable(function) else function
    name = getattr(held, "__qualname__", type(held).__qualname__)
    return f"{getattr(held, '__module__', type(held).__module__)}.{name}"
