"""Conditions that say the same as the plain ones, and leave the planner one way to answer them."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from runs import planner
from runs.models import Lease, Run
from tests.support import standing as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> list[Run]:
    """Some, of which the first two have a lease that says so."""
    made = [make.run(f"Run {number}") for number in range(5)]
    Lease.objects.filter(run__in=made[:2]).update(progress_note="here")
    return made


def test_beside_finds_what_an_equation_finds(runs) -> None:
    noted = Lease.objects.filter(progress_note="here")
    found = Run.objects.filter(planner.beside(noted, run="pk"))
    assert set(found) == set(Run.objects.filter(Exists(noted.filter(run=OuterRef("pk")))))
    assert set(found) == set(runs[:2])


def test_beside_makes_no_set_of_all_rows_first(runs) -> None:
    """In an alternative, where the planner may make a set of what an equation asks for."""
    Lease.objects.update(progress_note="here")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    noted = Lease.objects.filter(progress_note="here")
    equal = Run.objects.filter(Q(title="x") | Q(Exists(noted.filter(run=OuterRef("pk")))))
    beside = Run.objects.filter(Q(title="x") | Q(planner.beside(noted, run="pk")))
    assert "hashed SubPlan" in equal.explain()
    assert "hashed SubPlan" not in beside.explain()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_among_finds_the_ids_and_no_others(runs, count) -> None:
    ids = [run.pk for run in runs[:count]]
    assert set(Run.objects.filter(planner.among("id", [*ids, uuid4()]))) == set(runs[:count])
    assert Lease.objects.filter(planner.among("run_id", ids)).count() == count


def test_what_is_expected_is_what_statistics_say(runs) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run")
    assert planner.expected(Run.objects.all()) == len(runs)
    assert planner.expected(Run.objects.filter(title="Run 1")) == 1
