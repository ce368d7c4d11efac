"""Which effect a call is: its key, and the arguments as they are kept.

    {run}:{node}@{task}:{tool}:{hash of the arguments}[:{occurrence}]

1. The same call in the same task has the same key, after a crash and in another process too; task
   ids differ per loop visit, Send, `@task` call and tool call of an agent. Nothing random and no
   clock goes in.
2. Arguments are compared as RFC 8785 writes them, by name, defaults filled in: two spellings of one
   call are one effect. What PostgreSQL would not give back unchanged is refused.
3. A business key replaces the derived one. It contains the run's id: an effect belongs to one run.
4. What the provider gets is plain ASCII of at most 255 characters; see `for_provider`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from audit import canonical
from audit.canonical import Json
from ledger import errors, redaction
from ledger.models import Effect
from ledger.registry import Tool
from runs import authority
from runs.authority import Authority

LONGEST_NODE = 100
LONGEST_PART = 64
LONGEST_BUSINESS_KEY = 400
PROVIDER_LIMIT = 255
"""Stripe's limit on an idempotency key; few providers take more."""
_ROOM_FOR_ATTEMPTS = 10
_PLAIN = re.compile(r"[!\"$-~]+")
"""Visible ASCII but for `#`, which counts the provider's keys of one effect."""
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One effect that somebody wants performed, under the authority of a driver."""

    key: str
    step: str
    tool_name: str
    tool: Tool | None
    """None: this process does not know the tool, so it can neither call nor ask."""
    args: dict[str, Json]
    args_hash: str
    authority: Authority
    resolving: bool = False
    """Only the end of calls already made is wanted, no further one."""
    ordered: bool = False
    """A person has ordered it, after the run's end: its cancellation and permits do not matter."""

    @property
    def run_id(self) -> UUID:
        return self.authority.lease.run_id

    @property
    def fence(self) -> int:
        return self.authority.lease.fence

    def resolve(self, effect: Effect, tool: Tool | None) -> Intent:
        """Learn how the calls of an earlier effect of the same run have ended."""
        return Intent(
            key=effect.idempotency_key,
            step=effect.step,
            tool_name=effect.tool,
            tool=tool,
            args=effect.args,
            args_hash=effect.args_hash,
            authority=self.authority,
            resolving=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What the caller says about which effect it is, besides the arguments."""

    key: str | None = None
    occurrence: str | int | None = None
    tool_call_id: str | None = None


def intent(tool: Tool, args: Mapping[str, object], naming: Naming) -> Intent:
    """The effect that this call of `tool` stands for, in the node that runs now.

    `args` are bound to names. Raises NoAuthority, BadArguments, BadKey.
    """
    mine = authority.current()
    step = _step(naming.tool_call_id)
    if mine is None or step is None:
        raise errors.NoAuthority
    plain, args_hash = kept(tool.name, args, redact=tool.redact)
    run_id = str(mine.lease.run_id)
    template = naming.key if naming.key is not None else tool.key
    if template is None:
        key = f"{run_id}:{step}:{tool.name}:{args_hash}"
    else:
        # What a caller passes is text with one blank, what a declaration says has one per argument.
        blanks = plain if naming.key is None else {}
        key = _filled(template, {**blanks, "run_id": run_id})
        _refuse_unfit(key, run_id)
    if naming.occurrence is not None:
        key = f"{key}:{_short(str(naming.occurrence), LONGEST_PART)}"
    return Intent(
        key=key,
        step=step,
        tool_name=tool.name,
        tool=tool,
        args=plain,
        args_hash=args_hash,
        authority=mine,
    )


def kept(
    tool: str, args: Mapping[str, object], *, redact: Collection[str] = ()
) -> tuple[dict[str, Json], str]:
    """The arguments as plain JSON that the database gives back unchanged, and their hash.

    Raises BadArguments, which says where and what to do.
    """
    try:
        text = canonical.dumps(dict(args))
    except canonical.NotCanonical as exc:
        raise errors.BadArguments(
            f"The arguments of {tool} cannot be kept exactly. {exc} Nothing was sent."
        ) from exc
    plain: dict[str, Json] = json.loads(text)
    if canonical.visible(plain) != plain:
        raise errors.BadArguments(
            f"The arguments of {tool} contain a NUL character, a number beyond 2**53 or more than"
            " 100 levels, which cannot be kept exactly. Nothing was sent. Pass them as text."
        )
    if len(text) > settings.LEDGER_ARGS_LIMIT:
        raise errors.BadArguments(
            f"The arguments of {tool} have {len(text)} bytes; more than"
            f" {settings.LEDGER_ARGS_LIMIT} are not kept. Nothing was sent. Store what is large"
            " elsewhere, and pass where it is."
        )
    for name in redaction.in_clear(plain, redact):
        raise errors.BadArguments(
            f"{name!r} of {tool} is never stored in clear, and arguments are stored. Nothing was"
            f' sent. Pass a reference, "{redaction.PREFIX}NAME", which is looked up for the call.'
        )
    return plain, hashlib.sha256(text).hexdigest()


def for_provider(key: str, *, run_id: UUID, number: int = 1) -> str:
    """What the provider gets as its key; `#2` and up after a refusal, as refusals are replayed.

    A key that providers could choke on, or that could be mistaken for a numbered one, is hashed.
    """
    if len(key) > PROVIDER_LIMIT - _ROOM_FOR_ATTEMPTS or not _PLAIN.fullmatch(key):
        key = f"{run_id}:{hashlib.sha256(key.encode()).hexdigest()}"
    return key if number == 1 else f"{key}#{number}"


def number_of(provider_key: str) -> int:
    """Which one of its effect's keys for the provider this is, from 1."""
    _, _, number = provider_key.partition("#")
    return int(number or 1)


def _step(tool_call_id: str | None) -> str | None:
    """Where in the graph this code runs; None outside of a node."""
    try:
        runtime = get_runtime()
        node = get_config().get("metadata", {}).get("langgraph_node")
    except (RuntimeError, KeyError):
        return None
    info = runtime.execution_info if runtime is not None else None  # type: ignore[redundant-expr]  # LangGraph casts away the None of a config without runtime
    if info is None or not info.task_id:
        return None
    step = f"{_short(str(node), LONGEST_NODE)}@{info.task_id}"
    return step if tool_call_id is None else f"{step}/{_short(tool_call_id, LONGEST_PART)}"


def _short(text: str, longest: int) -> str:
    """`text` as it can be stored, or its beginning and a hash of the whole if it is long."""
    text = canonical.text(text)
    if len(text) <= longest:
        return text
    return f"{text[: longest - 33]}~{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _filled(template: str, blanks: Mapping[str, Json]) -> str:
    """`template` with each `{name}` replaced by that value; names without a value stay."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in blanks:
            return match[0]
        found = blanks[name]
        return found if isinstance(found, str) else canonical.dumps(found).decode()

    return _PLACE.sub(value, template)


def _refuse_unfit(key: str, run_id: str) -> None:
    if run_id not in key:
        raise errors.BadKey(
            f"The business key {key[:200]!r} must contain {{run_id}}: an effect belongs to one run."
            " Nothing was sent."
        )
    if len(key) > LONGEST_BUSINESS_KEY or canonical.text(key) != key:
        raise errors.BadKey(
            f"A business key has at most {LONGEST_BUSINESS_KEY} characters, no NUL and no half"
            f" characters: {key[:200]!r}. Nothing was sent."
        )
