"""Which runs a filter finds, whether few or many meet it; pages by key; what the database asks."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection

from accounts.models import User
from ledger.models import Effect
from runs.listing import finding, search
from runs.listing.filters import Filters
from runs.listing.finding import Place
from runs.models import Run, RunSought
from runs.status import Park, Status
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return person("Ada")


@pytest.fixture(params=["few", "many"])
def either_way(request, monkeypatch) -> None:
    """Searches are answered from their own index, and while walking down the list."""
    if request.param == "many":
        monkeypatch.setattr(finding, "MOST", 0)
        monkeypatch.setattr(finding, "FEW", 0)


def found(user: User, typed: str = "", **asked: object) -> set[str]:
    filters = Filters(search=search.read(typed), **asked)  # type: ignore[arg-type]
    return set(finding.matching(filters, user).values_list("title", flat=True))


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, {"old", "new", "stuck", "parked", "bad"}),
        ({"status": "queued"}, {"old", "new"}),
        ({"status": "stuck"}, {"stuck"}),
        ({"attention": True}, {"stuck", "parked"}),
        ({"agent": "triage"}, {"new"}),
        ({"version": "2.1"}, {"new"}),
        ({"error": "TimeoutError"}, {"bad"}),
        ({"error": "Timeout"}, set()),
        ({"since": timedelta(hours=1)}, {"new", "stuck", "parked"}),
        ({"status": "queued", "since": timedelta(hours=1)}, {"new"}),
    ],
)
def test_filters_narrow_the_list(ada, asked, expected) -> None:
    make.run("old", created_at=make.ago(days=2))
    make.run("new", agent="triage", agent_version="2.1")
    make.stuck("stuck")
    make.parked(Park.CRASH_LOOP, "parked")
    error = "TimeoutError"
    make.run("bad", created_at=make.ago(hours=3), status=Status.FAILED, error_class=error)
    assert found(ada, **asked) == expected


def test_started_and_ended_are_between_two_moments(ada) -> None:
    for days in (1, 2, 3):
        make.run(f"{days}", status=Status.SUCCEEDED, created_at=make.ago(days=days))
    between = {"from": make.ago(days=2, hours=1), "until": make.ago(days=1, hours=1)}
    for what in ("started", "ended"):
        asked: dict[str, object] = {f"{what}_{name}": moment for name, moment in between.items()}
        assert found(ada, "", **asked) == {"2"}
    make.run("goes on")
    assert "goes on" not in found(ada, ended_until=make.soon(days=1))


def test_the_owner_is_who_started_it(ada) -> None:
    make.run("hers", by=ada)
    make.run("of the api")
    assert found(ada, owner=str(ada.pk)) == {"hers"}


def test_a_run_with_an_effect_in_doubt_needs_attention_whatever_its_status(ada) -> None:
    doubtful = make.run("over", status=Status.SUCCEEDED)
    make.run("fine", status=Status.SUCCEEDED)
    key = uuid4().hex
    Effect.objects.create(
        run=doubtful,
        tool="pay",
        idempotency="provider",
        args={},
        status="in_doubt",
        fence=1,
        **dict.fromkeys(("idempotency_key", "provider_key", "args_hash", "step"), key),
    )
    assert found(ada, attention=True) == {"over"}


# --- searching ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("refund", {"Refund order-10366"}),
        ("ORD 103", {"Refund order-10366"}),
        ("refund tickets", set()),
        ("fund", set()),
        ("%", set()),
        ("key-7", {"Close tickets"}),
        ("key:key-7", {"Close tickets"}),
        ("key:key", set()),
        ("order_id:10366", {"Refund order-10366"}),
        ("order_id:1036", set()),
        ("ORDER_ID:10366", set()),
        ("customer.town:DELFT", {"Refund order-10366"}),
        ("lines.sku=b-2", {"Refund order-10366"}),
        ("amount:120.0", {"Refund order-10366"}),
        ("urgent:true", {"Refund order-10366"}),
        ('note:"one, two"', {"Refund order-10366"}),
        ("agent:triage", {"Close tickets"}),
        ("refund order_id:10366 customer.town=delft", {"Refund order-10366"}),
        ("refund order_id:7", set()),
    ],
)
def test_a_search_finds_titles_keys_and_whole_values(ada, typed, expected) -> None:
    given = {
        "order_id": "10366",
        "customer": {"town": "Delft"},
        "lines": [{"sku": "A-1"}, {"sku": "B-2"}],
        "amount": 120,
        "urgent": True,
        "note": "one, two",
    }
    make.run("Refund order-10366", input=given)
    make.run("Close tickets", agent="triage", idempotency_key="key-7", input={"order_id": "7"})
    assert found(ada, typed) == expected


@pytest.mark.usefixtures("either_way")
def test_an_id_is_found_whole_and_by_its_ends(ada) -> None:
    run, _ = make.run("this"), make.run("that")
    whole = str(run.pk)
    for text in (
        whole,
        run.pk.hex.upper(),
        whole[-8:],
        whole[-12:],
        whole[:23],
        f"id:{whole[-8:]}",
    ):
        assert "this" in found(ada, text)
    assert found(ada, whole) == {"this"}
    assert found(ada, whole[-8:]) == {"this"}


def test_what_was_erased_of_an_input_is_found_no_more(ada) -> None:
    run = make.run("Refund", input={"order_id": "10366"})
    Run.objects.filter(pk=run.pk).update(input={}, title="Erased")
    assert found(ada, "order_id:10366") == set()
    assert found(ada, "refund") == set()
    assert found(ada, "erased") == {"Erased"}


@pytest.mark.parametrize("given", [7, "text", [], [1, [2]], {"a": {}}, {"": 1}])
def test_inputs_without_fields_are_stored_as_well(ada, given) -> None:
    make.run("odd", input=given)
    assert found(ada, "odd") == {"odd"}


def test_an_input_of_a_thousand_fields_is_known_by_some_of_them(ada) -> None:
    run = make.run(input={f"field{number}": number for number in range(1000)})
    assert len(RunSought.objects.get(pk=run.pk).leaves) == 600


@pytest.mark.usefixtures("either_way")
def test_nobody_finds_what_they_may_not_see() -> None:
    ben = person("Ben")
    make.run("Refund", input={"order_id": "10366"})
    make.run("Refund of his", by=ben, input={"order_id": "10366"})
    assert found(ben, "refund") == {"Refund of his"}
    assert found(ben, "order_id:10366") == {"Refund of his"}


@pytest.mark.parametrize("typed", ["refund", "order_id:10366", "key:k7", "c0ffee12"])
def test_every_search_has_its_index(ada, typed) -> None:
    sides = finding._sides(search.read(typed))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for ids in (ids for side in sides for ids in side.ids):
            query, params = ids[:10].query.sql_with_params()
            cursor.execute(f"EXPLAIN {query}", params)
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan" not in plan, plan


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def nine() -> list[Run]:
    """Nine runs, newest first, three of them of one moment."""
    moment = make.ago(minutes=30)
    for number in range(6):
        make.run(f"{number}", created_at=make.ago(minutes=number + 40))
    for number in range(3):
        make.run(f"same {number}", created_at=moment)
    return sorted(Run.objects.all(), key=lambda run: (run.created_at, run.pk), reverse=True)


def test_pages_by_key_show_every_run_once_in_both_directions(ada, nine) -> None:
    scope = finding.of(Filters(), ada)
    seen = scope.page(limit=2)
    while more := scope.page(after=Place.of(seen[-1]), limit=2):
        seen += more
    assert seen == nine
    back = [seen[-1]]
    while more := scope.page(before=Place.of(back[0]), limit=2):
        back = more + back
    assert back == nine


def test_a_new_run_does_not_move_the_older_pages(ada, nine) -> None:
    scope = finding.of(Filters(), ada)
    first = scope.page(limit=3)
    make.run("newest")
    assert scope.page(after=Place.of(first[-1]), limit=3) == nine[3:6]


def test_a_place_is_read_as_it_was_written(nine) -> None:
    place = Place.of(nine[0])
    assert Place.read(str(place)) == place
    for nonsense in ("", "~", "2026-11-29", f"{place}x", f"2026-11-29~{nine[0].pk}"):
        assert Place.read(nonsense) is None


def test_others_are_counted_down_to_the_last_one_shown(ada, nine) -> None:
    scope = finding.of(Filters(), ada)
    assert scope.others(nine[:3], down_to=Place.of(nine[2]), most=99) == 0
    make.run("newest", created_at=make.ago(seconds=1))
    assert scope.others(nine[:3], down_to=Place.of(nine[2]), most=99) == 1
    assert scope.others(nine[:3], down_to=None, most=99) == 7
    assert scope.others([], down_to=None, most=5) == 5
