"""Verdicts that came too late, on something else, or by somebody who may not: with a real run."""

from __future__ import annotations

from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from accounts import clock
from accounts.models import User
from approvals import ask
from approvals.models import Decision, Request
from audit.models import Entry
from ledger.models import Effect
from runs import sweeper
from runs.models import Lease
from tests.approvals.conftest import together
from tests.runs.conftest import now
from tests.scenarios.conftest import decide, form, guarded, open_of, page_of, signed_in
from tests.support.web import text_of


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


ARGS: dict[str, Any] = {"order": "7", "cents": 100}


def refund(_: State) -> Any:
    answer = ask("Refund?", tool="scenario.guarded", args=dict(ARGS))
    if answer:
        guarded(**ARGS)
    return {"log": [answer.decision]}


NODES: list[Any] = [refund]
GRAPH: Any = StateGraph(State).add_sequence(NODES).add_edge(START, "refund").compile()


@pytest.fixture
def run(start, drive, ben):
    run = start("asks", graph=GRAPH)
    drive(run)
    return run


def past(request: Request) -> None:
    Request.objects.filter(pk=request.pk).update(deadline=clock.now() - timedelta(seconds=1))


# --- the payload --------------------------------------------------------------------------------


def test_an_amount_changed_between_looking_and_clicking_is_neither_approved_nor_paid(
    run, start, drive, ben, books
):
    """Whoever changes the question, the form still carries what was shown."""
    client, request = signed_in(ben), open_of(run)
    sent = form(client, request, "approved")
    other = "f" * 64
    Request.objects.filter(pk=request.pk).update(digest=other)
    response = client.post(page_of(request), sent)
    assert response.status_code == 409
    assert Request.objects.get(pk=request.pk).status == "pending"
    assert books.calls == []


def test_a_row_changed_behind_the_page_pays_nothing(run, drive, ben, books):
    """Somebody with a shell in the database changes what is asked after it was raised."""
    request = open_of(run)
    changed = request.payload | {"args": ARGS | {"cents": 1_000_000}}
    Request.objects.filter(pk=request.pk).update(payload=changed, digest="e" * 64)
    decide(ben, request)
    drive(run)
    assert books.calls == []
    assert not Effect.objects.filter(run=run).exists()
    assert Decision.objects.get().delivery != "took_effect"


# --- the deadline -------------------------------------------------------------------------------


def test_a_late_click_is_refused_and_the_run_goes_its_way_without_any_sweeper(
    run, drive, ben, books
):
    client, request = signed_in(ben), open_of(run)
    sent = form(client, request, "approved")
    past(request)
    response = client.post(page_of(request), sent)
    assert response.status_code == 409
    assert "expired" in text_of(response)
    drive(run)
    assert now(run).output == {"log": ["expired"]}
    assert books.calls == []
    assert Decision.objects.get().verdict == "expired"
    refused = Entry.objects.get(verb="decision.refused", target_id=str(request.pk))
    assert refused.actor_id == str(ben.pk)


@pytest.mark.race
@pytest.mark.parametrize("trial", range(4))
def test_two_sweepers_and_a_late_click_expire_once_and_the_run_hears_it_once(
    run, drive, ben, rung, settings, books, trial
):
    settings.RUNS_SWEEP_RULES = ["approvals.sweep.sweep"]
    client, request = signed_in(ben), open_of(run)
    sent = form(client, request, "approved")
    past(request)
    together(sweeper.sweep, sweeper.sweep, lambda: client.post(page_of(request), sent))
    drive(run)
    assert now(run).output == {"log": ["expired"]}
    decision = Decision.objects.get()
    assert (decision.verdict, decision.deliveries) == ("expired", 1)
    assert Entry.objects.filter(target_id=str(request.pk), verb="request.expired").count() == 1
    assert books.calls == []


def test_no_request_is_without_a_deadline():
    asked = Request._meta.get_field("deadline")
    assert not asked.null


# --- who ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["group", "account", "permission"])
def test_a_right_lost_while_the_page_was_open_decides_nothing(run, drive, ben, books, lost):
    client, request = signed_in(ben), open_of(run)
    sent = form(client, request, "approved")
    match lost:
        case "group":
            ben.groups.remove(ben.groups.get(name="finance"))
        case "permission":
            ben.groups.remove(ben.groups.get(name="approver"))
        case "account":
            User.objects.filter(pk=ben.pk).update(is_active=False)
    assert client.post(page_of(request), sent).status_code in (403, 404)
    drive(run)
    assert not Decision.objects.exists()
    assert books.calls == []


# --- many ---------------------------------------------------------------------------------------


def test_many_that_wait_hold_nothing_and_each_is_decided_on_its_own(
    start, drive, ben, books, declare
):
    runs = [start("asks", graph=GRAPH) for _ in range(8)]
    for run in runs:
        drive(run)
    live = Lease.objects.filter(expires_at__gt=clock.now())
    assert not live.exists()
    stale, *others = [open_of(run) for run in runs]
    forms = {request.pk: form(signed_in(ben), request, "approved") for request in [stale, *others]}
    past(stale)
    statuses = [
        signed_in(ben).post(page_of(request), forms[request.pk]).status_code
        for request in [stale, *others]
    ]
    assert statuses == [409, *[302] * 7]
    assert Decision.objects.filter(verdict="approved").count() == 7
    assert len(set(Decision.objects.values_list("request", flat=True))) == 8
