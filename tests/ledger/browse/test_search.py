"""Which effects a filter finds, whether few or many meet it, and what nobody is told that way."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import clock
from accounts.models import User
from approvals.models import Decision, Request, Vote
from ledger.browse import conditions, search
from ledger.browse.filters import Filters, Role
from ledger.browse.listing import Listing, Place
from ledger.models import Effect, Incident, Number, Sought
from runs.models import Run
from tests.ledger.conftest import make_run
from tests.ledger.rows import call, effect
from tests.support.people import person


@pytest.fixture
def ada(db: None) -> User:
    return person("Ada")


@pytest.fixture(params=["few", "many"])
def either_way(request, monkeypatch) -> None:
    """Filters are answered from their own index, and while walking down the list."""
    if request.param == "many":
        monkeypatch.setattr(search, "MOST", 0)


def found(user: User, **asked: object) -> list[str]:
    effects = Listing.of(Filters(**asked), user).page()
    return [str(one.args.get("n", "")) for one in effects]


def where(text: str) -> tuple[conditions.Condition, ...]:
    return conditions.read(text)


def allowed(one: Effect, *people: User) -> Decision:
    """Let an effect rest on a decision that these people approved."""
    asked = Request.objects.create(
        run=one.run,
        interrupt_id="i",
        checkpoint_id="c",
        fence=1,
        askers=[],
        shape="ours",
        payload={"title": "Refund order 10382"},
        digest="d" * 64,
        title="Refund order 10382",
        tool=one.tool,
        args_hash=one.args_hash,
        policy={},
        status="approved",
        deadline=clock.now() + timedelta(hours=1),
        closed_at=clock.now(),
    )
    for number, each in enumerate(people):
        Vote.objects.create(
            request=asked,
            user=each,
            verdict="approved",
            digest=asked.digest,
            token=uuid4().hex,
            missing=len(people) - number - 1,
            entry="page",
        )
    decision = Decision.objects.create(
        request=asked,
        verdict="approved",
        decided_by=people[-1],
        decider=people[-1].label,
        digest=asked.digest,
        args_hash=one.args_hash,
        answer=True,
    )
    Effect.objects.filter(pk=one.pk).update(permit=decision.pk)
    return decision


@pytest.mark.usefixtures("either_way")
def test_every_filter_finds_what_it_names(ada):
    ben, bea = person("Ben"), person("Bea")
    mine = make_run("refund_desk")
    Run.objects.filter(pk=mine.pk).update(started_by=ada)
    big = effect(mine, args={"n": 1, "amount_cents": 60000, "lines": [{"sku": "A-1"}]})
    small = effect(args={"n": 2, "amount_cents": 500}, status="failed", tool="mail.send")
    hand = effect(args={"n": 3}, settled_by="Ada", provider_ref="re_3")
    twice = effect(args={"n": 4}, provider_key="other#2")
    call(twice, provider_ref="re_second")
    allowed(big, bea, ben)
    Incident.objects.create(kind="duplicate", run=twice.run, effect=twice)

    assert found(ada) == ["4", "3", "2", "1"]
    assert found(ada, status="failed", tool="mail.send") == ["2"]
    assert found(ada, agent="refund_desk") == ["1"]
    assert found(ada, run_id=mine.pk) == ["1"]
    assert found(ada, settled_by_hand=True) == ["3"]
    assert found(ada, incident=True) == ["4"]
    assert found(ada, person="Ada", role=Role.STARTED) == ["1"]
    assert found(ada, person="Ada", role=Role.SETTLED) == ["3"]
    assert found(ada, person="ada@example.com") == ["3", "1"]
    assert found(ada, person="Bea", role=Role.ALLOWED) == found(ada, person="ben@EXAMPLE.com")
    assert found(ada, person="Ben", role=Role.ALLOWED) == ["1"]
    assert found(ada, person="Nobody") == []
    assert found(ada, conditions=where("amount_cents >= 501")) == ["1"]
    assert found(ada, conditions=where("amount_cents >= 500, amount_cents <= 501")) == ["2"]
    assert found(ada, conditions=where("amount_cents = 500")) == ["2"]
    assert found(ada, conditions=where("lines.sku = A-1")) == ["1"]
    assert found(ada, conditions=where("n = 3, amount_cents >= 1")) == []
    assert found(ada, conditions=where("order_id = A-1")) == []
    assert found(ada, conditions=where("n = 1, amount_cents <= 501")) == []
    assert found(ada, key=small.idempotency_key) == ["2"]
    assert found(ada, key=f"{small.idempotency_key}#3") == ["2"]
    assert found(ada, reference="re_3") == ["3"]
    assert found(ada, reference="re_second") == ["4"]
    assert found(ada, reference="re_") == []
    assert found(ada, text="re_") == ["3"]
    assert found(ada, text="MAIL") == ["2"]
    assert found(ada, text="a-1 60000") == ["1"]
    assert found(ada, text="a-1 60001") == []
    assert found(ada, text=str(hand.uid)) == ["3"]
    assert found(ada, since=big.created_at, until=hand.created_at) == ["2", "1"]
    assert found(ada, until=big.created_at) == []
    assert found(ada, text="60000", tool="mail.send") == []


def test_an_order_number_in_the_input_alone_finds_all_effects_of_the_run(ada):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(input={"order": {"id": 10382.50}}, title="(Order) 77")
    effect(run, args={"n": 1})
    effect(args={"n": 2})
    assert found(ada, text="10382.5") == ["1"]
    assert found(ada, text="10382.50") == ["1"]
    assert found(ada, text="order 77") == ["1"]
    Run.objects.filter(pk=run.pk).update(input={}, title="Something else")
    assert found(ada, text="10382.5") == found(ada, text="order 77") == []


def test_what_becomes_of_arguments_becomes_of_what_finds_them(ada):
    one = effect(args={"n": 1, "a": {"b": [2.5, 2.5]}, "card": 4242424242424242})
    known = set(Number.objects.values_list("path", "value"))
    assert known == {("n", Decimal(1)), ("a.b", Decimal("2.5"))}
    Effect.objects.filter(pk=one.pk).update(args={"erased": True})
    assert not Number.objects.exists()
    assert "2.5" not in Sought.objects.get().words
    Effect.objects.filter(pk=one.pk).update(args={"n": 1e300, "m": 10**12, "text": "x" * 500})
    assert not Number.objects.exists()
    assert all(len(word) <= 200 for word in Sought.objects.get().words)


def test_an_effect_is_kept_whatever_its_arguments_look_like():
    deep: object = 7
    for _ in range(60):
        deep = {"k" * 50: [deep]}
    one = effect(args={"deep": deep, "": 1, "many": list(range(2000)), "t": "\u202e'\"{}\\"})
    assert Effect.objects.get(pk=one.pk).args["deep"] == deep
    assert Number.objects.filter(effect=one).count() <= 500


def test_who_pages_misses_nothing_and_sees_nothing_twice_whatever_happens_meanwhile(ada):
    made = [effect(args={"n": n}) for n in range(6)]
    Effect.objects.update(created_at=clock.now())  # all at one moment
    effects = Listing.of(Filters(), ada)
    first = effects.page(limit=2)
    Effect.objects.filter(pk=made[0].pk).update(status="failed", updated_at=clock.now())
    effect(args={"n": 6})
    second = effects.page(after=Place.of(first[-1]), limit=2)
    third = effects.page(after=Place.of(second[-1]), limit=9)
    assert [one.args["n"] for one in (*first, *second, *third)] == [5, 4, 3, 2, 1, 0]
    assert effects.newer_than(Place.of(first[0]), most=9) == 1


def test_counts_end_where_counting_would_take_long(ada, monkeypatch):
    for n in range(4):
        effect(args={"n": n})
    monkeypatch.setattr(search, "MOST", 3)
    monkeypatch.setattr("ledger.browse.listing.MOST", 3)
    assert str(Listing.of(Filters(), ada).counts()["sent"]) == "3+"
    assert str(Listing.of(Filters(text="3"), ada).counts()["sent"]) == "1"


@pytest.mark.parametrize(
    "way", ["looked up", "among the effects of their runs", "walking", "seeing many"]
)
def test_effects_of_runs_that_somebody_may_not_see_are_not_found(db, monkeypatch, way):
    """However many runs somebody may see, and however many effects meet the filters."""
    if way != "looked up":
        monkeypatch.setattr(search, "MOST", 0)
        monkeypatch.setattr(search, "FEWER", 0)
        monkeypatch.setattr(search, "FEW", 0 if way == "seeing many" else 10)
        monkeypatch.setattr(search, "PAGE", 0 if way == "walking" else 10**9)
    ben = person("Ben")
    one, other = effect(args={"n": 1}), effect(args={"n": 1})
    assert found(ben, text="1") == found(ben, conditions=where("n >= 1")) == found(ben) == []
    assert not Listing.of(Filters(text="1"), ben).count()
    Run.objects.filter(pk=one.run_id).update(started_by=ben)
    for asked in ({}, {"text": "1"}, {"conditions": where("n >= 1")}, {"agent": other.agent}):
        page = Listing.of(Filters(**asked), ben).page()
        assert [each.pk for each in page] == [one.pk], asked


def test_a_search_asks_a_constant_number_of_questions(ada):
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as log:
            everything = Listing.of(Filters(text="10382", person="Ada", incident=True), ada)
            everything.page()
            everything.counts()
        return len(log)

    asked()  # what somebody may do is asked once
    few = asked()
    for n in range(12):
        allowed(effect(args={"order": "10382", "n": n}), ada)
    assert asked() == few
