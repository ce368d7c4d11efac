"""What the driver is told, and when an answer counts as delivered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from approvals import deadlines, errors
from approvals.models import Decision, Request
from approvals.port import Approvals
from approvals.status import Delivery
from runs.askers import Asker, Pending
from runs.authority import Lease
from runs.errors import LeaseLost
from runs.heads import ABSENT, Head
from runs.models import Run
from runs.ports import Answers
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    entries,
    head,
    lease_on,
    now,
    ours,
    pending,
    reject,
)

port = Approvals()


@pytest.fixture
def decided(waiting_run, ben):
    """A run with one approved question that the driver has not looked at yet."""
    run = waiting_run()
    request = ask(run, pending(ours()))
    approve(request, ben)
    return request


def read(request: Request, *asked: Pending, **more: Any) -> Answers:
    return port.read(request.run_id, head(*(asked or (pending(ours()),)), **more))


def test_a_run_without_requests_costs_one_query(waiting_run, django_assert_num_queries):
    run = waiting_run()
    with django_assert_num_queries(1):
        assert port.read(run.pk, head(pending("a"))) == Answers()


def test_reading_answers_costs_one_query(decided, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert read(decided).ready


def test_a_decided_question_is_ready_with_exactly_the_recorded_answer(decided):
    answers = read(decided)
    (ready,) = answers.ready
    assert ready.value == Decision.objects.get().answer
    assert (ready.interrupt_id, ready.task_id) == ("q", "t")
    assert answers.under_way
    assert (answers.consumed, answers.unstable, answers.lapsed) == (False, False, False)


def test_an_open_question_is_not_ready(asked):
    assert read(asked()) == Answers()


def test_a_rejection_and_an_expiry_are_answers_too(waiting_run, ben):
    run = waiting_run()
    ask(run, pending(ours(), "qa"), pending(ours("B?"), "qb", task="u"))
    rejected, expired = Request.objects.order_by("interrupt_id")
    reject(rejected, ben)
    due_in(expired, timedelta(0))
    deadlines.expire(run, expired)
    both = head(pending(ours(), "qa"), pending(ours("B?"), "qb", task="u"))
    said: dict[str, Any] = {each.interrupt_id: each.value for each in port.read(run.pk, both).ready}
    assert (said["qa"]["decision"], said["qb"]["decision"]) == ("rejected", "expired")


@pytest.mark.parametrize(
    "now_asked",
    [
        pending(ours("Refund order 8?")),
        pending(ours(args={"order": 7, "cents": 12_001})),
        pending(ours(), task="other"),
        pending(ours(), "another interrupt"),
    ],
)
def test_a_decision_answers_no_other_question(decided, now_asked):
    assert read(decided, now_asked).ready == ()


def test_an_answer_that_langgraph_holds_is_consumed_and_never_ready(decided):
    answers = read(decided, held=1)
    assert answers.consumed
    assert answers.ready == ()


def test_an_answer_is_consumed_if_the_namespace_that_asked_has_moved_on(waiting_run, ben):
    run = waiting_run()
    question = replace(
        pending(ours()), askers=(Asker("", "c1", "t", 0), Asker("gate:t", "s1", "u", 0))
    )
    request = ask(run, question)
    approve(request, ben)
    assert read(request, question).ready
    moved = replace(question, askers=(question.askers[0], Asker("gate:t", "s2", "v", 0)))
    answers = read(request, moved)
    assert answers.consumed
    assert not answers.ready


def test_at_most_one_answer_per_task_the_oldest_decision_first(waiting_run, ben):
    run = waiting_run()
    questions = [pending(ours(name), name, at="c1") for name in ("a", "b", "c")]
    ask(run, *questions)
    for name in ("b", "a", "c"):
        approve(Request.objects.get(interrupt_id=name), ben)
    (ready,) = port.read(run.pk, head(*questions)).ready
    assert ready.interrupt_id == "b"


def test_an_answer_that_took_effect_or_was_given_up_is_never_used_again(decided):
    for delivery in (Delivery.TOOK_EFFECT, Delivery.NOT_DELIVERED):
        Decision.objects.update(delivery=delivery)
        assert read(decided) == Answers()
        assert not read(decided, held=1).consumed


def test_a_question_that_changes_too_often_is_unstable_until_an_operator_forgives(
    waiting_run, settings
):
    settings.APPROVALS_ROUNDS = 2
    run = waiting_run()
    ask(run, pending("1"))
    assert not port.read(run.pk, head(pending("2"))).unstable
    ask(run, pending("2"))
    assert not port.read(run.pk, head(pending("2"))).unstable
    assert port.read(run.pk, head(pending("3"))).unstable
    Run.objects.filter(pk=run.pk).update(forgiven_fence=1)
    assert not port.read(run.pk, head(pending("3"))).unstable


def test_a_question_whose_policy_parks_the_run_has_lapsed(waiting_run, rule):
    rule(on_deadline="park")
    run = waiting_run()
    request = ask(run, pending(ours()))
    due_in(request, timedelta(0))
    deadlines.expire(run, request)
    answers = read(request)
    assert answers == Answers(lapsed=True)
    port.forget(run)
    assert not read(request).lapsed
    assert ask(run, pending(ours())).round == 2


# --- handing over ---------------------------------------------------------------------------------


def test_handing_over_counts_every_delivery(decided):
    lease = lease_on(decided.run)
    for times in (1, 2):
        port.hand_over(lease, read(decided).ready)
        decision = Decision.objects.get()
        assert (decision.delivery, decision.deliveries) == (Delivery.DELIVERING, times)


def test_a_former_driver_hands_over_nothing(decided):
    lease = lease_on(decided.run)
    old = Lease(run_id=lease.run_id, fence=lease.fence - 1, holder="zombie")
    with pytest.raises(LeaseLost):
        port.hand_over(old, read(decided).ready)
    assert Decision.objects.get().delivery == Delivery.RECORDED


def test_a_decision_that_was_given_up_meanwhile_is_not_handed_over(decided):
    ready = read(decided).ready
    port.withdraw(decided.run, "the run was cancelled")
    with pytest.raises(errors.DecisionGone):
        port.hand_over(lease_on(decided.run), ready)
    assert Decision.objects.get().deliveries == 0


# --- delivered ------------------------------------------------------------------------------------


@pytest.fixture
def delivering(decided):
    """The same, handed over to LangGraph."""
    port.hand_over(lease_on(decided.run), read(decided).ready)
    return decided


def note(request: Request, at: Head) -> Decision:
    port.note_delivered(lease_on(request.run), at)
    return Decision.objects.get(request=request)


def chain(request: Request, *sources: str, parent: str = "c1") -> None:
    """Checkpoints c2, c3, … of the run's thread after `parent`, made by these kinds of step."""
    with connection.cursor() as cursor:
        for number, source in enumerate(sources, 2):
            cursor.execute(
                "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id,"
                " parent_checkpoint_id, checkpoint, metadata)"
                " VALUES (%s, '', %s, %s, '{}', jsonb_build_object('source', %s::text))",
                [str(request.run_id), f"c{number}", parent, source],
            )
            parent = f"c{number}"


