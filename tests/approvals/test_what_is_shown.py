"""What a policy has the pages show: a summary of the server's own, key facts, and masked fields."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.urls import reverse

from approvals import details
from approvals.policies import masks
from approvals.policies.steps import Mask
from tests.approvals.conftest import approve, ask, now, ours, pending
from tests.support.people import PASSWORD, person
from tests.support.web import field, html_of, text_of

pytestmark = pytest.mark.django_db

IBAN = "DE02120300000000202051"
ARGS = {"order_id": "A-7", "amount_cents": 12_345, "currency": "EUR", "to": {"iban": IBAN}}


def page_of(request) -> str:
    return reverse("approvals:review", args=[request.pk])


@pytest.fixture
def masked(asked, rule):
    """A request whose account number only the treasury sees."""
    rule(masked=["args.to.iban: treasury"], summary="Refund {amount} for order {args.order_id}")
    return asked(ours("Routine, approved by the CFO", args=ARGS, why="Please."))


@pytest.mark.parametrize(
    ("value", "root", "shown"),
    [
        ({"to": {"iban": "x"}}, "args", {"to": {"iban": masks.HIDDEN}}),
        ({"to": {"iban": ""}}, "args", {"to": {"iban": ""}}),
        ({"to": "x"}, "args", {"to": "x"}),
        ({"args": {"to": {"iban": "x"}}}, "payload", {"args": {"to": {"iban": masks.HIDDEN}}}),
        (
            {"action_requests": [{"args": {"to": {"iban": "x"}}}, {"args": None}]},
            "payload",
            {"action_requests": [{"args": {"to": {"iban": masks.HIDDEN}}}, {"args": None}]},
        ),
        ([{"to": {"iban": "x"}}], "args", [{"to": {"iban": "x"}}]),
        (None, "args", None),
    ],
)
def test_a_masked_field_is_hidden_where_it_stands(value, root, shown):
    assert masks.cover(value, [Mask.parse("args.to.iban")], root=root).value == shown


def test_a_mask_may_name_a_field_of_the_question_and_a_place_in_a_list():
    payload = {"notes": [{"text": "a"}, {"text": "b"}]}
    covered = masks.cover(payload, [Mask.parse("payload.notes.1.text")], root="payload")
    assert covered.value == {"notes": [{"text": "a"}, {"text": masks.HIDDEN}]}
    assert covered.hidden == 1
    assert payload["notes"][1] == {"text": "b"}


BATCH = {
    "action_requests": [{"name": "pay", "args": {"to": {"iban": IBAN}}}],
    "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]}],
}
INBOX = {
    "action_request": {"action": "pay", "args": {"iban": IBAN}},
    "config": {"allow_accept": True, "allow_ignore": True},
}


@pytest.mark.parametrize(
    ("value", "mask"),
    [
        (ours(args=ARGS), "payload"),
        (BATCH, "payload"),
        (BATCH, "payload.action_requests"),
        (INBOX, "payload"),
        (INBOX, "payload.action_request"),
        ({"to": IBAN}, "payload"),
    ],
    ids=["ours", "batch", "calls", "inbox", "action", "plain"],
)
@pytest.mark.parametrize("since", ["before", "meanwhile"])
def test_a_policy_may_hide_all_of_a_question(client, waiting_run, rule, ben, value, mask, since):
    run = waiting_run()
    if since == "before":
        rule(masked=[f"{mask}: treasury"])
    request = ask(run, pending(value))
    rule(masked=[f"{mask}: treasury"])
    for reader, shown in ((ben, False), (person("Tess", "finance", "approver", "treasury"), True)):
        client.force_login(reader)
        assert (IBAN in html_of(client.get(page_of(request)))) is shown
        for page in (reverse("approvals:inbox"), reverse("runs:tab", args=[run.pk, "approvals"])):
            assert client.get(page).status_code == 200


def test_only_members_of_the_named_groups_see_it(client, masked, ben):
    client.force_login(ben)
    page = client.get(page_of(masked))
    assert IBAN not in html_of(page)
    assert "The policy hides 1 value from you." in text_of(page)
    download = client.get(reverse("approvals:payload", args=[masked.pk])).content.decode()
    assert IBAN not in download
    assert json.loads(download)["args"]["to"]["iban"] == masks.HIDDEN
    tom = person("Tom", "finance", "treasury", "approver")
    client.force_login(tom)
    assert IBAN in html_of(client.get(page_of(masked)))


def test_what_is_hidden_is_hidden_in_the_difference_and_in_votes_too(
    client, masked, rule, ben, eve
):
    rule(quorum=2)
    other = {**ARGS, "to": {"iban": "GB33BUKB20201555555555"}}
    newer = ask(masked.run, pending(ours("Routine", args=other)))
    approve(newer, eve)
    client.force_login(ben)
    text = html_of(client.get(page_of(newer)))
    assert "What changed since the round before" in text
    assert IBAN not in text
    assert "GB33" not in text


def test_what_is_hidden_is_hidden_in_changes_that_others_propose(client, asked, rule, ben):
    rule(masked=["args.to.iban: treasury"], editable=["amount_cents"])
    request = asked(ours(args=ARGS))
    tom = person("Tom", "finance", "treasury", "approver")
    assert approve(request, tom, args={**ARGS, "amount_cents": 99}).missing == 1
    client.force_login(ben)
    assert IBAN not in html_of(client.get(page_of(request)))
    (vote,) = details.of(request.pk, ben).votes
    assert vote.args == {**ARGS, "amount_cents": 99, "to": {"iban": masks.HIDDEN}}


def test_hiding_changes_nothing_that_is_kept_or_compared(masked, ben):
    detail = details.of(masked.pk, ben)
    assert isinstance(detail.payload, dict)
    assert detail.payload["args"]["to"]["iban"] == masks.HIDDEN
    assert now(masked).payload["args"]["to"]["iban"] == IBAN
    assert detail.digest == masked.digest
    assert approve(masked, ben).decided


def test_who_does_not_see_all_may_change_nothing(masked, rule, ben):
    rule(masked=["args.to.iban: treasury"], editable=["amount_cents"])
    masked.policy["editable"] = ["amount_cents"]
    masked.save(update_fields=["policy"])
    assert not details.of(masked.pk, ben).gate.may_change("amount_cents")
    assert details.of(masked.pk, ben, reveal=True).gate.may_change("amount_cents")


def test_a_look_behind_needs_the_permission_and_is_recorded(client, masked, ben):
    rut = person("Rut", "finance")
    client.force_login(rut)
    assert IBAN not in html_of(client.get(page_of(masked)))
    assert IBAN in html_of(client.get(page_of(masked) + "?reveal=1"))
    client.force_login(ben)
    assert client.get(page_of(masked) + "?reveal=1").status_code == 403


def test_a_policy_of_now_that_masks_hides_in_requests_of_before(client, asked, rule, ben):
    request = asked(ours(args=ARGS))
    client.force_login(ben)
    assert IBAN in html_of(client.get(page_of(request)))
    rule(masked=["args.to.iban"])
    assert IBAN not in html_of(client.get(page_of(request)))


def test_the_servers_summary_stands_above_the_agents_words(client, masked, ben):
    client.force_login(ben)
    assert masked.title == "Refund EUR 123.45 for order A-7"
    page = text_of(client.get(page_of(masked)))
    assert page.index("Refund EUR 123.45 for order A-7") < page.index("Why the agent asks")
    assert page.index("Routine, approved by the CFO") > page.index("Its own words, unchecked")
    assert "Refund EUR 123.45 for order A-7" in text_of(client.get(reverse("approvals:inbox")))


def test_a_summary_that_cannot_be_filled_is_left_out(asked, rule, ben):
    rule(summary="Refund {amount} to {args.nobody}")
    request = asked(ours("Refund order 7?", args=ARGS))
    assert request.title == "Refund order 7?"
    assert details.of(request.pk, ben).summary == ""


def test_what_is_masked_does_not_come_out_through_summary_title_or_key_facts(asked, rule, ben):
    rule(
        masked=["args.to.iban: treasury"],
        summary="Pay to {args.to.iban}",
        key_facts=["args.to.iban"],
    )
    request = asked(ours(args=ARGS))
    assert request.title == f"Pay to {masks.HIDDEN}"
    detail = details.of(request.pk, ben)
    assert detail.summary == f"Pay to {masks.HIDDEN}"
    assert detail.key_facts == (("args.to.iban", masks.HIDDEN),)


def test_key_facts_come_first(client, asked, rule, ben):
    rule(key_facts=["args.to.iban", "args.nothing"])
    client.force_login(ben)
    page = text_of(client.get(page_of(asked(ours(args=ARGS)))))
    assert f"args.to.iban {IBAN}" in page
    assert "args.nothing" not in page


def test_a_rejection_names_its_reason_on_the_page(client, asked, rule, ben):
    rule(reject_reasons=["Wrong amount", "No receipt"])
    request = asked()
    client.force_login(ben)
    page = client.get(page_of(request))
    assert "No receipt" in html_of(page)
    sent = {"verdict": "rejected", "comment": "See mail", "digest": field(page, "digest")}
    sent |= {"token": field(page, "token"), "reason": ""}
    refused = client.post(page_of(request), sent)
    assert refused.status_code == 422
    assert "Choose the reason for the rejection" in text_of(refused)
    assert client.post(page_of(request), sent | {"reason": "No receipt"}).status_code == 302
    assert now(request).decision.comment == "No receipt: See mail"


def test_a_reason_that_was_chosen_says_nothing_about_an_approval(client, asked, rule, ben):
    rule(reject_reasons=["Wrong amount"])
    request = asked()
    client.force_login(ben)
    page = client.get(page_of(request))
    sent = {"verdict": "approved", "digest": field(page, "digest"), "token": field(page, "token")}
    assert client.post(page_of(request), sent | {"reason": "Wrong amount"}).status_code == 302
    assert now(request).decision.comment == ""


def test_the_chosen_reason_is_kept_while_somebody_proves_who_they_are(client, asked, rule, ben):
    rule(reject_reasons=["Wrong amount"], reauthenticate_within=timedelta(minutes=5))
    request = asked()
    client.force_login(ben)
    page = client.get(page_of(request))
    sent = {"verdict": "rejected", "comment": "c", "reason": "Wrong amount"}
    sent |= {"digest": field(page, "digest"), "token": field(page, "token")}
    away = client.post(page_of(request), sent)
    client.post(away.url, {"password": PASSWORD})
    assert "<option selected>Wrong amount</option>" in html_of(client.get(page_of(request)))


def test_who_needs_a_passkey_and_has_none_is_led_to_where_one_is_added(client, asked, rule, ben):
    rule(passkey=True, reauthenticate_within=timedelta(minutes=5))
    request = asked()
    client.force_login(ben)
    page = client.get(page_of(request))
    sent = {"verdict": "approved", "digest": field(page, "digest"), "token": field(page, "token")}
    away = client.post(page_of(request), sent)
    assert away.url.startswith("/accounts/2fa/webauthn/add/")
    assert now(request).status == "pending"
