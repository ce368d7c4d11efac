"""How a run stands right now: its badge, what lies over it, and one line that says why.

1. Overlays are computed from stored facts and the database's clock, never stored.
2. The same conditions exist twice: as a rule for one run in memory, and as a filter for lists and
   counts; a test asserts that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Case, DurationField, F, Q, Value, When
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import speech
from audit.models import ClockTimestamp
from runs import registry, status, stop
from runs.models import Attempt, Lease, Run
from runs.status import OVERLAYS, PARKS, STATES, Park, State, Status
from runs.story import Phrase, Remark, phrase
from runs.story import told as sentence

LONGEST_REASON = 160
DRIVEN = "driven"
"""What lists are asked for to show the runs that `driven` finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A state to be shown, under its own label or another."""

    state: State
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a list shows of a run besides its name."""

    main: Badge
    also: tuple[Badge, ...]
    reason: Phrase
    stuck: bool = False
    stalled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of a run beyond its row and its lease."""

    now: datetime
    last: Attempt | None = None
    """The newest attempt."""
    node: str = ""
    """What runs now, or is to run."""
    remark: Remark | None = None
    offered: bool = True
    """A live worker knows the agent, at a version that may drive the run."""
    busy: tuple[int, int] | None = None
    """All workers that know the agent have their hands full: how many they drive and may drive."""


def of(run: Run, seen: Seen) -> Standing:
    """How `run` (with its lease) stands at `seen.now`."""
    stuck = is_stuck(run, seen.now)
    stalled = is_stalled(run, run.lease, seen)
    main, reason = _main(run, seen, stuck=stuck, stalled=stalled)
    return Standing(
        main=main,
        also=tuple(_also(run, seen)),
        reason=reason,
        stuck=stuck,
        stalled=stalled,
    )


def is_stuck(run: Run, now: datetime) -> bool:
    return run.status == Status.RUNNING and not is_live(run.lease, now)


def is_live(lease: Lease, now: datetime) -> bool:
    """Whether somebody holds the lease."""
    return lease.expires_at is not None and lease.expires_at > now


def is_stalled(run: Run, lease: Lease, seen: Seen) -> bool:
    if run.status != Status.RUNNING or not is_live(lease, seen.now):
        return False
    since = quiet_since(lease, seen.last)
    return since is not None and seen.now - since > stall_after(run.agent)


def quiet_since(lease: Lease, last: Attempt | None) -> datetime | None:
    """When the present attempt last moved."""
    moments = [lease.progress_at, last.started_at if last else None]
    return max((moment for moment in moments if moment), default=None)


def stall_after(agent: str) -> timedelta:
    declared = registry.declarations().get(agent)
    after: timedelta = (declared and declared.stall_after) or settings.RUNS_STALL_AFTER
    return after


def soonest_stall() -> timedelta:
    """No run of any agent is stalled sooner."""
    declared = (each.stall_after for each in registry.declarations().values())
    return min((settings.RUNS_STALL_AFTER, *(after for after in declared if after)))


def stuck() -> Q:
    """The filter for `is_stuck`."""
    over = Q(lease__expires_at__isnull=True) | Q(lease__expires_at__lte=ClockTimestamp())
    return Q(status=Status.RUNNING) & over


def driven() -> Q:
    """Running, and not stuck."""
    return Q(status=Status.RUNNING, lease__expires_at__gt=ClockTimestamp())


def stalled() -> Q:
    """The filter for `is_stalled`."""
    of_agents = [
        When(agent=name, then=Value(declared.stall_after))
        for name, declared in registry.declarations().items()
        if declared.stall_after
    ]
    allowed = Case(
        *of_agents, default=Value(settings.RUNS_STALL_AFTER), output_field=DurationField()
    )
    quiet = Run.objects.filter(
        status=Status.RUNNING,
        lease__expires_at__gt=ClockTimestamp(),
        attempts__outcome=status.Outcome.OPEN,
    ).alias(
        quiet=Greatest("lease__progress_at", "attempts__started_at"),
        allowed=allowed,
    )
    return Q(pk__in=quiet.filter(quiet__lt=ClockTimestamp() - F("allowed")).values("pk"))


def retrying(run: Run) -> bool:
    return run.status == Status.QUEUED and run.due_at is not None


def _main(run: Run, seen: Seen, *, stuck: bool, stalled: bool) -> tuple[Badge, Phrase]:
    lease, told = run.lease, seen.remark.reason if seen.remark else ()
    if stuck:
        return _over("stuck"), (
            *(_at(_("lease ended {at}"), lease.expires_at) or phrase(_("nobody holds its lease"))),
            *phrase(_by(lease.holder)),
        )
    if stalled:
        since = quiet_since(lease, seen.last)
        return _over("stalled"), (
            *sentence(_("last step {at}"), at=since),
            *phrase(_by(lease.holder)),
        )
    if run.status == Status.PARKED:
        park = PARKS[run.park_reason]
        return Badge(state=park), told or phrase(
            _line(speech.shown(run.park_detail)) or park.sentence
        )
    if retrying(run):
        return _retrying(run, seen.last)
    badge = Badge(state=STATES[run.status])
    return badge, _plain(run, seen, told)


def _plain(run: Run, seen: Seen, told: Phrase) -> Phrase:
    match run.status:
        case Status.QUEUED if not seen.offered:
            return phrase(
                _("no live worker knows {agent} {version}").format(
                    agent=run.agent, version=run.agent_version
                )
            )
        case Status.QUEUED:
            said = sentence(_("queued {at}"), at=run.updated_at)
            return (*said, *phrase(_full(run, seen.busy)))
        case Status.RUNNING:
            doing = run.lease.progress_note or seen.node
            text = _("{doing} · lease ends {at}") if doing else _("lease ends {at}")
            return sentence(text, doing=_line(doing), at=run.lease.expires_at)
        case Status.WAITING:
            return told or _at(_("deadline {at}"), run.wait_until)
        case Status.FAILED:
            return phrase(_line(stop.told(run.error_class, run.error)))
        case Status.CANCELLED:
            return phrase(_line(_cancelled(run)))
        case Status.SUCCEEDED:
            return told or sentence(_("ended {at}"), at=run.ended_at)
        case _:
            return told


def _cancelled(run: Run) -> str:
    if not run.cancelled_by:
        return run.cancel_reason
    said = _("by {person}: {reason}").format(person=run.cancelled_by, reason=run.cancel_reason)
    return said.strip(": ")


def _at(text: str, at: datetime | None) -> Phrase:
    """Nothing where the moment is not known."""
    return sentence(text, at=at) if at else ()


def _full(run: Run, busy: tuple[int, int] | None) -> str:
    if busy is None:
        return ""
    return " · " + _("{taken} of {slots} slots busy for {agent}").format(
        taken=busy[0], slots=busy[1], agent=run.agent
    )


def _retrying(run: Run, last: Attempt | None) -> tuple[Badge, Phrase]:
    at = timezone.localtime(run.due_at)
    label = _("Retrying at {at:%H:%M:%S}").format(at=at)
    why = _line(stop.told(last.error_class, last.error)) if last else ""
    return Badge(state=OVERLAYS["retrying"], label=label), phrase(
        f"{why} · " if why else "", run.due_at
    )


def _also(run: Run, seen: Seen) -> list[Badge]:
    over = []
    if run.cancel_asked_at and not run.ended:
        over.append(_over("cancelling"))
    if seen.remark and seen.remark.state and run.park_reason != Park.EFFECT_IN_DOUBT:
        over.append(Badge(state=seen.remark.state))
    if run.read_only and run.park_reason != Park.READ_ONLY:
        over.append(_over("read_only"))
    return over


def _over(name: str) -> Badge:
    return Badge(state=OVERLAYS[name])


def _by(holder: str) -> str:
    return f" · {holder}" if holder else ""


def _line(text: str) -> str:
    """The first line, cut to what fits below a badge."""
    first = text.strip().partition("\n")[0]
    return first if len(first) <= LONGEST_REASON else f"{first[: LONGEST_REASON - 1]}…"
