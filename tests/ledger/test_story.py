"""What the pages of a run tell about its effects."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from ledger.models import Effect, EffectAttempt, Stop
from ledger.status import Outcome, Status
from ledger.story import Story
from runs.models import Run
from runs.status import OVERLAYS, Park
from runs.story import Notice, Phrase
from tests.support import standing as make
from tests.support.people import person

STORY = Story()


def noticed(run: Run, user: User) -> Notice:
    notice = STORY.notice(run, user)
    assert notice is not None
    return notice


def words(phrase: Phrase) -> str:
    return "".join("<time>" if piece.at else piece.text for piece in phrase)


def effect(
    run: Run, status: str = Status.SENT, tool: str = "payments.refund", **fields: Any
) -> Effect:
    key = uuid4().hex
    usual: dict[str, Any] = {
        "idempotency": "provider",
        "args": {},
        "args_hash": key,
        "fence": 1,
        "attempts": 1,
    }
    usual |= {"idempotency_key": key, "provider_key": key, "step": f"node@{key}"}
    return Effect.objects.create(run=run, tool=tool, status=status, **usual | fields)


def call(effect: Effect, outcome: str = Outcome.SUCCEEDED, **fields: Any) -> EffectAttempt:
    usual: dict[str, Any] = {"number": 1, "provider_key": "k", "fence": 1, "holder": make.HOLDER}
    usual |= {"started_at": make.ago(seconds=30), "timeout_at": make.ago(seconds=10)}
    if outcome != Outcome.OPEN:
        usual["ended_at"] = make.ago(seconds=29)
    return EffectAttempt.objects.create(effect=effect, outcome=outcome, **usual | fields)


@pytest.fixture
def operator() -> User:
    return person("Ada")


def test_effects_are_counted_and_listed_newest_first(operator) -> None:
    run = make.run()
    effect(run, created_at=make.ago(minutes=5), provider_ref="re_1")
    call(effect(run, Status.PENDING, "mail.send"), Outcome.OPEN)
    assert STORY.count(run.pk, operator) == 2
    items = STORY.items(run.pk, operator)
    assert [(item.title, item.state.label) for item in items] == [
        ("mail.send", "Calling"),
        ("payments.refund", "Done"),
    ]
    assert items[1].detail == "re_1"


def test_what_an_ended_run_never_performed_is_no_longer_pending(operator) -> None:
    run = make.run(status="cancelled", ended_at=make.ago(minutes=1))
    effect(run, Status.PENDING, "never.called")
    call(effect(run, Status.PENDING, "refused.for_now"), Outcome.RETRYABLE)
    call(effect(run, Status.PENDING, "unheard.of"), Outcome.UNKNOWN)
    call(effect(run, Status.PENDING, "on.its_way"), Outcome.OPEN)
    assert {item.title: item.state.label for item in STORY.items(run.pk, operator)} == {
        "never.called": "Not performed",
        "refused.for_now": "Not performed",
        "unheard.of": "Pending",  # until the sweeper puts it in doubt
        "on.its_way": "Calling",
    }


def test_each_call_is_an_event_and_so_is_settling_by_hand(operator) -> None:
    run = make.run()
    made = effect(run, Status.CONFIRMED, settled_by="Ada", settled_at=make.ago(seconds=1))
    call(made, Outcome.UNKNOWN, error="ReadTimeout")
    called, settled = STORY.events(run.pk, operator, since=make.ago(hours=1), until=None)
    assert (called.text, called.state.label, words(called.note)) == (
        "payments.refund",
        "Done, known later",
        "ReadTimeout",
    )
    assert called.length == pytest.approx(timedelta(seconds=1), abs=timedelta(milliseconds=50))
    assert settled.text == "payments.refund: done, says Ada"
    assert STORY.events(run.pk, operator, since=make.ago(hours=2), until=make.ago(hours=1)) == []


def test_an_effect_in_doubt_asks_to_be_settled_by_who_may(operator) -> None:
    run = make.parked(Park.EFFECT_IN_DOUBT)
    made = effect(run, Status.IN_DOUBT)
    notice = noticed(run, operator)
    assert (notice.tone, notice.action) == ("warn", "Settle the effect")
    assert notice.url.endswith(f"/ledger/{made.uid}/")
    assert "payments.refund" in words(notice.text)
    assert noticed(run, person("Cy")).action == "See the effect"


def test_a_stop_that_keeps_a_run_parked_is_named(operator) -> None:
    run = make.parked(Park.EMERGENCY_STOP)
    Stop.objects.create(scope="agent", name=run.agent, reason="Double charges.", set_by="Ada")
    notice = noticed(run, operator)
    assert "set by Ada: Double charges. When" in words(notice.text)
    assert notice.url.endswith("/ledger/stops/")


def test_a_run_without_doubt_or_stop_has_no_notice(operator) -> None:
    run = make.run()
    effect(run)
    assert STORY.notice(run, operator) is None


def test_how_much_was_done_is_a_fact_before_acting() -> None:
    run = make.run()
    effect(run)
    effect(run, Status.CONFIRMED)
    assert [(fact.label, fact.value) for fact in STORY.facts(run.pk)] == [("Effects done", "2")]


def test_what_makes_a_takeover_unsafe_is_a_fact_before_acting() -> None:
    run = make.running()
    effect(run, Status.IN_DOUBT)
    call(effect(run, Status.PENDING, tool="crm.note"), Outcome.OPEN)
    facts = {fact.label: fact.value for fact in STORY.facts(run.pk)}
    assert facts["Calls under way"] == "1: crm.note"
    assert facts["Effects in doubt"] == "1 in doubt"


@pytest.mark.parametrize(("ends", "states"), [(False, ["settle"]), (True, ["doubt_stays"])])
def test_what_is_ahead_of_a_run_depends_on_whether_it_goes_on(operator, ends, states) -> None:
    run = make.run()
    effect(run, Status.IN_DOUBT)
    about = STORY.ahead(run, operator, ends=ends)
    assert [touch.state.value for touch in about.touches] == states


def test_a_list_says_how_many_effects_there_are_or_which_is_in_doubt(operator) -> None:
    one, two, doubtful, none = (make.run(str(n)) for n in range(4))
    effect(one)
    effect(two)
    effect(two)
    effect(doubtful, tool="mail.send")
    effect(doubtful, Status.IN_DOUBT)
    remarks = STORY.remarks([one.pk, two.pk, doubtful.pk, none.pk], operator)
    assert {key: words(remark.reason) for key, remark in remarks.items()} == {
        one.pk: "1 effect",
        two.pk: "2 effects",
        doubtful.pk: "payments.refund: nobody heard how the call ended",
    }
    assert remarks[doubtful.pk].state == OVERLAYS["in_doubt"]
    assert remarks[two.pk].state is None


def test_runs_with_an_effect_in_doubt_are_troubled() -> None:
    run, other = make.run("a"), make.run("b")
    effect(run, Status.IN_DOUBT)
    effect(other)
    assert list(STORY.troubled()) == [run.pk]
