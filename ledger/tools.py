"""Declaring tools: `@effect` for what changes something outside, `@reads` for what does not.

    @effect("payments.refund", idempotency=Idempotency.PROVIDER, window=timedelta(hours=24))
    def issue_refund(order_id: str, amount_cents: int, *, idempotency_key: str) -> Outcome:
        return from_response(client.post("/refunds", ..., headers={"Key": idempotency_key}))

    receipt = issue_refund(order_id="7", amount_cents=1000)      # in a node, as often as it runs

1. The function makes one call and returns an `Outcome` (or the `httpx.Response`). The caller gets
   the stored result. Nothing is called if it is there already.
2. The ledger passes `idempotency_key` and, if wanted, `timeout` (seconds left) itself. Everything
   else is an argument: plain JSON, bound by name, so that two spellings are one effect.
3. A call may say which effect it is: `occurrence=` for a deliberate second one, `key=` for a
   business key (`refund:{run_id}:7`), `tool_call_id=` where several tool calls run in one task.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import wraps
from typing import Literal, Protocol, TypedDict, TypeVar, cast

from typing_extensions import Unpack

from audit.canonical import Json
from ledger import effects, errors, keys, registry
from ledger.keys import Naming
from ledger.models import Idempotency
from ledger.registry import LookUp, Permit, Reader, Tool, UndoArgs

__all__ = ["Idempotency", "effect", "reads"]

F = TypeVar("F", bound=Callable[..., object])

PASSED = frozenset({"idempotency_key", "timeout"})
"""Parameters that the ledger fills in."""
NAMING = frozenset({"occurrence", "key", "tool_call_id"})
"""Arguments of a call that say which effect it is."""


class Described(TypedDict):
    """An effect as a question to people shows it; its approval permits exactly this."""

    tool: str
    args: dict[str, Json]


class Effectful(Protocol):
    """A declared effect. Calling it in a node performs it at most once."""

    __name__: str
    __wrapped__: Callable[..., object]
    """The bare function, for tests of the tool itself."""
    describe: Callable[..., Described]
    """Called like the effect; returns what would be done, and does nothing."""

    def __call__(self, *args: object, **kwargs: object) -> typing.Any:
        """The stored result; a coroutine of it for an `async def`. Raises: see ledger.effects."""


class Options(TypedDict, total=False):
    """How a tool is kept from happening twice."""

    window: timedelta
    """PROVIDER: how long the provider remembers a key, from the first call with it."""
    lookup: LookUp
    """f(provider key) -> Found, None for a "no", or an exception for "I do not know"."""
    visibility: timedelta
    """How long after a call a look-up may still miss it."""
    timeout: timedelta
    """Default LEDGER_CALL_TIMEOUT."""
    permit: Permit
    """Whether it needs an approval of exactly its arguments; or f(arguments) -> bool."""
    key: str
    """Template of a business key: `refund:{run_id}:{order_id}`."""
    drift: Literal["stop", "flag"]
    """When a later attempt of a step asks for another effect: not start it, or only show it.
    Default LEDGER_DRIFT."""
    redact: Collection[str]
    """Fields whose values are never stored in clear: in results they are left out, in arguments
    they are passed as "secret:NAME"."""
    undo_args: UndoArgs
    """f(Done) -> the arguments of that. Default: those of the same name, and `reference`."""
    fingerprint: Callable[..., Mapping[str, object]]
    """f(**arguments) -> a few facts about what they name, such as its version: an approval counts
    only while they are the same. See approvals.targets."""


def effect(
    name: str,
    *,
    idempotency: Idempotency,
    undo: Effectful | str = "",
    **options: Unpack[Options],
) -> Callable[[Callable[..., object]], Effectful]:
    """Declare a function that changes something outside. Raises NotAnEffect.

    `undo` is what takes it back, a declared effect or its name: called only if a person wants it.
    """

    def declare(function: Callable[..., object]) -> Effectful:
        signature = inspect.signature(function)
        tool = Tool(
            name=name,
            function=function,
            idempotency=Idempotency(idempotency),
            signature=_of_arguments(signature),
            passes=PASSED & signature.parameters.keys(),
            undo=_name_of(name, undo),
            **{**options, "redact": _fields(name, options.get("redact", ()))},  # type: ignore[arg-type]  # what Options says, this one as a set
        )
        _refuse_unfit(tool, signature)
        registry.add(tool)
        return _wrapped(tool)

    return declare


def _name_of(name: str, undo: Effectful | str) -> str:
    declared = None if isinstance(undo, str) else registry.declared(undo)
    found = declared.name if isinstance(declared, Tool) else undo
    if not isinstance(found, str) or found == name:
        raise errors.NotAnEffect(
            f"{name} cannot be an effect: undo= is another declared effect, or the name of one."
        )
    return found


def _fields(name: str, redact: Collection[object]) -> frozenset[str]:
    fields = frozenset(each for each in redact if isinstance(each, str) and each)
    if isinstance(redact, str) or len(fields) < len(redact):
        raise errors.NotAnEffect(
            f"{name} cannot be an effect: redact= is a set of the names of fields."
        )
    return fields


def reads(name: str) -> Callable[[F], F]:
    """Declare a function that changes nothing outside. It is called as it is."""

    def declare(function: F) -> F:
        reader = Reader(name=name, function=function)
        registry.add(reader)
        function.__ledger_tool__ = reader  # type: ignore[attr-defined]  # read by registry.declared
        return function

    return declare


def _wrapped(tool: Tool) -> Effectful:
    function = tool.function
    call: Callable[..., object]
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call(*args: object, **kwargs: object) -> Json:
            return await effects.aperform(_intent(tool, args, kwargs))

    else:

        @wraps(function)
        def call(*args: object, **kwargs: object) -> Json:
            return effects.perform(_intent(tool, args, kwargs))

    def describe(*args: object, **kwargs: object) -> Described:
        plain, _ = keys.kept(tool.name, _bound(tool, args, kwargs), redact=tool.redact)
        return {"tool": tool.name, "args": plain}

    shown = {name: hint for name, hint in _hints(function).items() if name not in PASSED}
    call.__annotations__ = {**shown, "return": object}
    call.__signature__ = _with_hints(tool.signature, shown)  # type: ignore[attr-defined]  # what inspect and LangChain read
    call.__ledger_tool__ = tool  # type: ignore[attr-defined]  # read by registry.declared
    call.describe = describe  # type: ignore[attr-defined]  # part of Effectful
    return cast(Effectful, call)  # the attributes above make it one


def _intent(tool: Tool, args: tuple[object, ...], kwargs: Mapping[str, object]) -> keys.Intent:
    said = {name: kwargs[name] for name in NAMING & kwargs.keys()}
    rest = {name: value for name, value in kwargs.items() if name not in NAMING}
    return keys.intent(tool, _bound(tool, args, rest), _naming(said))


def _naming(said: Mapping[str, object]) -> Naming:
    key, occurrence = said.get("key"), said.get("occurrence")
    tool_call_id = said.get("tool_call_id")
    if not (
        isinstance(key, str | None)
        and isinstance(occurrence, str | int | None)
        and isinstance(tool_call_id, str | None)
    ):
        raise errors.BadKey(
            "key= and tool_call_id= are text, occurrence= is text or an integer. Nothing was sent."
        )
    return Naming(key=key, occurrence=occurrence, tool_call_id=tool_call_id)


def _bound(tool: Tool, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
    """The arguments by name, defaults filled in. TypeError as for any function."""
    bound = tool.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _of_arguments(signature: inspect.Signature) -> inspect.Signature:
    """Without what the ledger passes."""
    own = [p for name, p in signature.parameters.items() if name not in PASSED]
    return signature.replace(parameters=own, return_annotation=inspect.Signature.empty)


def _hints(function: Callable[..., object]) -> dict[str, object]:
    """The annotations, resolved where they can be: the wrapper lives in another module."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        return dict(function.__annotations__)


