"""The inventory: every tool that workers know or the ledger has effects of, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext

from accounts.speech import later as _
from ledger import stops
from ledger.inventory import boxes, usage
from ledger.inventory.boxes import Offered
from ledger.inventory.known import Kind, Known
from ledger.inventory.usage import Usage
from ledger.models import Idempotency, Stop
from runs.status import State

KINDS: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Idempotency.PROVIDER,
            label=_("Provider knows the key"),
            tone="ok",
            icon="check",
            sentence=_("The provider does the same key once, so a repeat is harmless for a time."),
        ),
        State(
            value=Idempotency.LOOKUP,
            label=_("Can be asked"),
            tone="ok",
            icon="search",
            sentence=_(
                "The provider can be asked whether it happened, so nothing is done by guess."
            ),
        ),
        State(
            value=Idempotency.LEDGER,
            label=_("Ledger alone"),
            tone="warn",
            icon="book",
            sentence=_("Only the ledger prevents a repeat: an unheard call is put in doubt."),
        ),
        State(
            value=Kind.READS,
            label=_("Only reads"),
            tone="neutral",
            icon="eye",
            sentence=_("It changes nothing outside, and is called as often as it is wanted."),
        ),
        State(
            value=Kind.THROUGH,
            label=_("Calls declared tools"),
            tone="neutral",
            icon="swap",
            sentence=_(
                "It declares nothing itself, but its code calls tools that do. Whether it"
                " does anything else is not known."
            ),
        ),
        State(
            value=Kind.UNDECLARED,
            label=_("Undeclared"),
            tone="bad",
            icon="triangle",
            sentence=_(
                "It declares neither @effect nor @reads. What it changes is not in the"
                " ledger, and may happen twice."
            ),
        ),
        State(
            value="gone",
            label=_("Nobody knows it"),
            tone="warn",
            icon="triangle",
            sentence=_("The ledger has effects of it, and no live worker knows the tool."),
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One tool of the list; one for each way in which workers declare it."""

    name: str
    known: Known | None
    """None: only the ledger has heard of it."""
    state: State
    usage: Usage
    agents: tuple[str, ...]
    """Whose code refers to it, or whose runs have used it."""
    stop: Stop | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding: what is wrong with a tool, and what to do."""

    tool: str
    text: str
    todo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...]
    live: bool
    """Some worker that told of its tools lives."""


def inventory(period: timedelta) -> Inventory:
    """The number of queries does not depend on how many tools there are."""
    offered, used = boxes.offered(), usage.over(period)
    on = {stop.name: stop for stop in stops.on().filter(Q(scope=Stop.Scope.TOOL))}
    lines = [
        _line(name, known, used.get(name.strip(), usage.NOTHING), on.get(name.strip()))
        for name, several in offered.by_name.items()
        for known in several
    ]
    foreign = [name for name in used if not offered.knows(name)]
    lines += [_line(name, None, used[name], on.get(name)) for name in foreign]
    return Inventory(
        lines=tuple(sorted(lines, key=lambda line: line.name)),
        problems=tuple(problems(offered, used)),
        live=offered.live,
    )


def problems(offered: Offered, used: dict[str, Usage]) -> list[Problem]:
    """All findings: undeclared first, then what nobody knows, then what workers disagree about."""
    return [
        *(
            _undeclared(known)
            for several in offered.by_name.values()
            for known in several
            if known.kind == Kind.UNDECLARED
        ),
        *(
            _unknown(name)
            for name, each in used.items()
            if offered.live and not offered.knows(name) and (each.wanted or each.count)
        ),
        *(
            _disputed(name)
            for name, several in offered.by_name.items()
            if len({_declaration(known) for known in several}) > 1
        ),
    ]


def _declaration(known: Known) -> tuple[object, ...]:
    kept = known.kept()
    return tuple(kept[name] for name in ("kind", "idempotency", "window", "lookup", "permit"))


def _undeclared(known: Known) -> Problem:
    if known.agents:
        text = gettext(
            "The tool {tool} of {agents} declares neither @effect nor @reads, so what it"
            " changes is not in the ledger and may happen twice."
        )
    else:
        text = gettext(
            "The tool {tool} declares neither @effect nor @reads, so what it changes is not"
            " in the ledger and may happen twice."
        )
    return Problem(
        tool=known.name,
        text=text.format(tool=known.name.strip(), agents=", ".join(known.agents)),
        todo=_(
            "Declare {place}, or name the tool in LEDGER_READS if it only reads.", place=known.place
        ),
    )


def _unknown(name: str) -> Problem:
    return Problem(
        tool=name,
        text=_("The ledger has effects of {name}, and no live worker knows it.", name=name),
        todo=_(
            "If runs still want it, deploy the agent that declares it: a call of it that"
            " nobody heard the end of can only be settled by hand."
        ),
    )


def _disputed(name: str) -> Problem:
    return Problem(
        tool=name,
        text=_("Live workers declare {name} in different ways.", name=name),
        todo=_("Harmless while a deploy is under way; else bring all workers to one version."),
    )


def _line(name: str, known: Known | None, used: Usage, stop: Stop | None) -> Line:
    kind = "gone" if known is None else known.kind
    state = KINDS[known.idempotency if known and kind == Kind.EFFECT else kind]
    refer = known.agents if known else ()
    return Line(
        name=name,
        known=known,
        state=state,
        usage=used if known is None or kind == Kind.EFFECT else usage.NOTHING,
        agents=tuple(dict.fromkeys((*refer, *used.agents))) if kind != "reads" else refer,
        stop=stop,
    )
