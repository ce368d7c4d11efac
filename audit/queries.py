"""Reading the audit log, in pages by key: a log that grows does not shift the page being read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import BooleanField, Count, Func, JSONField, Max, Min, Q, QuerySet, Value

from accounts import clock
from audit import daily, trail
from audit.models import Anchor, ClockTimestamp, Entry, Seal
from audit.seal import BELOW_ALL, LOOK_BACK

SEALED_WITHIN = timedelta(minutes=1)
"""A running sealer, which looks every second, never leaves an entry waiting for longer."""

PROVED_WITHIN = timedelta(hours=48)
"""Twice the time between two daily proofs."""
NEWEST = 50_000
"""Entries in which a text is looked for: there is no index for it, which would slow all writers."""
CLOCKS = timedelta(days=1)
"""By how much the database's clock may have been set back without hiding entries from a filter."""
PAGE = 2000
"""Entries that `pages` reads at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to show; an empty field shows all."""

    verbs: tuple[str, ...] = ()
    actor_id: str = ""
    actor_label: str = ""
    """Exactly as recorded; parts of the system have a label and no id."""
    target_kind: str = ""
    target_id: str = ""
    run_id: UUID | None = None
    allowed: bool | None = None
    """False: refused attempts only."""
    since: datetime | None = None
    until: datetime | None = None
    """Not included."""
    text: str = ""
    """Part of the reason, or one of the facts, exactly; looked for in the NEWEST entries."""


def entries(
    filters: Filters,
    *,
    after_id: int | None = None,
    before_id: int | None = None,
    limit: int = 50,
) -> list[Entry]:
    """Up to `limit` entries, newest first, each with its seal if it has one.

    `after_id` is the last id of the page before, `before_id` the first id of the page after.
    """
    found = Entry.objects.filter(_where(filters)).select_related("seal")
    if before_id is not None:
        return list(found.filter(id__gt=before_id).order_by("id")[:limit])[::-1]
    if after_id is not None:
        found = found.filter(id__lt=after_id)
    return list(found.order_by("-id")[:limit])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """How far the log is sealed."""

    newest: Seal | None
    """None in a log without any."""
    unsealed: int
    """Entries that no seal protects yet."""
    late: bool
    """The oldest of them has waited for longer than SEALED_WITHIN: the sealer does not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Sealed):
    """That, and how far it is proved."""

    proof: Entry | None
    """The last proof that was recorded."""
    anchored: Anchor | None
    """The newest anchor."""
    overdue: bool
    """No proof was recorded for longer than PROVED_WITHIN, although there is something to prove."""

    @property
    def disproved(self) -> bool:
        """The last proof found that the log is not what it was."""
        return self.proof is not None and self.proof.verb == daily.DISPROVED


def sealed() -> Sealed:
    """Bounded work, however long the log is: looks as far back as the sealer does. Two queries."""
    newest = Seal.objects.order_by("-seq").first()
    highest = newest.entry_id if newest else 0
    waiting = Entry.objects.filter(seal=None, id__gt=highest - LOOK_BACK).aggregate(
        count=Count("id"), oldest=Min("at"), now=Max(ClockTimestamp())
    )
    oldest = waiting["oldest"]
    return Sealed(
        newest=newest,
        unsealed=waiting["count"],
        late=oldest is not None and waiting["now"] - oldest > SEALED_WITHIN,
    )


def standing() -> Standing:
    """As `sealed`, and looks up the last proof."""
    log = sealed()
    proof = Entry.objects.filter(verb__in=daily.PROOFS).order_by("-id").first()
    since = Seal.objects.order_by("seq").values_list("sealed_at", flat=True).first()
    asked = proof.at if proof else since
    return Standing(
        newest=log.newest,
        unsealed=log.unsealed,
        late=log.late,
        proof=proof,
        anchored=Anchor.objects.order_by("-id").first(),
        overdue=asked is not None and clock.now() - asked > PROVED_WITHIN,
    )


def pages(filters: Filters) -> Iterator[list[Entry]]:
    """Every entry that matches and is there now, oldest first, each with its seal, in pages.

    Each is a statement of its own: neither memory nor time-outs mind how long the log is.
    """
    newest = Entry.objects.aggregate(id=Max("id"))["id"] or 0
    found = Entry.objects.filter(_where(filters), id__lte=newest).select_related("seal")
    above = BELOW_ALL
    while page := list(found.filter(id__gt=above).order_by("id")[:PAGE]):
        yield page
        above = page[-1].id


def for_run(run_id: UUID) -> QuerySet[Entry]:
    """Every entry about one run, oldest first."""
    return Entry.objects.filter(run_id=run_id).order_by("id")


class _HasValue(Func):
    """Whether some value in a JSON document, however deep, is this text."""

    template = "jsonb_path_exists(%(expressions)s)"
    arg_joiner = ", '$.** ? (@ == $text)', "
    output_field = BooleanField()


def _before(moment: datetime) -> Q:
    """All entries that may be older than this: without it, a list walks down to them from today.

    Ids rise with time, but for the moments between taking both, and for a clock that was set back.
    """
    later = Entry.objects.filter(at__gte=moment + CLOCKS).order_by("at", "id")
    first = later.values_list("id", flat=True).first()
    return Q() if first is None else Q(id__lt=first)


def _after(moment: datetime) -> Q:
    """The same of entries that may be younger: a walk down from today ends here."""
    earlier = Entry.objects.filter(at__lt=moment - CLOCKS).order_by("-at", "-id")
    last = earlier.values_list("id", flat=True).first()
    return Q() if last is None else Q(id__gt=last)


def _where(filters: Filters) -> Q:
    asked = {
        "verb__in": filters.verbs,
        "actor_id": filters.actor_id,
        "actor_label": filters.actor_label,
        "target_kind": filters.target_kind,
        "target_id": trail.stored_id(filters.target_id),
        "run_id": filters.run_id,
        "at__gte": filters.since,
        "at__lt": filters.until,
    }
    where = Q(**{field: value for field, value in asked.items() if value})
    if filters.until:
        where &= _before(filters.until)
    if filters.since:
        where &= _after(filters.since)
    text = filters.text.replace("\x00", "").strip()
    if text:
        highest = Entry.objects.aggregate(highest=Max("id"))["highest"] or 0
        fact = Q(_HasValue("data", Value({"text": text}, JSONField())))
        where &= Q(id__gt=highest - NEWEST) & (Q(reason__icontains=text) | fact)
    return where if filters.allowed is None else where & Q(allowed=filters.allowed)
