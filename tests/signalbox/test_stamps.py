"""Stamps: a page of one run is made anew for whatever belongs to it, and for nothing of another."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from accounts.actors import Actor
from accounts.models import User
from approvals.models import (
    Claim,
    Decision,
    Delegation,
    Firing,
    Mishap,
    PolicyVersion,
    Request,
    Vote,
    Withdrawal,
)
from audit import trail
from ledger.models import (
    Drift,
    Effect,
    EffectAttempt,
    HookEvent,
    Incident,
    Look,
    Message,
    Stop,
    UndoPlan,
)
from runs import statements
from runs.fleet import health
from runs.models import Attempt, Erasure, Intervention, Lease, Operation, OperationItem, Run
from runs.status import Status
from signalbox import stamps
from tests.support import scenes
from tests.support import standing as make
from tests.support.people import person

UNTOLD = {
    "approvals_opening": "who read a request stands on the page of the request",
    "approvals_notice": "what is sent to people stands on their pages",
    "ledger_sought": "written with its effect, for searches",
    "ledger_number": "written with its effect, for searches",
    "runs_runsought": "written with its run, for searches",
    "checkpoint_blobs": "written with the checkpoint that needs them",
}
"""Tables that belong to runs and change no page of one."""


@pytest.fixture(autouse=True)
def read_anew(monkeypatch) -> None:
    monkeypatch.setattr(stamps, "FRESH", 0)


@pytest.fixture
def run() -> Run:
    """One that has asked and done something."""
    return busy()


def busy() -> Run:
    clock, made = scenes.Clock(hours=1), make.run(status=Status.WAITING)
    scenes.question(made, clock, "t", 5)
    scenes.effect(made, clock, "t", [(1, 2, "succeeded")])
    make.attempt(made)
    make.checkpoint(made, 0, at=clock.at(1))
    return made


def of(run: Run) -> str:
    return stamps.of(f"/runs/{run.pk}/")


def request(run: Run) -> Request:
    return Request.objects.get(run=run)


def effect(run: Run) -> Effect:
    return Effect.objects.get(run=run)


# --- what belongs to a run ------------------------------------------------------------------------


def status(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED)


def beat(run: Run) -> None:
    Lease.objects.filter(pk=run.pk).update(renewed_at=make.ago(seconds=1))


def told(run: Run) -> None:
    target = ("run", str(run.pk))
    trail.record("run.retried", actor=Actor.system("test"), target=target, run_id=run.pk)


def checkpoint(run: Run) -> None:
    make.checkpoint(run, 1, at=make.ago(seconds=1))


def checkpoint_write(run: Run) -> None:
    make.write(run, "1f000000-0000-6000-8000-000000000000", "task", "~__pregel_pull, pay")


def attempt(run: Run) -> None:
    Attempt.objects.filter(run=run).update(detail="Another")


def intervention(run: Run) -> None:
    ada = person("Ada")
    Intervention.objects.create(run=run, kind="retry", user=ada, label="Ada", reason="So")


def erasure(run: Run) -> None:
    Erasure.objects.create(run=run, kind="payloads", rows=1, bytes=1)


def operation(run: Run) -> None:
    ordered = Operation.objects.create(kind="cancel", reason="So", asked_by=person("Ada"))
    OperationItem.objects.create(operation=ordered, run=run, position=1, footing="")


def effect_settled(run: Run) -> None:
    Effect.objects.filter(run=run).update(status="in_doubt")


def call(run: Run) -> None:
    EffectAttempt.objects.filter(effect__run=run).update(outcome="unknown")


def webhook(run: Run) -> None:
    HookEvent.objects.create(provider="p", event="e", kind="k", heard="known", effect=effect(run))


def look(run: Run) -> None:
    Look.objects.create(
        effect=effect(run), provider_key="k", attempt=1, answer="found", counts=True
    )


def incident(run: Run) -> None:
    Incident.objects.create(kind="duplicate", run=run, effect=effect(run))


def drift(run: Run) -> None:
    step = {"step": "pay@t", "tool": "payments.refund", "key": "k", "args": {}, "args_hash": "h"}
    before = {"before": effect(run), "fence_before": 1, "fence": 2, "stopped": True}
    Drift.objects.create(run=run, **step, **before)


def message(run: Run) -> None:
    Message.objects.create(destination="d", payload={}, dedupe="k", run=run)


def undo(run: Run) -> None:
    UndoPlan.objects.create(run=run, effects=[], reason="So", asked_by="Ada")


def question(run: Run) -> None:
    Request.objects.filter(run=run).update(groups=["finance", "legal"])


def claim(run: Run) -> None:
    times = {"at": make.ago(seconds=1), "expires_at": make.soon(minutes=1)}
    Claim.objects.create(request=request(run), user=person("Ben"), **times)


def vote(run: Run) -> None:
    ben = person("Ben")
    Vote.objects.create(request=request(run), user=ben, verdict="approved", missing=1)


def decision(run: Run) -> None:
    Decision.objects.create(request=request(run), verdict="approved", decider="Ben", answer={})


def escalation(run: Run) -> None:
    Firing.objects.create(request=request(run), kind="escalation")


def mishap(run: Run) -> Mishap:
    ben = person("Ben")
    return Mishap.objects.create(
        request=request(run), severity="minor", note="So", by=ben, by_label="Ben", token="t"
    )


def withdrawal(run: Run) -> None:
    said = mishap(run)
    with transaction.atomic():
        Withdrawal.objects.create(mishap=said, reason="So", by=said.by, by_label="Ben")


def deadline(run: Run) -> None:
    """It passes: nothing is written then."""
    Request.objects.filter(run=run).update(deadline=make.ago(seconds=1))


CHANGES: tuple[Callable[[Run], object], ...] = (
    *(status, beat, told, checkpoint, checkpoint_write, attempt, intervention, erasure),
    *(operation, effect_settled, call, webhook, look, incident, drift, message, undo),
    *(question, claim, vote, decision, escalation, mishap, withdrawal, deadline),
)


@pytest.mark.django_db
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_whatever_belongs_to_a_run_changes_its_stamp(run: Run, change) -> None:
    before = of(run)
    assert of(run) == before
    with transaction.atomic():
        change(run)
    assert of(run) != before


@pytest.mark.django_db
def test_a_withdrawal_changes_it_besides_its_mishap(run: Run) -> None:
    said = mishap(run)
    before = of(run)
    Withdrawal.objects.create(mishap=said, reason="So", by=said.by, by_label="Ben")
    assert of(run) != before


@pytest.mark.django_db
def test_a_queued_run_follows_the_leases_of_others(run: Run) -> None:
    """It says that all workers have their hands full."""
    other = busy()
    before = of(run)
    make.lease(other, holder="w", expires_at=make.soon(minutes=1))
    assert of(run) == before
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED)
    before = of(run)
    make.lease(other, holder="", expires_at=None)
    assert of(run) != before


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_began_earlier_and_ends_later_changes_it() -> None:
    """Its number is lower than the newest, which would hide it."""
    run = busy()
    make.attempt(run, 2, outcome="lost")
    update = "UPDATE runs_attempt SET detail = 'Slow' WHERE run_id = %s AND fence = 2"
    with psycopg.connect(**connection.get_connection_params()) as slow:
        slow.execute(update, [run.pk])
        Attempt.objects.filter(run=run, fence=1).update(detail="Quick")
        before = of(run)
        slow.commit()
    assert of(run) != before


@pytest.mark.django_db(transaction=True)
def test_changes_whose_transactions_have_the_same_sum_change_it() -> None:
    """One of a row that a later transaction had written, and as far back another goes ahead."""
    run = busy()
    for fence in (2, 3):
        make.attempt(run, fence, outcome="lost")
    while True:  # again where another process took a number in between
        with psycopg.connect(**connection.get_connection_params()) as slow:
            ((first,),) = slow.execute("SELECT pg_current_xact_id()::text::bigint").fetchall()
            for fence in (2, 3):
                Attempt.objects.filter(run=run, fence=fence).update(detail="Quick")
            sums, before = xmins(run), of(run)
            slow.execute(
                "UPDATE runs_attempt SET detail = 'Slow' WHERE run_id = %s AND fence = 2", [run.pk]
            )
        Attempt.objects.filter(run=run, fence=3).update(detail="Ahead")
        assert first in xmins(run)
        if sum(sums) == sum(xmins(run)):
            break
    assert of(run) != before


def xmins(run: Run) -> list[int]:
    with connection.cursor() as cursor:
        ask = "SELECT xmin::text::bigint FROM runs_attempt WHERE run_id = %s"
        cursor.execute(ask, [run.pk])
        return [number for (number,) in cursor.fetchall()]


def test_every_table_that_belongs_to_runs_is_looked_at() -> None:
    """A new one: into the statement, or above with the reason why no page of a run changes."""
    told = statements.read("signalbox", "stamp_of_run")
    looked = {table for table in stamps.of_runs() if f"FROM {table} " in told}
    assert looked == stamps.of_runs() - UNTOLD.keys()


# --- what belongs to another, or to none ----------------------------------------------------------


def flush() -> None:
    """PostgreSQL counts at once what this connection has written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")


