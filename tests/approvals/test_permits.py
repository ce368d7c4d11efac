"""Permits: one approval, one effect, exactly these arguments."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from approvals import deadlines
from approvals.models import Decision, Request
from approvals.permits import Permits
from audit import canonical
from tests.approvals.conftest import REFUND, approve, ask, due_in, effect, ours, pending, reject

TOOL, ARGS = "payments.refund", canonical.digest(REFUND)
find = Permits().find


@pytest.fixture
def approved(asked, ben):
    request = asked()
    approve(request, ben)
    return Decision.objects.get(request=request)


def test_an_approval_permits_the_effect_that_was_shown(approved):
    assert find(approved.request.run_id, TOOL, ARGS) == approved.pk


@pytest.mark.parametrize(
    ("tool", "args_hash"),
    [
        (TOOL, canonical.digest(REFUND | {"cents": 12_001})),
        (TOOL, canonical.digest(REFUND | {"note": ""})),
        ("payments.payout", ARGS),
        ("", ARGS),
        (TOOL, ""),
        ("", ""),
    ],
)
def test_it_permits_nothing_else(approved, tool, args_hash):
    assert find(approved.request.run_id, tool, args_hash) is None


def test_it_permits_nothing_to_another_run(approved, waiting_run):
    assert find(waiting_run().pk, TOOL, ARGS) is None
    assert find(uuid4(), TOOL, ARGS) is None


def test_an_open_question_permits_nothing(asked):
    assert find(asked().run_id, TOOL, ARGS) is None


def test_a_rejection_permits_nothing(asked, ben):
    request = asked()
    reject(request, ben)
    assert find(request.run_id, TOOL, ARGS) is None


def test_an_expiry_permits_nothing(asked):
    request = asked()
    due_in(request, timedelta(0))
    deadlines.expire(request.run, request)
    assert Decision.objects.exists()
    assert find(request.run_id, TOOL, ARGS) is None


def test_a_first_vote_of_two_permits_nothing(asked, ben, rule):
    rule(quorum=2)
    request = asked()
    approve(request, ben)
    assert find(request.run_id, TOOL, ARGS) is None


def test_an_approval_that_never_reached_the_run_permits_nothing(approved):
    Decision.objects.update(delivery="not_delivered")
    assert find(approved.request.run_id, TOOL, ARGS) is None


@pytest.mark.parametrize("delivery", ["recorded", "delivering", "took_effect"])
def test_an_approval_on_its_way_permits(approved, delivery):
    Decision.objects.update(delivery=delivery)
    assert find(approved.request.run_id, TOOL, ARGS) == approved.pk


def test_the_approval_of_a_bare_interrupt_earns_no_permit(asked, ben):
    forged = ours() | {"digest": "0" * 64}
    request = asked(forged)
    approve(request, ben)
    assert find(request.run_id, TOOL, ARGS) is None


def test_a_question_without_a_tool_permits_nothing(asked, ben):
    request = asked(ours(tool="", args={}))
    approve(request, ben)
    assert find(request.run_id, "", canonical.digest({})) is None


def test_one_permit_is_good_for_one_effect(approved):
    effect(approved.request.run, args_hash=ARGS, permit=approved.pk)
    assert find(approved.request.run_id, TOOL, ARGS) is None
    with pytest.raises(IntegrityError), transaction.atomic():
        effect(approved.request.run, args_hash=ARGS, permit=approved.pk)


def test_two_approvals_permit_two_effects_the_older_first(waiting_run, ben):
    run = waiting_run()
    ask(run, pending(ours(), "qa"), pending(ours(), "qb", task="u"))
    for request in Request.objects.order_by("-interrupt_id"):
        approve(request, ben)
    older = Decision.objects.get(request__interrupt_id="qb")
    assert find(run.pk, TOOL, ARGS) == older.pk
    effect(run, args_hash=ARGS, permit=older.pk)
    assert find(run.pk, TOOL, ARGS) == Decision.objects.get(request__interrupt_id="qa").pk


def test_effects_without_a_permit_take_none_away(approved):
    effect(approved.request.run, args_hash=ARGS, permit=None)
    assert find(approved.request.run_id, TOOL, ARGS) == approved.pk
