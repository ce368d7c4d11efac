"""Tools that an agent's model may call and that declare nothing: neither `@effect` nor `@reads`.

Found in the loaded graphs, so only in processes that drive, and in the doctor. What a tool calls is
told as far as its code shows; that it calls a declared tool does not prove that it does nothing
else. Tools of others that only read, and cannot be marked in their code, are named in LEDGER_READS.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.conf import settings
from langchain_core.tools import BaseTool

from audit import canonical
from ledger import errors, registry
from ledger.inventory import known
from ledger.inventory.known import Kind, Known
from ledger.registry import Reader, Tool
from runs import bound, graphs
from runs import registry as agents

logger = logging.getLogger(__name__)
LONGEST_NAME = 120


def survey() -> tuple[Known, ...]:
    """Every tool that is declared in this process or bound in an agent's graph, by name.

    Loads every agent. Raises UnfitGraph.
    """
    used: dict[str, list[str]] = defaultdict(list)
    loose: dict[str, Known] = {}
    known_here = {tool.name: tool for tool in registry.everything()}
    for agent in agents.declarations():
        graph = graphs.load(agent).graph
        for declared in _declared(graph):
            used[declared.name].append(agent)
            known_here[declared.name] = declared
        for name, tool in bound.tools(graph, leaf=_is_declared).items():
            if (about := _loose(name, tool)) is not None:
                used[about.name].append(agent)
                loose.setdefault(about.name, about)
    return _sorted(known_here.values(), loose, used)


def undeclared(found: tuple[Known, ...]) -> list[Known]:
    return [each for each in found if each.kind == Kind.UNDECLARED]


def require(found: tuple[Known, ...]) -> None:
    """Tell in the log of every tool that declares nothing.

    Raises UndeclaredTools if there are any and LEDGER_UNDECLARED is "refuse".
    """
    silent = undeclared(found)
    for each in silent:
        logger.warning(
            "The tool %s of %s declares neither @effect nor @reads: what it changes is not kept in"
            " the ledger, and may happen twice. It is %s.",
            each.name,
            ", ".join(each.agents),
            each.place,
        )
    if silent and settings.LEDGER_UNDECLARED == "refuse":
        named = ", ".join(f"{each.name} ({each.place})" for each in silent)
        raise errors.UndeclaredTools(
            f"These tools declare neither @effect nor @reads: {named}. Declare them, or set"
            " LEDGER_UNDECLARED=warn to start all the same."
        )


def _sorted(
    tools: Iterable[Tool | Reader], loose: dict[str, Known], used: dict[str, list[str]]
) -> tuple[Known, ...]:
    found = {
        tool.name: known.of_tool(tool, agents=tuple(used.get(tool.name, ()))) for tool in tools
    }
    for name, about in loose.items():
        # A loose tool may bear the name of a declared one; both are shown.
        key = name if name not in found else f"{name} "
        found[key] = Known.read(about.kept() | {"agents": used[name]})
    return tuple(found[name] for name in sorted(found))


def _is_declared(found: object) -> bool:
    return registry.declared(found) is not None


def _is_made_of_an_effect(function: object) -> bool:
    """Whether `ledger.agent_tools.as_tool` has made it."""
    return getattr(function, "__module__", "") == "ledger.agent_tools"


def _declared(start: object) -> Iterator[Tool | Reader]:
    for found in bound.by(start, leaf=_is_declared):
        tool = registry.declared(found)
        if tool is not None:
            yield tool


def _loose(name: str, tool: BaseTool) -> Known | None:
    """What is known of a bound tool that is not a declared one itself."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or type(tool)._run
    if _is_declared(function) or _is_declared(tool) or _is_made_of_an_effect(function):
        return None
    through = tuple(dict.fromkeys(each.name for each in _declared(tool)))
    reads = name in settings.LEDGER_READS
    kind = Kind.READS if reads else Kind.THROUGH if through else Kind.UNDECLARED
    return Known(
        name=canonical.text(name)[:LONGEST_NAME],
        kind=kind,
        does=known.first_line(canonical.text(tool.description)),
        place=bound.place(function),
        through=through,
    )
