"""Opening: one request per question, a new round when it changes, and nothing asked twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from accounts import clock
from approvals import errors, opening, requests
from approvals.models import Decision, Request, Vote
from approvals.status import Delivery, Status
from audit import canonical
from audit.models import Entry
from runs.askers import Asker
from runs.models import Run
from tests.approvals.conftest import (
    REFUND,
    approve,
    ask,
    due_in,
    entries,
    head,
    lease_on,
    now,
    ours,
    pending,
)


def hand_over(request: Request) -> None:
    """As the driver does just before it calls the graph."""
    Decision.objects.filter(request=request).update(delivery="delivering", deliveries=1)


def test_a_request_keeps_what_is_asked_by_whom_and_under_which_policy(waiting_run, rule):
    rule(quorum=2, on_deadline="park")
    run = waiting_run()
    payload = ours(facts={"Amount": "€120"})
    before = clock.now()
    request = ask(run, pending(payload, node="gate"))

    assert request.payload == payload
    assert request.digest == canonical.fingerprint(payload)
    assert (request.interrupt_id, request.checkpoint_id, request.node) == ("q", "c1", "gate")
    assert request.askers == [["", "c1", "t", 0]]
    assert (request.title, request.shape, request.group) == ("Refund order 7?", "ours", "finance")
    assert (request.tool, request.args_hash) == ("payments.refund", canonical.digest(REFUND))
    assert (request.policy["quorum"], request.policy["on_deadline"]) == (2, "park")
    hour = timedelta(hours=1)
    assert before + hour <= request.deadline <= clock.now() + hour
    assert (request.round, request.changes, request.fence) == (1, 0, 1)
    (entry,) = entries(request, "request.opened")
    assert entry.run_id == run.pk


def test_opening_again_what_is_asked_already_changes_nothing(asked):
    request = asked()
    ask(request.run, pending(ours()))
    assert Request.objects.count() == 1
    assert len(entries(request, "request.opened")) == 1


def test_the_nearest_deadline_is_returned(waiting_run, settings):
    settings.APPROVALS_POLICIES = [
        {"name": "slow", "node": "slow", "group": "finance", "deadline": timedelta(days=2)}
    ]
    run = waiting_run()
    asked_now = head(pending("a", "qa"), pending("b", "qb", task="u", node="slow"))
    with transaction.atomic():
        nearest = opening.open(run, asked_now)
    by_name = {request.interrupt_id: request for request in Request.objects.all()}
    assert nearest == by_name["qa"].deadline < by_name["qb"].deadline
    assert by_name["qb"].policy["name"] == "slow"


def test_parallel_questions_get_a_request_each(waiting_run):
    ask(waiting_run(), pending("a", "qa"), pending("b", "qb", task="u"))
    assert set(Request.objects.values_list("interrupt_id", "title")) == {("qa", "a"), ("qb", "b")}


@pytest.mark.parametrize("second", [pending("b"), pending("a", task="other"), pending("a", held=1)])
def test_another_payload_or_another_asker_is_another_round_and_the_deadline_stays(
    waiting_run, second
):
    run = waiting_run()
    first = ask(run, pending("a"))
    deadline = due_in(first, timedelta(minutes=3))
    request = ask(run, second)

    first = now(first)
    assert (first.status, first.replaced_by) == (Status.SUPERSEDED, request)
    assert first.close_reason == "the question changed"
    assert (request.round, request.changes, request.deadline) == (2, 1, deadline)
    assert request.replaces.payload == "a"  # both are there to show the difference
    assert len(entries(first, "request.superseded")) == 1


def test_votes_on_a_superseded_request_are_void(waiting_run, ben, eve, rule):
    rule(quorum=2)
    run = waiting_run()
    first = ask(run, pending(ours()))
    assert approve(first, ben).missing == 1
    second = ask(run, pending(ours("Refund order 8?")))
    assert approve(second, eve).missing == 1
    assert not Decision.objects.exists()
    assert approve(second, ben).decided
    assert Vote.objects.filter(request=first).count() == 1


def test_a_decision_that_was_not_delivered_does_not_answer_the_changed_question(waiting_run, ben):
    run = waiting_run()
    first = ask(run, pending(ours()))
    approve(first, ben)
    second = ask(run, pending(ours(args={"order": 7, "cents": 999_999})))

    decision = Decision.objects.get()
    assert (decision.delivery, decision.delivery_detail) == (
        "not_delivered",
        "the question changed",
    )
    assert now(first).status == Status.APPROVED  # what was decided stays as it was
    assert now(first).replaced_by == second
    assert (second.round, second.deadline) == (2, first.deadline)
    assert len(entries(first, "decision.not_delivered")) == 1


def test_a_decision_that_waits_to_be_delivered_is_left_alone(waiting_run, ben):
    run = waiting_run()
    approve(ask(run, pending(ours())), ben)
    assert ask(run, pending(ours())) is None
    assert Decision.objects.get().delivery == Delivery.RECORDED


def test_a_decision_that_langgraph_holds_is_never_asked_again(waiting_run, ben):
    run = waiting_run()
    request = ask(run, pending(ours()))
    approve(request, ben)
    hand_over(request)
    with transaction.atomic():
        assert opening.open(run, head(pending(ours()), held=1)) is None
        opening.open(run, head(pending(ours("something else")), held=1))
    assert Request.objects.count() == 1
    assert Decision.objects.get().delivery == Delivery.DELIVERING


def test_a_question_that_is_put_again_after_its_answer_took_effect_is_a_new_one(waiting_run, ben):
    run = waiting_run()
    first = ask(run, pending(ours()))
    approve(first, ben)
    Decision.objects.update(delivery="took_effect")
    due_in(first, timedelta(minutes=-5))
    second = ask(run, pending(ours(), at="c9"), at="c9")
    assert (second.round, second.changes) == (2, 0)
    assert second.deadline > clock.now()
    assert now(first).replaced_by is None
    assert not hasattr(second, "decision")


def test_a_question_that_is_not_asked_any_more_is_withdrawn(waiting_run, ben):
    run = waiting_run()
    gone = ask(run, pending("a", "qa"))
    stays = ask(run, pending("b", "qb"))
    assert now(gone).status == Status.WITHDRAWN
    assert now(stays).status == Status.PENDING
    with pytest.raises(errors.Withdrawn):
        approve(gone, ben)
    assert len(entries(gone, "request.withdrawn")) == 1


def test_a_question_that_keeps_changing_is_not_asked_for_ever(waiting_run, settings):
    settings.APPROVALS_ROUNDS = 3
    run = waiting_run()
    opened = [ask(run, pending(f"version {n}")) for n in range(4)]
    assert [each and each.round for each in opened] == [1, 2, 3, None]
    last = Request.objects.get(round=3)
    assert (last.status, last.replaced_by) == (Status.SUPERSEDED, None)
    ask(run, pending("version 5"))
    assert Request.objects.count() == 3


def test_an_operator_who_sends_the_run_on_starts_the_count_anew(waiting_run, settings):
    settings.APPROVALS_ROUNDS = 2
    run = waiting_run()
    ask(run, pending("1"))
    ask(run, pending("2"))
    assert ask(run, pending("3")) is None
    Run.objects.filter(pk=run.pk).update(forgiven_fence=1)
    request = ask(run, pending("4"))
    assert (request.round, request.changes) == (3, 0)


def test_at_most_one_request_of_an_interrupt_is_open(asked):
    request = asked()
    with pytest.raises(IntegrityError), transaction.atomic():
        Request.objects.create(
            run=request.run,
            interrupt_id=request.interrupt_id,
            checkpoint_id="other",
            round=9,
            fence=1,
            askers=[],
            shape="plain",
            payload=None,
            digest="",
            title="t",
            policy={},
            group="finance",
            deadline=clock.now(),
        )


# --- the end of a run -----------------------------------------------------------------------------


def test_when_a_run_ends_nothing_is_asked_and_nothing_is_delivered_any_more(waiting_run, ben):
    run = waiting_run()
    ask(run, pending("a", "qa"), pending("b", "qb", task="u"))
    first, second = Request.objects.order_by("interrupt_id")
    approve(first, ben)
    requests.withdraw(run, "the run was cancelled")

    assert now(first).status == Status.APPROVED
    assert (now(second).status, now(second).close_reason) == ("withdrawn", "the run was cancelled")
    decision = Decision.objects.get()
    assert (decision.delivery, decision.delivery_detail) == (
        "not_delivered",
        "the run was cancelled",
    )
    verbs = set(Entry.objects.filter(run_id=run.pk).values_list("verb", flat=True))
    assert {"request.withdrawn", "decision.not_delivered"} <= verbs


def test_what_took_effect_keeps_having_taken_effect_when_the_run_ends(asked, ben):
    request = asked()
    approve(request, ben)
    Decision.objects.update(delivery="took_effect")
    requests.withdraw(request.run, "the run has ended")
    assert Decision.objects.get().delivery == Delivery.TOOK_EFFECT


# --- ask again ------------------------------------------------------------------------------------


def test_asking_again_gives_up_the_answer_and_opens_a_request_with_its_own_deadline(
    waiting_run, ben
):
    run = waiting_run()
    first = ask(run, pending(ours()))
    approve(first, ben)
    hand_over(first)
    due_in(first, timedelta(minutes=-5))
    assert requests.held(run.pk) == (Asker("", "c1", "t", 0),)

    requests.forget(run)
    decision = Decision.objects.get()
    assert (decision.delivery, decision.delivery_detail) == ("not_delivered", "asked again")
    second = ask(run, pending(ours()))
    assert (second.round, second.changes) == (2, 0)
    assert second.deadline > clock.now()
    assert now(first).replaced_by == second
    assert requests.held(run.pk) == ()


def test_as_long_as_langgraph_holds_the_bad_answer_nothing_is_asked(waiting_run, ben):
    run = waiting_run()
    request = ask(run, pending(ours()))
    approve(request, ben)
    hand_over(request)
    requests.forget(run)
    opening.open(run, head(pending(ours()), held=1))
    assert Request.objects.count() == 1
    assert requests.held(run.pk) == (Asker("", "c1", "t", 0),)  # so that it can be cut now


def test_an_answer_that_was_never_handed_over_is_kept_when_another_is_asked_again(waiting_run, ben):
    run = waiting_run()
    ask(run, pending(ours(), "qa"), pending(ours("B?"), "qb", task="u"))
    for request in Request.objects.all():
        approve(request, ben)
    hand_over(Request.objects.get(interrupt_id="qa"))
    requests.forget(run)
    kept = Decision.objects.get(request__interrupt_id="qb")
    assert kept.delivery == Delivery.RECORDED
    assert not kept.request.asked_again


# --- payloads of every kind -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ("a\x00b", r"a\u{0}b"),
        ("\ud800", r"\u{D800}"),
        (float("nan"), "NaN"),
        (2**60, str(2**60)),
        (None, "A question without words"),
        ("", "A question without words"),
        ([], "A question without words"),
        ({"question": "May I?"}, "May I?"),
        ({"x": 1}, '{"x": 1}'),
        ("line\nafter   line", "line after line"),
        ("long " * 100, ("long " * 60)[:299] + "…"),
    ],
    ids=range(11),
)
def test_whatever_an_agent_asks_can_be_kept_and_read(waiting_run, payload, shown):
    request = ask(waiting_run(), pending(payload))
    assert request.title == shown
    assert request.digest == canonical.fingerprint(payload)
    assert request.payload == canonical.visible(payload)


def test_a_large_payload_is_kept_whole(waiting_run):
    request = ask(waiting_run(), pending({"text": "x" * 1_000_000}))
    assert len(now(request).payload["text"]) == 1_000_000


def test_payloads_that_look_the_same_when_shown_are_told_apart(waiting_run):
    run = waiting_run()
    ask(run, pending("a\x00b"))
    request = ask(run, pending(r"a\u{0}b"))
    assert request.round == 2


def test_a_permit_covers_the_arguments_as_raised_not_as_shown(waiting_run):
    args = {"memo": "a\x00b"}
    request = ask(waiting_run(), pending(ours(args=args)))
    assert request.payload["args"] == {"memo": r"a\u{0}b"}
    assert request.args_hash == canonical.digest(args)


def test_only_a_question_of_ours_names_an_effect(waiting_run):
    forged = ours() | {"args": {"order": 7, "cents": 999_999}}
    request = ask(waiting_run(), pending(forged))
    assert (request.shape, request.tool, request.args_hash) == ("plain", "", "")


def test_only_the_driver_of_the_run_opens_requests_at_its_fence(waiting_run):
    run = waiting_run()
    lease_on(run)
    run.lease.fence = 5
    run.lease.save()
    assert ask(run, pending("a")).fence == 5