@pytest.mark.parametrize("held", [0, 1])
def test_as_long_as_the_interrupt_is_pending_nothing_was_delivered(delivering, held):
    still = head(pending(ours()), held=held)
    assert note(delivering, still).delivery == Delivery.DELIVERING


def test_an_answer_took_effect_if_the_head_came_from_its_checkpoint_by_normal_steps(delivering):
    chain(delivering, "loop", "loop", "loop")
    decision = note(delivering, head(at="c4"))
    assert decision.delivery == Delivery.TOOK_EFFECT
    assert decision.delivered_at is not None
    (entry,) = entries(delivering, "decision.delivered")
    assert entry.data["deliveries"] == 1


@pytest.mark.parametrize("source", ["update", "input", "fork"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_answer_did_not_arrive_if_somebody_moved_the_thread_on_the_way(
    delivering, source, place
):
    steps = ["loop", "loop", "loop"]
    steps[place] = source
    chain(delivering, *steps)
    decision = note(delivering, head(at="c4"))
    assert decision.delivery == Delivery.NOT_DELIVERED
    assert decision.delivery_detail == "the run moved on without it"
    assert len(entries(delivering, "decision.not_delivered")) == 1


def test_an_answer_did_not_arrive_if_the_head_comes_from_elsewhere(delivering):
    chain(delivering, "loop", "loop", parent="c0")
    assert note(delivering, head(at="c3")).delivery == Delivery.NOT_DELIVERED


def test_an_answer_that_was_never_handed_over_cannot_have_arrived(decided):
    chain(decided, "loop")
    assert note(decided, head(at="c2")).delivery == Delivery.NOT_DELIVERED


def test_an_answer_took_effect_if_langgraph_holds_it_and_asks_no_more(delivering):
    still = replace(head(), held={("", "c1", "t"): 1}, open_step=True)
    assert note(delivering, still).delivery == Delivery.TOOK_EFFECT


@pytest.mark.parametrize(
    "unclear",
    [
        replace(head(), held={("", "c1", "t"): 0}, open_step=True),
        replace(head(), held={("", "c1", "t"): 1}, lost=("gate",)),
        replace(head(at="c2"), lost=("gate",)),
        ABSENT,
    ],
    ids=["same head, not taken", "lost node, taken", "lost node, moved", "nothing saved"],
)
def test_a_head_that_cannot_be_explained_says_nothing(delivering, unclear):
    chain(delivering, "loop")
    assert note(delivering, unclear).delivery == Delivery.DELIVERING


def test_a_former_driver_notes_nothing(delivering):
    chain(delivering, "loop")
    lease = lease_on(delivering.run)
    old = Lease(run_id=lease.run_id, fence=lease.fence - 1, holder="zombie")
    with pytest.raises(LeaseLost):
        port.note_delivered(old, head(at="c2"))
    assert Decision.objects.get().delivery == Delivery.DELIVERING


def test_noting_twice_is_told_once(delivering):
    chain(delivering, "loop")
    note(delivering, head(at="c2"))
    at = Decision.objects.get().delivered_at
    note(delivering, head(at="c2"))
    assert Decision.objects.get().delivered_at == at
    assert len(entries(delivering, "decision.delivered")) == 1
    assert now(delivering).status == "approved"