NEW_PEOPLE = (operation, intervention, claim, vote, mishap, withdrawal)
"""These write people, too, who belong to no run."""


@pytest.mark.django_db(transaction=True)
def test_nothing_that_belongs_to_another_run_changes_it() -> None:
    run, other, ben = busy(), busy(), person("Ben")
    flush()
    before, lists = of(run), stamps.of("/runs/")
    for change in CHANGES:
        if change not in NEW_PEOPLE:
            change(other)
    Vote.objects.create(request=request(other), user=ben, verdict="approved", missing=1)
    flush()
    assert stamps.of("/runs/") != lists
    assert of(run) == before


def joins(ben: User) -> None:
    ben.groups.add(Group.objects.get_or_create(name="finance")[0])


def policy(ben: User) -> None:
    PolicyVersion.objects.create(number=7, policies=[], by=ben, reason="So", at=make.ago(days=1))


def stop(ben: User) -> None:
    Stop.objects.create(scope="everything", reason="So", set_by="Ben")


def delegation(ben: User) -> None:
    times = {"starts_at": make.ago(days=1), "ends_at": make.soon(days=1)}
    made = {"absent": ben, "stand_in": person("Gus"), "made_by": ben, "agents": ["*"]}
    Delegation.objects.create(reason="Away", **made, **times)