def _with_hints(signature: inspect.Signature, hints: Mapping[str, object]) -> inspect.Signature:
    typed = [
        p.replace(annotation=hints.get(name, p.annotation))
        for name, p in signature.parameters.items()
    ]
    return signature.replace(parameters=typed)


# --- refusing at declaration ---------------------------------------------------------------------


def _refuse_unfit(tool: Tool, signature: inspect.Signature) -> None:
    for problem in (_problem_of_signature(tool, signature), _problem_of_guard(tool)):
        if problem:
            raise errors.NotAnEffect(f"{tool.name} cannot be an effect: {problem}")


def _problem_of_signature(tool: Tool, signature: inspect.Signature) -> str:
    kinds = {p.kind for p in signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return "it takes *args or **kwargs. Name its arguments; their names are part of the key."
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        return "it has positional-only parameters. The ledger passes stored arguments by name."
    if inspect.isgeneratorfunction(tool.function) or inspect.isasyncgenfunction(tool.function):
        return "it is a generator. Return an Outcome."
    taken = NAMING & signature.parameters.keys()
    if taken:
        return f"{sorted(taken)[0]!r} says which effect a call is; rename the parameter."
    return _problem_of_key(tool)


def _problem_of_key(tool: Tool) -> str:
    if tool.key is None:
        return ""
    blanks = set(re.findall(r"\{(\w+)\}", tool.key))
    if "run_id" not in blanks:
        return "its business key must contain {run_id}: an effect belongs to one run."
    unknown = blanks - {"run_id"} - tool.signature.parameters.keys()
    return (
        f"its business key names {sorted(unknown)[0]!r}, which is no argument." if unknown else ""
    )


def _problem_of_guard(tool: Tool) -> str:
    if tool.drift not in ("", "stop", "flag"):
        return 'drift= is "stop" or "flag".'
    guard = tool.idempotency
    if guard is not Idempotency.LEDGER and "idempotency_key" not in tool.passes:
        return "the provider can know it only by key: take `*, idempotency_key: str` and send it."
    if guard is Idempotency.PROVIDER and tool.window is None:
        return "say how long the provider remembers a key (window=)."
    if guard is not Idempotency.PROVIDER and tool.window is not None:
        return "only a provider that deduplicates has a window=."
    if guard is Idempotency.LOOKUP and tool.lookup is None:
        return "say how to find out whether it happened (lookup=)."
    if guard is Idempotency.LEDGER and tool.lookup is not None:
        return "what can be looked up is LOOKUP (or PROVIDER), not LEDGER."
    return _problem_of_times(tool)


def _problem_of_times(tool: Tool) -> str:
    if inspect.iscoroutinefunction(tool.lookup):
        return "lookup= must be a plain function; it is called in a thread of its own."
    if tool.undo_args is not None and not tool.undo:
        return "undo_args= says how undo= is called, which is missing."
    zero = timedelta(0)
    if tool.visibility < zero:
        return "visibility= is negative."
    if tool.timeout is not None and tool.timeout <= zero:
        return "timeout= must be above zero."
    if tool.window is not None and tool.window <= zero:
        return "window= must be above zero."
    return ""
