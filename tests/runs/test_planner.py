"""Conditions that say the same as the plain ones, and leave the planner one way to answer them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from runs import planner
from runs.models import Lease, Run
from tests.support import standing as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    planner.forget()
    yield
    planner.forget()


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
@pytest.mark.parametrize("compared", [planner.among, planner.within])
def test_rows_are_found_by_their_ids_and_no_others(runs, count, compared) -> None:
    ids = [run.pk for run in runs[:count]]
    found = Run.objects.filter(compared("id", planner.Ids.of([*ids, uuid4()])))
    assert set(found) == set(runs[:count])
    assert Lease.objects.filter(compared("run_id", planner.Ids.of(ids))).count() == count


@pytest.mark.parametrize(
    ("most", "number"), [(4, 4), (3, None), (0, None)], ids=["all", "one too many", "none"]
)
def test_ids_are_found_once_by_whichever_query(
    runs, most, number, django_assert_num_queries
) -> None:
    first = Run.objects.filter(pk__in=[run.pk for run in runs[:3]]).values_list("pk", flat=True)
    nothing = Run.objects.filter(pk__in=()).values_list("pk", flat=True)
    leases = Lease.objects.filter(run__in=runs[1:4]).values_list("run_id", flat=True)
    with django_assert_num_queries(1):
        found = planner.Ids.found([first, nothing, leases], most=most)
    assert (found and found.number) == number
    if found:
        assert set(Run.objects.filter(planner.among("id", found))) == set(runs[:4])


def test_what_was_found_to_be_many_is_believed_for_a_minute(
    runs, monkeypatch, django_assert_num_queries
) -> None:
    every = Run.objects.filter(title__startswith="Run").values_list("pk", flat=True)
    assert planner.Ids.found([every], most=4) is None
    with django_assert_num_queries(0):
        assert planner.Ids.found([every], most=4) is None
    with django_assert_num_queries(1):
        assert planner.Ids.found([every], most=5) is not None
    Run.objects.filter(pk=runs[0].pk).update(title="Another")
    assert planner.Ids.found([every], most=4) is None
    at = time.monotonic() + planner.REMEMBERED
    monkeypatch.setattr(time, "monotonic", lambda: at)
    found = planner.Ids.found([every], most=4)
    assert found is not None
    assert found.number == 4


@pytest.mark.parametrize("most", [0, 5])
def test_no_ids_are_found_where_nothing_can_be(runs, most) -> None:
    nobody = Run.objects.filter(title="x").values_list("pk", flat=True)
    for queries in ([], [nobody], [Run.objects.none().values_list("pk", flat=True)]):
        assert planner.Ids.found(queries, most=most) == planner.Ids(0, "{}")


def test_what_is_expected_is_what_statistics_say(runs) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run")
    assert planner.expected(Run.objects.all()) == len(runs)
    assert planner.expected(Run.objects.filter(title="Run 1")) == 1