def retired(ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_active=False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [joins, policy, stop, delegation, retired])
def test_what_belongs_to_no_run_changes_every_stamp(change: Callable[[User], None]) -> None:
    run, ben = busy(), person("Ben")
    flush()
    paths = (f"/runs/{run.pk}/", *stamps.ALL_RUNS, *stamps.ASKED, "/ledger/")
    before = [stamps.of(path) for path in paths]
    change(ben)
    flush()
    assert not set(before) & {stamps.of(path) for path in paths}


# --- what is asked of people ----------------------------------------------------------------------


def cancelled(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(cancel_asked_at=make.ago(seconds=1))


def opened(run: Run) -> None:
    target = ("request", str(request(run).pk))
    trail.record("request.opened", actor=Actor.system("test"), target=target, run_id=run.pk)


@pytest.mark.django_db(transaction=True)
def test_what_is_asked_of_people_follows_requests_and_not_the_work_of_runs() -> None:
    run = busy()
    flush()
    stamp = stamps.of("/approvals/")
    for change in (status, beat, told, checkpoint, checkpoint_write, attempt, effect_settled, call):
        change(run)
    flush()
    assert stamps.of("/approvals/") == stamp
    for change in (opened, question, decision, escalation, cancelled, claim):
        before = stamps.of("/approvals/")
        change(run)
        flush()
        assert stamps.of("/approvals/") != before, change.__name__


# --- what comes with time alone -------------------------------------------------------------------


LISTS = (*stamps.ALL_RUNS, *stamps.ASKED)


def a_deadline_passes(asked: Request, soon: datetime) -> None:
    Request.objects.update(deadline=soon)


def somebody_goes_away(asked: Request, soon: datetime) -> None:
    delegated(starts_at=soon, ends_at=make.soon(days=1))


def somebody_is_back(asked: Request, soon: datetime) -> None:
    delegated(starts_at=make.ago(days=1), ends_at=soon)


def somebody_looks_no_more(asked: Request, soon: datetime) -> None:
    Claim.objects.create(request=asked, user=person("Gus"), at=make.ago(hours=1), expires_at=soon)


def delegated(**times: datetime) -> None:
    absent, stand_in = person("Ben"), person("Gus")
    Delegation.objects.create(
        absent=absent, stand_in=stand_in, made_by=absent, agents=["*"], reason="Away", **times
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "sets",
    [a_deadline_passes, somebody_goes_away, somebody_is_back, somebody_looks_no_more],
    ids=lambda sets: sets.__name__,
)
def test_what_comes_with_time_alone_changes_what_lists_it(sets) -> None:
    waits = make.run(status=Status.WAITING)
    asked = scenes.question(waits, scenes.Clock(hours=1), "t", 0)
    Request.objects.update(created_at=make.ago(days=9))  # so its deadline is near already
    sets(asked, make.soon(seconds=2))
    flush()
    before = [stamps.of(path) for path in LISTS]
    late = time.monotonic() + 20
    while set(before) & {stamps.of(path) for path in LISTS}:
        assert time.monotonic() < late


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("since", [timedelta(0), health.LONG], ids=["due", "late"])
def test_that_a_run_is_due_and_that_it_waits_for_long_changes_the_overview(since) -> None:
    run = make.run(status=Status.QUEUED)
    soon = make.soon(seconds=2) - since
    Run.objects.filter(pk=run.pk).update(due_at=soon, updated_at=soon)
    flush()
    before, late = stamps.of("/"), time.monotonic() + 20
    while before == stamps.of("/"):
        assert time.monotonic() < late
