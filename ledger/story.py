"""What the pages of a run tell about its effects: the implementation of `runs.ports.Story`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from accounts.speech import later
from ledger import exported, queries, status, trace
from ledger.drift import explaining
from ledger.drift import states as drifting
from ledger.models import Drift, Effect, EffectAttempt, Stop
from ledger.preview import ahead
from ledger.status import DONE, Status
from ledger.timeline import events, spans
from ledger.undo import telling
from runs.advice import telling as advice
from runs.models import Run
from runs.status import OVERLAYS, Park
from runs.status import Status as RunStatus
from runs.story import (
    Ahead,
    Deed,
    Event,
    Fact,
    Hide,
    Item,
    Notice,
    Remark,
    Section,
    Span,
    Tab,
    phrase,
    told,
)

MOST = 200
"""Rows of a tab."""


class Story:
    """Effects of runs, as their pages show them."""

    tab = Tab(
        slug="effects",
        label=later("Effects"),
        permission="ledger.view_effect",
        columns=(
            later("Effect"),
            later("Status"),
            later("Provider's reference"),
            later("Last change"),
        ),
        nothing=later("This run has done nothing to the outside world so far."),
    )

    def count(self, run_id: UUID, user: User) -> int:
        return Effect.objects.filter(run_id=run_id).count()

    def items(self, run_id: UUID, user: User) -> list[Item]:
        calls = EffectAttempt.objects.filter(effect=OuterRef("pk"))
        found = (
            Effect.objects.filter(run_id=run_id)
            .select_related("run")
            .annotate(
                calling=Exists(calls.filter(outcome=status.Outcome.OPEN)),
                unheard=Exists(calls.filter(outcome=status.Outcome.UNKNOWN)),
            )
            .order_by("-created_at")
        )
        drifted = Drift.objects.filter(run_id=run_id, withdrawn_at=None).select_related("before")
        return [
            *map(_drifted, drifted.order_by("-at")[:MOST]),
            *(_item(each, calling=each.calling, unheard=each.unheard) for each in found[:MOST]),
        ]

    def events(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Event]:
        return list(events.of(run_id, since=since, until=until))

    def spans(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Span]:
        return spans.of(run_id, since=since, until=until)

    def deeds(self, run_id: UUID, user: User, fences: Collection[int]) -> list[Deed]:
        return trace.deeds(run_id, fences)

    def sections(self, run_id: UUID, user: User, hide: Hide) -> list[Section]:
        return exported.sections(run_id, user, hide)

    def notice(self, run: Run, user: User) -> Notice | None:
        """An effect in doubt comes before anything else; then a stop that keeps the run parked."""
        doubtful = Effect.objects.filter(run=run, status=Status.IN_DOUBT).order_by("created_at")
        effect = doubtful.first()
        if effect is not None:
            return _doubtful(effect, run, user)
        drift = Drift.objects.filter(drifting.UNDECIDED, run=run).first()
        if drift is not None:
            return _undecided(drift, run, user)
        if run.park_reason == Park.EMERGENCY_STOP or run.status == RunStatus.QUEUED:
            return _stopped(run, user)
        return telling.notice(run, user)

    def facts(self, run_id: UUID) -> list[Fact]:
        done = Effect.objects.filter(run_id=run_id, status__in=DONE).count()
        return [Fact(label=_("Effects done"), value=str(done)), *_open(run_id)]

    def ahead(self, run: Run, user: User, *, ends: bool) -> Ahead:
        return ahead.at_the_end(run, user) if ends else ahead.of(run, user)

    def remarks(self, run_ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
        found = queries.of_runs(tuple(run_ids))
        return {run_id: _remark(each.count, each.tool) for run_id, each in found.items()}

    def mine(self, user: User) -> None:
        return None

    def troubled(self) -> QuerySet[Effect, UUID]:
        return Effect.objects.filter(status=Status.IN_DOUBT).values_list("run_id", flat=True)


def _open(run_id: UUID) -> Iterator[Fact]:
    """What makes a takeover less than safe: calls that nobody has heard the end of."""
    place = reverse("runs:tab", args=[run_id, Story.tab.slug])
    calling = EffectAttempt.objects.filter(
        effect__run_id=run_id, outcome=status.Outcome.OPEN
    ).select_related("effect")
    under_way = list(calling.order_by("started_at")[:MOST])
    if under_way:
        yield Fact(
            label=_("Calls under way"),
            value=f"{len(under_way)}: {under_way[0].effect.tool}",
            state=status.CALLING,
            url=place,
            note=phrase(_("begun "), under_way[0].started_at, _("; its answer may still come")),
        )
    doubtful = Effect.objects.filter(run_id=run_id, status=Status.IN_DOUBT).count()
    if doubtful:
        yield Fact(
            label=_("Effects in doubt"),
            value=_("%(count)s in doubt") % {"count": doubtful},
            state=status.STATES[Status.IN_DOUBT],
            url=place,
            note=phrase(_("the run is parked again until they are settled")),
        )


def _item(effect: Effect, *, calling: bool, unheard: bool) -> Item:
    return Item(
        title=effect.tool,
        url=events.url(effect),
        state=status.shown(
            effect.status, calling=calling, unheard=unheard, ended=effect.left_alone
        ),
        detail=effect.provider_ref,
        note=phrase(_remarkable(effect)),
        at=effect.updated_at,
    )


def _remarkable(effect: Effect) -> str:
    """A hand that settled it, or more calls than one; else nothing."""
    if effect.settled_by:
        return _("settled by {person}").format(person=effect.settled_by)
    many = ngettext("{count} call", "{count} calls", effect.attempts)
    return many.format(count=effect.attempts) if effect.attempts > 1 else ""


def _drifted(drift: Drift) -> Item:
    return Item(
        title=_("{tool}: changed on retry").format(tool=drift.tool),
        url=reverse("ledger:drift", args=[drift.uid]),
        state=drifting.state_of(drift),
        detail="",
        note=phrase(explaining.sentence(drift)),
        at=drift.at,
    )


def _remark(count: int, tool: str) -> Remark:
    """`tool` is that of an effect in doubt."""
    if tool:
        return Remark(
            state=OVERLAYS["in_doubt"],
            reason=told(_("{tool}: nobody heard how the call ended"), tool=tool),
        )
    return Remark(reason=told(ngettext("{count} effect", "{count} effects", count), count=count))


def _doubtful(effect: Effect, run: Run, user: User) -> Notice:
    parked = run.park_reason == Park.EFFECT_IN_DOUBT
    return advice.notice(
        f"parked.{Park.EFFECT_IN_DOUBT}" if parked else "in_doubt",
        run,
        user,
        told=told(
            _(
                "A call of {tool} was started and nobody heard how it ended: noticed {at}."
                " Nothing else of this run is sent until somebody settles it."
            ),
            tool=effect.tool,
            at=effect.updated_at,
        ),
        url=events.url(effect),
    )


def _undecided(drift: Drift, run: Run, user: User) -> Notice:
    return advice.notice(
        f"parked.{Park.DRIFT}",
        run,
        user,
        told=told(
            _(
                "A step ran again and wanted {tool} done with other arguments than the first"
                " time. Nothing more is sent until somebody accepts that."
            ),
            tool=drift.tool,
        ),
        url=reverse("ledger:drift", args=[drift.uid]),
    )


def _stopped(run: Run, user: User) -> Notice | None:
    """A run that waits for a worker is told only of a stop that will park it."""
    on = Stop.objects.filter(lifted_at__isnull=True).order_by("-set_at")
    everywhere = on.filter(
        Q(scope=Stop.Scope.EVERYTHING) | Q(scope=Stop.Scope.AGENT, name=run.agent)
    )
    parked = run.status == RunStatus.PARKED
    stop = everywhere.first() or (on.first() if parked else None)
    if stop is None:
        return None
    return advice.notice(
        f"parked.{Park.EMERGENCY_STOP}" if parked else "queued.stopped",
        run,
        user,
        told=told(
            _("An emergency stop is on, set by {person}: {reason}."),
            person=stop.set_by,
            reason=stop.reason.rstrip("."),
        ),
        url=reverse("ledger:stops"),
    )
