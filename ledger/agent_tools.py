"""Declared effects as tools of LangChain agents, in one line: `tools=[as_tool(issue_refund)]`.

1. The model sees the arguments of the effect and nothing else: no key, no time limit, no runtime.
2. Each tool call is an effect of its own, by its id, which is saved with the model's message. The
   same call after a crash is the same effect, also where several calls share a task.
3. What the model is told is what is stored: the result as JSON; or, as an error message that it may
   act on, that nothing happened and why. "It happened, but the result was not kept" is no error,
   or the model would do it again.
4. What stops the run (`runs.stop.StopRun`) passes through and is never shown to the model.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel

from audit.canonical import Json
from ledger import errors, registry
from ledger.registry import Tool
from ledger.tools import Described, Effectful

T = TypeVar("T")
Asks = Callable[[Described], Mapping[str, Json]]
"""Called in the tool before the effect: returns the arguments that are allowed, or raises Declined.
`approvals.asks` makes one."""

TELLABLE = (errors.EffectFailed, errors.BadArguments, errors.Declined)
"""Nothing happened, and another call of the model may be right."""


def as_tool(
    effect: Effectful,
    *,
    name: str | None = None,
    description: str | None = None,
    asks: Asks | None = None,
) -> StructuredTool:
    """A tool for `create_agent` or a ToolNode that performs this effect, once per tool call.

    `name` and `description` are what the model sees; by default those of the function. With `asks`,
    people are asked first, in the tool, and the effect is called with what they allowed.
    Raises NotAnEffect for a function without `@effect`, and for one without any description.
    """
    tool = registry.declared(effect)
    if not isinstance(tool, Tool):
        raise errors.NotAnEffect(f"{effect!r} is no effect. Declare it with @effect.")
    words = description or inspect.getdoc(tool.function)
    if not words:
        raise errors.NotAnEffect(f"{tool.name} needs a docstring: the model chooses tools by it.")
    awaited = inspect.iscoroutinefunction(tool.function)
    return StructuredTool.from_function(
        func=None if awaited else _with_signature(_plain(effect, asks), effect),
        coroutine=_with_signature(_coroutine(effect, asks), effect) if awaited else None,
        name=name or tool.function.__name__,
        description=words,
        handle_tool_error=True,
    )


def _plain(effect: Effectful, asks: Asks | None) -> Callable[..., str]:
    def perform(runtime: ToolRuntime, **given: object) -> str:
        with _told() as told:
            args = _allowed(effect, given, asks)
            told(effect(**args, tool_call_id=runtime.tool_call_id))
        return told.words

    return perform


def _coroutine(effect: Effectful, asks: Asks | None) -> Callable[..., Awaitable[str]]:
    async def perform(runtime: ToolRuntime, **given: object) -> str:
        with _told() as told:
            args = _allowed(effect, given, asks)
            told(await effect(**args, tool_call_id=runtime.tool_call_id))
        return told.words

    return perform


def _allowed(effect: Effectful, given: Mapping[str, object], asks: Asks | None) -> dict[str, Any]:
    """The arguments to call with: the model's, as plain values, or those that people allowed."""
    args = {name: _as_json(value) for name, value in given.items()}
    return args if asks is None else dict(asks(effect.describe(**args)))


class _Told:
    """What the model is told of an effect that has happened."""

    words = ""

    def __call__(self, result: Json) -> None:
        self.words = json.dumps(result, ensure_ascii=False)


@contextmanager
def _told() -> Iterator[_Told]:
    told = _Told()
    try:
        yield told
    except errors.ResultNotKept as happened:
        told.words = (
            f"It happened (reference {happened.reference or 'none'}). Its result is too large to be"
            " shown. Do not do it again."
        )
    except TELLABLE as refusal:
        raise ToolException(str(refusal)) from refusal


def _as_json(value: object) -> object:
    """Arguments whose type is a pydantic model come as its instances; the ledger keeps JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_json(item) for name, item in value.items()}
    return value


def _with_signature(perform: Callable[..., T], effect: Effectful) -> Callable[..., T]:
    """`perform` with the effect's arguments for the schema, and the runtime for LangChain to fill.

    Keyword-only, so that a parameter with a default may stand before the runtime.
    """
    own = inspect.signature(effect).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    runtime = inspect.Parameter("runtime", keyword, annotation=ToolRuntime)
    parameters = [*(each.replace(kind=keyword) for each in own), runtime]
    perform.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what LangChain reads
    perform.__annotations__ = {
        each.name: each.annotation for each in parameters if each.annotation is not each.empty
    }
    perform.__name__ = effect.__name__
    return perform
