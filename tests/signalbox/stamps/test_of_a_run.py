"""A page of one run is made anew for whatever belongs to it."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection, transaction

from approvals.models import (
    Withdrawal,
)
from runs import statements
from runs.models import Attempt, Run
from runs.status import Status
from signalbox import stamps
from tests.support import changes
from tests.support import standing as make

UNTOLD = {
    "approvals_opening": "who read a request stands on the page of the request",
    "approvals_notice": "what is sent to people stands on their pages",
    "ledger_sought": "written with its effect, for searches",
    "ledger_number": "written with its effect, for searches",
    "runs_runsought": "written with its run, for searches",
    "checkpoint_blobs": "written with the checkpoint that needs them",
}
"""Tables that belong to runs and change no page of one."""


@pytest.mark.django_db
@pytest.mark.parametrize("change", changes.CHANGES, ids=lambda change: change.__name__)
def test_whatever_belongs_to_a_run_changes_its_stamp(run: Run, change) -> None:
    before = changes.stamp(run)
    assert changes.stamp(run) == before
    with transaction.atomic():
        change(run)
    assert changes.stamp(run) != before


@pytest.mark.django_db
def test_a_withdrawal_changes_it_besides_its_mishap(run: Run) -> None:
    said = changes.mishap(run)
    before = changes.stamp(run)
    Withdrawal.objects.create(mishap=said, reason="So", by=said.by, by_label="Ben")
    assert changes.stamp(run) != before


@pytest.mark.django_db
def test_a_queued_run_follows_the_leases_of_others(run: Run) -> None:
    """It says that all workers have their hands full."""
    other = changes.busy()
    before = changes.stamp(run)
    make.lease(other, holder="w", expires_at=make.soon(minutes=1))
    assert changes.stamp(run) == before
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED)
    before = changes.stamp(run)
    make.lease(other, holder="", expires_at=None)
    assert changes.stamp(run) != before


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_began_earlier_and_ends_later_changes_it() -> None:
    """Its number is lower than the newest, which would hide it."""
    run = changes.busy()
    make.attempt(run, 2, outcome="lost")
    update = "UPDATE runs_attempt SET detail = 'Slow' WHERE run_id = %s AND fence = 2"
    with psycopg.connect(**connection.get_connection_params()) as slow:
        slow.execute(update, [run.pk])
        Attempt.objects.filter(run=run, fence=1).update(detail="Quick")
        before = changes.stamp(run)
        slow.commit()
    assert changes.stamp(run) != before


@pytest.mark.django_db(transaction=True)
def test_changes_whose_transactions_have_the_same_sum_change_it() -> None:
    """One of a row that a later transaction had written, and as far back another goes ahead."""
    run = changes.busy()
    for fence in (2, 3):
        make.attempt(run, fence, outcome="lost")
    while True:  # again where another process took a number in between
        with psycopg.connect(**connection.get_connection_params()) as slow:
            ((first,),) = slow.execute("SELECT pg_current_xact_id()::text::bigint").fetchall()
            for fence in (2, 3):
                Attempt.objects.filter(run=run, fence=fence).update(detail="Quick")
            sums, before = xmins(run), changes.stamp(run)
            slow.execute(
                "UPDATE runs_attempt SET detail = 'Slow' WHERE run_id = %s AND fence = 2", [run.pk]
            )
        Attempt.objects.filter(run=run, fence=3).update(detail="Ahead")
        assert first in xmins(run)
        if sum(sums) == sum(xmins(run)):
            break
    assert changes.stamp(run) != before


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
