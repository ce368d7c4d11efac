"""Many at once: each its own decision, nothing silently skipped, approved only what is harmless."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from accounts import clock
from approvals import light
from approvals.bulk import acts, kinds, offers
from approvals.models import Decision, Request, Vote
from approvals.policies import declared
from audit.models import Entry
from runs.models import Lease, Run
from tests.approvals.conftest import approve, due_in, now, ours, reject
from tests.support.people import PASSWORD, person
from tests.support.web import field, html_of, link, text_of

pytestmark = pytest.mark.django_db

REJECT = "/approvals/bulk/reject/"
APPROVE = "/approvals/bulk/approve/"


def refund(order: int = 7, **parts: object) -> dict[str, object]:
    args = {"order_id": str(order), "amount_cents": 1200, "currency": "EUR"}
    return ours(f"Refund order {order}", **{"args": args} | parts)


@pytest.fixture(autouse=True)
def harmless(rule) -> None:
    """What is asked may be approved together."""
    rule(risk="low", bulk=True)


def chosen(client, address: str, *requests: Request):
    """The page on which exactly these would be decided."""
    return client.post(address, {"pick": [str(each.pk) for each in requests]})


def form(page, **more: Any) -> dict[str, Any]:
    """The form of that page, with every box ticked."""
    html = html_of(page)
    items = re.findall(r'name="item" value="([^"]+)" id="[^"]+" checked', html)
    picks = re.findall(r'name="pick" value="([^"]+)"', html)
    hidden = {name: field(page, name) for name in ("batch", "kind")}
    return {"item": items, "pick": picks, "comment": "Fraud wave"} | hidden | more


def outcomes(page) -> dict[str, str]:
    """Title to badge, as the page of results tells."""
    rows = re.findall(r"<tr>(.*?)</tr>", html_of(page), re.DOTALL)[1:]
    cells = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in rows]
    return {plain(title): plain(badge) for title, badge, _ in cells}


def everything(client, address: str, sent: dict[str, Any]) -> dict[str, str]:
    """The outcomes once nothing is left unreached, however slow the machine is."""
    told: dict[str, str] = {}
    while sent["item"]:
        page = client.post(address, sent)
        told |= outcomes(page)
        sent = sent | {"item": re.findall(r'name="item" value="([^"]+)"', html_of(page))}
    return told


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


# --- what each item keeps -------------------------------------------------------------------------


def test_two_hundred_are_approved_each_with_a_decision_of_its_own(as_ben, ben, eve, asked):
    requests = [asked(refund(n)) for n in range(offers.MOST)]
    page = chosen(as_ben, APPROVE, *requests)
    assert "Approve 200 requests?" in text_of(page)
    sent = form(page)
    stale, late, decided, gone = requests[3], requests[50], requests[100], requests[150]
    Request.objects.filter(pk=stale.pk).update(digest="0" * 64)
    due_in(late, timedelta(0))
    reject(decided, eve)
    Run.objects.filter(pk=gone.run_id).update(cancel_asked_at=clock.now())

    told = everything(as_ben, APPROVE, sent)

    refused = {each.title for each in (stale, late, decided, gone)}
    assert {title for title, badge in told.items() if badge == "Did not count"} == refused
    assert len(told) == 200
    assert sum(badge == "Approved" for badge in told.values()) == 196
    votes = Vote.objects.filter(user=ben)
    assert votes.count() == votes.values("token").distinct().count() == 196
    assert {(vote.entry, vote.digest) for vote in votes.select_related("request")} == {
        ("bulk", vote.request.digest) for vote in votes.select_related("request")
    }
    assert Decision.objects.filter(decided_by=ben, verdict="approved").count() == 196
    made = Entry.objects.filter(verb="decision.made", actor_id=str(ben.pk))
    assert made.count() == 196
    assert set(made.values_list("entry", flat=True)) == {"bulk"}
    refusals = Entry.objects.filter(verb="decision.refused", actor_id=str(ben.pk), entry="bulk")
    assert dict(refusals.values_list("target_id", "data__refusal")) == {
        str(stale.pk): "PayloadChanged",
        str(late.pk): "DeadlinePassed",
        str(decided.pk): "AlreadyDecided",
        str(gone.pk): "CancelAsked",
    }
    assert now(late).status == "expired"
    assert not Lease.objects.filter(expires_at__gt=clock.now()).exists()  # waiting holds none


def test_the_same_form_twice_has_the_same_outcome(as_ben, asked):
    requests = [asked(refund(n)) for n in range(3)]
    sent = form(chosen(as_ben, REJECT, *requests))
    first = outcomes(as_ben.post(REJECT, sent))
    assert set(first.values()) == {"Rejected"}
    again = outcomes(as_ben.post(REJECT, sent))
    assert {badge.split(" the form")[0] for badge in again.values()} == {"Rejected"}
    assert Vote.objects.count() == Decision.objects.count() == 3
    assert Entry.objects.filter(verb="decision.many").count() == 1


def test_one_entry_ties_those_of_the_items_together(as_ben, asked):
    one, two = asked(refund(1)), asked(refund(2))
    sent = form(chosen(as_ben, REJECT, one, two))
    due_in(two, timedelta(0))
    as_ben.post(REJECT, sent)
    entry = Entry.objects.get(verb="decision.many")
    assert entry.data["requests"] == [str(one.pk)]
    assert entry.data["others"] == {str(two.pk): "refused"}
    assert (entry.reason, entry.target_id) == ("Fraud wave", sent["batch"])


def test_only_what_is_ticked_is_decided(as_ben, asked):
    one, two = asked(refund(1)), asked(refund(2))
    sent = form(chosen(as_ben, REJECT, one, two))
    sent["item"] = [item for item in sent["item"] if item.startswith(str(one.pk))]
    as_ben.post(REJECT, sent)
    assert (now(one).status, now(two).status) == ("rejected", "pending")


def test_a_quorum_takes_more_than_one_form(as_ben, client, asked, eve, rule):
    rule(quorum=2)
    request, other = asked(refund(1)), asked(refund(2))
    page = as_ben.post(APPROVE, form(chosen(as_ben, APPROVE, request, other)))
    assert set(outcomes(page).values()) == {"Recorded"}
    assert "1 more must approve." in text_of(page)
    client.force_login(eve)
    page = client.post(APPROVE, form(chosen(client, APPROVE, request, other)))
    assert set(outcomes(page).values()) == {"Approved"}


# --- what may be approved together ----------------------------------------------------------------


def crafted(client, address: str, *requests: Request, kind: str = ""):
    """What no page offers: these requests, ticked as they are."""
    token = kind or kinds.of(requests[0], requests[0].tool).token
    items = [f"{each.pk}.{each.digest}.{uuid4().hex}" for each in requests]
    sent = {"item": items, "comment": "all fine", "kind": token, "batch": "b"}
    return client.post(address, sent)


LONG = "a very long word about this refund " * 5
OPENED_FIRST = {
    "a policy that says nothing of it": (refund(), {"bulk": False}),
    "normal risk": (refund(), {"risk": "normal", "bulk": False}),
    "hidden characters": (refund(why="Pay \u202e00.021"), {}),
    "hidden characters in a name": (refund(args={"ord\u200ber": 7}), {}),
    "a text that a row would cut": (refund(args={"note": LONG}), {}),
    "values within values": (refund(args={"lines": [1, 2]}), {}),
    "more values than a row holds": (refund(args={f"a{n}": n for n in range(13)}), {}),
    "a title that was cut": (ours("Refund " + "x" * 400), {}),
    "another amount in its words": (
        ours("Refund EUR 900.00", args={"amount_cents": 1200, "currency": "EUR"}),
        {},
    ),
    "a target with more than a row can show": (
        refund(target={"name": "Order 7", "facts": {"lines": [1, 2]}}),
        {},
    ),
    "a value that is hidden from the reader": (refund(), {"masked": ["args.order_id: legal"]}),
}


@pytest.mark.parametrize("first", [[], ["args.recipient"]])
def test_a_row_does_not_show_what_the_policy_hides_from_its_reader(as_ben, asked, rule, first):
    rule(risk="low", bulk=True, masked=["args.recipient: legal"], key_facts=first)
    request = asked(refund(args={"order_id": "7", "recipient": "Marta Kowalczyk"}))
    for page in (as_ben.get("/approvals/bulk/"), chosen(as_ben, REJECT, request)):
        assert page.status_code == 200
        assert "Kowalczyk" not in html_of(page)
    assert "order id" in text_of(page)


@pytest.mark.parametrize(("payload", "policy"), OPENED_FIRST.values(), ids=OPENED_FIRST)
def test_what_must_be_opened_first_is_neither_offered_nor_taken(
    as_ben, asked, rule, payload, policy
):
    rule(**policy)
    request = asked(payload)
    page = chosen(as_ben, APPROVE, request)
    assert "None of these can be decided here" in text_of(page)
    assert 'name="item"' not in html_of(page)
    told = outcomes(crafted(as_ben, APPROVE, request))
    assert list(told.values()) == ["Did not count"]
    assert now(request).status == "pending"
    entry = Entry.objects.get(verb="decision.refused")
    assert (entry.data["refusal"], entry.entry) == ("OneByOne", "bulk")
    assert set(outcomes(crafted(as_ben, REJECT, request)).values()) == {"Rejected"}


def test_a_question_asked_again_must_be_opened(as_ben, asked):
    request = asked(refund())
    Request.objects.filter(pk=request.pk).update(round=2)
    assert set(outcomes(crafted(as_ben, APPROVE, request)).values()) == {"Did not count"}
    assert now(request).status == "pending"


def test_a_policy_that_was_changed_since_keeps_it_from_being_approved(as_ben, asked, rule):
    request, other = asked(refund(1)), asked(refund(2))
    sent = form(chosen(as_ben, APPROVE, request, other))
    rule(bulk=False)
    assert set(outcomes(as_ben.post(APPROVE, sent)).values()) == {"Did not count"}
    assert not Vote.objects.exists()


def test_requests_of_two_kinds_are_not_approved_together(as_ben, asked):
    refunds = [asked(refund(n)) for n in range(2)]
    other = asked(refund(9, tool="payments.credit"))
    elsewhere = asked(refund(10), agent="refund_other")
    page = chosen(as_ben, APPROVE, *refunds, other, elsewhere)
    assert len(form(page)["item"]) in (1, 2)
    assert str(offers.OTHER_KIND) in text_of(page)
    kind = kinds.of(refunds[0], refunds[0].tool).token
    told = outcomes(crafted(as_ben, APPROVE, *refunds, other, elsewhere, kind=kind))
    assert list(told.values()) == ["Approved", "Approved", "Did not count", "Did not count"]
    assert {now(other).status, now(elsewhere).status} == {"pending"}
    assert Entry.objects.filter(verb="decision.refused", data__refusal="OneByOne").count() == 2


def test_requests_of_two_versions_of_the_policies_are_two_kinds(as_ben, asked):
    one, two = asked(refund(1)), asked(refund(2))
    Request.objects.filter(pk=two.pk).update(policy_version=2)
    assert kinds.of(now(one), one.tool) != kinds.of(now(two), two.tool)


def test_a_policy_may_say_so_only_where_the_risk_is_low() -> None:
    said = {"name": "small", "group": "finance", "bulk": True}
    (fault,) = declared.faults(said)
    assert (fault.key, "low" in fault.sentence) == ("bulk", True)
    assert not declared.faults(said | {"risk": "low"})
    assert declared.problems(said | {"risk": "low", "bulk": "yes"})


# --- who, and how sure ----------------------------------------------------------------------------


def test_what_somebody_may_not_see_is_refused_without_a_word_about_it(client, asked):
    request = asked(refund())
    fay = person("Fay", "approver")
    client.force_login(fay)
    page = crafted(client, REJECT, request)
    assert request.title not in text_of(page)
    assert "A request that you may not see" in text_of(page)
    assert now(request).status == "pending"
    assert Entry.objects.get(verb="decision.refused").actor_id == str(fay.pk)


def test_proof_of_identity_is_asked_for_before_anything_is_decided(client, ben, asked, settings):
    strict = {"name": "strict", "agent": "strict_*", "group": "finance", "risk": "low"}
    proof = {"reauthenticate_within": timedelta(minutes=5), "deadline": timedelta(hours=2)}
    settings.APPROVALS_POLICIES = [strict | proof]
    first_on_the_page, request = asked(refund(1)), asked(refund(2), agent="strict_desk")
    client.force_login(ben)
    page = chosen(client, REJECT, first_on_the_page, request)
    assert form(page)["item"][0].startswith(str(first_on_the_page.pk))
    assert "You will be asked to confirm that it is you." in text_of(page)
    response = client.post(REJECT, form(page))
    assert response.status_code == 302
    assert "reauthenticate" in response["Location"]
    assert not Vote.objects.exists()
    assert Entry.objects.filter(data__refusal="ReauthenticationNeeded").count() == 1

    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    back = client.get(REJECT)
    assert "Nothing of this is decided yet" in text_of(back)
    assert "Fraud wave" in text_of(back)
    assert set(outcomes(client.post(REJECT, form(back))).values()) == {"Rejected"}
    assert Decision.objects.count() == 2


# --- what is said ---------------------------------------------------------------------------------


def test_a_rejection_of_many_needs_its_one_reason(as_ben, asked):
    request = asked(refund())
    page = as_ben.post(REJECT, form(chosen(as_ben, REJECT, request), comment=" "))
    assert page.status_code == 422
    assert "Nothing was decided." in text_of(page)
    assert len(form(page)["item"]) == 1
    entry = Entry.objects.get(verb="decision.refused")
    assert entry.data["wrong"] == {"comment": ["required"]}
    assert entry.data["requests"] == [str(request.pk)]


def test_nothing_ticked_is_said_and_nothing_lost(as_ben, asked):
    request = asked(refund())
    sent = form(chosen(as_ben, REJECT, request)) | {"item": []}
    page = as_ben.post(REJECT, sent)
    assert page.status_code == 422
    assert "Tick at least one of them." in text_of(page)
    assert str(request.pk) in html_of(page)
    assert "Fraud wave" in text_of(page)


def test_nothing_chosen_is_said(as_ben):
    assert "Nothing is chosen Choose some under Approvals" in text_of(chosen(as_ben, REJECT))


def test_the_named_reason_goes_to_those_whose_policy_has_it(as_ben, asked, rule):
    plain_one = asked(refund(1))
    rule(reject_reasons=["No receipt", "Fraud"])
    page = chosen(as_ben, REJECT, plain_one, asked(refund(2)))
    assert "No receipt" in html_of(page)
    missing = as_ben.post(REJECT, form(page))
    assert "Choose the reason for the rejections." in text_of(missing)
    told = outcomes(as_ben.post(REJECT, form(page, reason="Fraud")))
    assert set(told.values()) == {"Rejected"}
    assert set(Vote.objects.values_list("reason", flat=True)) == {"Fraud"}


# --- bounds ---------------------------------------------------------------------------------------


def test_what_was_not_reached_in_time_is_told_and_sent_again(as_ben, asked, monkeypatch):
    requests = [asked(refund(n)) for n in range(3)]
    sent = form(chosen(as_ben, REJECT, *requests))
    monkeypatch.setattr(acts, "PATIENCE", timedelta(0))
    page = as_ben.post(REJECT, sent)
    told = outcomes(page)
    assert set(told.values()) == {"Not reached yet"}
    assert not Vote.objects.exists()
    monkeypatch.setattr(acts, "PATIENCE", timedelta(minutes=1))
    rest = re.findall(r'name="item" value="([^"]+)"', html_of(page))
    assert sorted(rest) == sorted(sent["item"])
    page = as_ben.post(REJECT, sent | {"item": rest})
    assert set(outcomes(page).values()) == {"Rejected"}


def test_more_than_a_page_holds_come_next(as_ben, asked, monkeypatch):
    monkeypatch.setattr(offers, "MOST", 2)
    request, *_ = [asked(refund(n)) for n in range(3)]
    token = kinds.of(request, request.tool).token
    page = as_ben.get(f"{REJECT}?kind={token}")
    assert len(form(page)["item"]) == 2
    assert "1 more of them do not fit" in text_of(page)


def test_the_pages_ask_the_database_as_often_for_many_as_for_one(
    as_ben, asked, django_assert_max_num_queries
):
    token = kinds.of(request := asked(refund()), request.tool).token
    for address in ("/approvals/bulk/", f"{APPROVE}?kind={token}", "/approvals/"):
        as_ben.get(address)  # whatever is looked up once
        light.forget()
        with django_assert_max_num_queries(60) as one:
            as_ben.get(address)
        for n in range(6):
            asked(refund(n))
        light.forget()
        with django_assert_max_num_queries(len(one)):
            assert as_ben.get(address).status_code == 200
        Request.objects.exclude(pk=request.pk).update(status="withdrawn", closed_at=clock.now())


# --- choosing -------------------------------------------------------------------------------------


def test_the_inbox_offers_boxes_for_what_is_the_readers_to_decide(client, as_ben, ada, asked):
    first, second = asked(refund(1)), asked(refund(2))
    html = html_of(as_ben.get("/approvals/"))
    for request in (first, second):
        assert f'name="pick" value="{request.pk}"' in html
    assert "Reject chosen" in html
    assert "Approve chosen" in html
    client.force_login(ada)  # who started the runs
    assert 'name="pick"' not in html_of(client.get("/approvals/?view=pending"))


def test_the_inbox_offers_no_approval_together_where_no_policy_does(as_ben, asked, rule):
    rule(bulk=False)
    asked(refund(1)), asked(refund(2))
    html = html_of(as_ben.get("/approvals/"))
    assert "Reject chosen" in html
    assert "Approve chosen" not in html


def test_all_of_a_kind_are_chosen_by_an_address(as_ben, asked):
    refunds = [asked(refund(n)) for n in range(3)]
    asked(refund(9, tool="payments.credit"))
    page = as_ben.get("/approvals/bulk/")
    assert "Approve 3…" in text_of(page)
    assert "Approve 1…" in text_of(page)
    address = link(page, r'href="([^"]+)">Approve 3')
    sent = form(as_ben.get(address))
    assert {item.split(".")[0] for item in sent["item"]} == {str(each.pk) for each in refunds}


def test_what_was_decided_since_it_was_chosen_is_told_on_the_page(as_ben, asked, eve):
    gone, open_ = asked(refund(1)), asked(refund(2))
    approve(gone, eve)
    page = chosen(as_ben, REJECT, gone, open_)
    assert "Not among them" in text_of(page)
    assert "It does not wait for you any more. Allowed by everybody" in text_of(page)
    assert len(form(page)["item"]) == 1


@pytest.mark.parametrize("address", [APPROVE, REJECT])
def test_looking_at_the_pages_decides_nothing(as_ben, asked, address):
    request = asked(refund())
    token = kinds.of(request, request.tool).token
    as_ben.get(f"{address}?kind={token}&batch=b&item={request.pk}.{request.digest}.t&comment=x")
    as_ben.head(address)
    chosen(as_ben, address, request)
    assert not Vote.objects.exists()
    assert not Entry.objects.filter(verb__startswith="decision.").exists()


def test_the_key_facts_of_the_policy_stand_first_in_a_row(as_ben, asked, rule):
    rule(key_facts=["args.order_id"], summary="Pay back {amount} for order {args.order_id}")
    page = chosen(as_ben, APPROVE, asked(refund(77)))
    text = text_of(page)
    assert "Pay back EUR 12.00 for order 77" in text
    assert "€12.00 · order id 77" in text


def test_a_row_shows_what_the_action_is_about_as_it_was_when_it_was_asked(as_ben, asked):
    about = {"name": "Order 7 of Ada", "facts": {"version": 12}}
    text = text_of(chosen(as_ben, APPROVE, asked(refund(7, target=about))))
    assert "target Order 7 of Ada" in text
    assert "target version 12" in text
