"""What a person may do to a run: cancel it, retry it, force it to resume, have it asked again.

1. Each checks its own permission in the transaction that acts, needs a reason, leaves an
   intervention and an audit entry, and wakes the run. Refused attempts are recorded as well.
2. Nothing here drives: the run is changed under its lock and somebody is asked to look.
3. Force-resume and retry forgive: earlier errors and crashes no longer count.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from django.utils.translation import ngettext

from accounts import actors, speech
from accounts import errors as people
from accounts.actors import Actor
from accounts.speech import later
from audit import canonical, trail
from runs import dispatch, errors, leases, overrides, status
from runs.models import Intervention, Lease, Run

FRESH = timedelta(minutes=5)
"""How recent a sign-in must be for what breaks a safety rule."""


class Part(Protocol):
    """The place of one intervention in an operation on many runs: see `runs.operations`."""

    @property
    def operation(self) -> str:
        """Its id, for the audit log."""

    @property
    def runs(self) -> int:
        """How many runs were chosen."""

    @property
    def age(self) -> timedelta:
        """How long ago it was ordered: a sign-in has to have been recent then."""

    def begin(self, run: Run) -> None:
        """Raise if it is not to be done to this run any more. In the transaction, run locked."""

    def done(self) -> None:
        """Write down that it is done. In the transaction."""

    def refuse(self, refusal: Exception) -> None:
        """Write down why it is not done; raise if that is written already. In the transaction that
        tells the audit log, so that it tells it once."""


def cancel(run_id: UUID, *, actor: Actor, reason: str, part: Part | None = None) -> Run:
    """Ask the run to end at its next step. Raises NotPermitted, ReasonMissing, RunEnded, NoSuchRun.

    Asking twice is harmless: the first word stands.
    """

    def act(run: Run) -> None:
        if run.cancel_asked_at is None:
            _update(
                run,
                cancel_asked_at=Now(),
                cancel_reason=canonical.text(reason),
                cancelled_by=actor.label,
            )

    return _intervene(
        run_id,
        actor,
        reason,
        permission="runs.cancel_run",
        verb="run.cancel_asked",
        kind=Intervention.Kind.CANCEL,
        act=act,
        part=part,
    )


def retry(run_id: UUID, *, actor: Actor, reason: str) -> Run:
    """Try a parked or waiting-to-retry run again now. Raises also NothingToDo."""

    def act(run: Run) -> None:
        if run.status not in (status.Status.PARKED, status.Status.QUEUED):
            raise errors.NothingToDo
        _forgive(run)

    return _intervene(
        run_id,
        actor,
        reason,
        permission="runs.retry_run",
        verb="run.retried",
        kind=Intervention.Kind.RETRY,
        act=act,
    )


def force_resume(
    run_id: UUID, *, actor: Actor, reason: str, part: Part | None = None, seen: str | None = None
) -> Run:
    """Have another worker take over a stuck run, or look again at one that rests.

    Refused while a live lease holds the run (NothingToDo), if it is not as it was when the person
    looked (RunMoved; `seen` is what `mark` said then, None where no page was shown), and without a
    recent sign-in (ReauthenticationNeeded). It decides nothing: questions stay open, effects in
    doubt stay so. The others who may do this are told.
    """

    def act(run: Run) -> None:
        holder = leases.live_holder(run.pk)
        if holder:
            raise errors.NothingToDo(
                later(
                    "{holder} holds the lease and renews it. If it hangs, wait until it is"
                    " given up, or stop that worker; then force-resume.",
                    holder=holder,
                )
            )
        if seen is not None and seen != mark(run):
            raise errors.RunMoved
        _forgive(run)

    return _intervene(
        run_id,
        actor,
        reason,
        permission="runs.force_resume_run",
        verb="run.force_resumed",
        kind=Intervention.Kind.FORCE_RESUME,
        act=act,
        override=_("forced a run to resume"),
        part=part,
    )


def mark(run: Run) -> str:
    """How the run stands, for who wants to act on what they saw: who drove last, and its state."""
    fence = Lease.objects.values_list("fence", flat=True).get(pk=run.pk)
    return f"{fence} {run.status} {run.park_reason}".strip()


def ask_again(run_id: UUID, *, actor: Actor, reason: str) -> Run:
    """Have the last question of a run that is parked for a bad answer asked once more.

    Marks the run; the next driver cuts the answer back under its lease. Raises also NothingToDo.
    """

    def act(run: Run) -> None:
        if run.status != status.Status.PARKED or run.park_reason not in (
            status.Park.BAD_ANSWER,
            status.Park.DEADLINE,
        ):
            raise errors.NothingToDo
        _update(run, ask_again=True)
        _forgive(run)

    return _intervene(
        run_id,
        actor,
        reason,
        permission="runs.ask_again_run",
        verb="run.ask_again",
        kind=Intervention.Kind.ASK_AGAIN,
        act=act,
    )


def wake_parked(reason: status.Park, *, begun_by: datetime | None = None) -> list[UUID]:
    """Look again at every run parked for `reason`, forgiving what parked it. In the transaction.

    With `begun_by`, only at runs that nothing has woken since and whose last attempt began by then.
    """
    parked = Run.objects.filter(status=status.Status.PARKED, park_reason=reason)
    if begun_by is not None:
        parked = parked.filter(
            wakes=F("seen_wakes"),
            attempts__fence=F("lease__fence"),
            attempts__started_at__lte=begun_by,
        )
    woken = []
    for run in parked.select_for_update(no_key=True, of=("self",)):
        _forgive(run)
        _update(run, wakes=F("wakes") + 1)
        dispatch.ring(run.pk, cause=noop("woken"))
        woken.append(run.pk)
    return woken


def forgive_parked(run_id: UUID) -> None:
    """Look again at one run, forgiving what parked it. In the transaction, the run locked."""
    run = Run.objects.get(pk=run_id)
    if run.status == status.Status.PARKED:
        _forgive(run)
    _update(run, wakes=F("wakes") + 1)
    dispatch.ring(run_id, cause=noop("woken"))


def _intervene(  # noqa: PLR0913 (one row of the table of controls)
    run_id: UUID,
    actor: Actor,
    reason: str,
    *,
    permission: str,
    verb: str,
    kind: Intervention.Kind,
    act: Callable[[Run], None],
    override: str = "",
    part: Part | None = None,
) -> Run:
    """`override`: what others are told of an act that breaks a safety rule; wants a fresh proof."""
    reason = canonical.text(reason)
    try:
        with transaction.atomic():
            user = actors.require(actor, permission)
            within = FRESH + part.age if part else FRESH
            if override and actor.kind == "user" and not actors.fresh(actor, within):
                raise people.ReauthenticationNeeded
            if not reason.strip():
                raise errors.ReasonMissing
            run = Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
            if run is None:
                raise errors.NoSuchRun
            if part:
                part.begin(run)
            if run.ended:
                raise errors.RunEnded
            act(run)
            done = Intervention.objects.create(
                run=run, kind=kind, user=user, label=actor.label, reason=reason
            )
            _update(run, wakes=F("wakes") + 1)
            trail.record(
                verb,
                actor=actor,
                target=("run", str(run_id)),
                run_id=run_id,
                reason=reason,
                data=_of(part),
            )
            if part:
                part.done()
            if override:
                _tell(override, done, permission, actor, part)
            dispatch.ring(run_id, cause=speech.kept(kind.label))
    except (people.AccountsError, errors.RunsError) as refusal:
        with transaction.atomic(durable=True):
            if part:
                part.refuse(refusal)
            trail.record(
                f"run.{kind}_refused",
                actor=actor,
                target=("run", str(run_id)),
                run_id=run_id,
                allowed=False,
                reason=str(refusal),
                data={"given": reason} | _of(part),
            )
        raise
    return Run.objects.get(pk=run_id)


def _of(part: Part | None) -> dict[str, str]:
    return {"operation": part.operation} if part else {}


def _tell(did: str, done: Intervention, permission: str, actor: Actor, part: Part | None) -> None:
    """Others are told once of an operation on many runs, with the address of all of it."""
    overrides.tell(
        overrides.Override(
            key=f"operation {part.operation}" if part else f"intervention {done.pk}",
            did=_many(part.runs) if part else did,
            permission=permission,
            run_id=done.run_id,
            about="" if part else done.run.title,
            actor=actor,
            reason=done.reason,
            url=reverse("runs:operation", args=[part.operation])
            if part
            else reverse("runs:run", args=[done.run_id]),
        )
    )


def _many(runs: int) -> str:
    said = ngettext("forced %(count)s run to resume", "forced %(count)s runs to resume", runs)
    return said % {"count": runs}


def _forgive(run: Run) -> None:
    """Errors and crashes up to now no longer count, and a retry need not wait."""
    fence = Lease.objects.values_list("fence", flat=True).get(pk=run.pk)
    _update(run, forgiven_fence=fence, granted_fence=fence, due_at=None)


def _update(run: Run, **changes: object) -> None:
    Run.objects.filter(pk=run.pk).update(updated_at=Now(), **changes)
