"""Deciding on the page, as a browser without scripts sends and gets it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from accounts import proof
from approvals.models import Decision, Request, Vote
from tests.approvals.at_the_page import REFUND, form, page_of, refund
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    entries,
    now,
    pending,
    reject,
)
from tests.support.people import PASSWORD
from tests.support.posting import form_of
from tests.support.web import field, html_of, link, text_of

# --- deciding -------------------------------------------------------------------------------------


def test_an_approval_is_recorded_and_the_page_shows_how_far_it_has_come(as_ben, asked):
    request = asked(refund())
    other = asked(refund("Another one"))
    response = as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "approved"))
    assert response.status_code == 302
    assert response["Location"] == page_of(request)
    decided = as_ben.get(page_of(request))
    text = text_of(decided)
    assert "You approved this" in text
    assert "Recorded" in text
    assert "Next for you: Another one" in text
    assert link(decided, r'rel="next" href="([^"]+)"') == page_of(other)  # what the key ] follows
    assert Decision.objects.get().request == request
    assert now(other).status == "pending"


def test_a_rejection_needs_a_comment(as_ben, asked):
    request = asked(refund())
    response = as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "rejected"))
    assert response.status_code == 422
    assert "A rejection needs a comment" in text_of(response)
    assert "autofocus" in html_of(response)
    assert now(request).status == "pending"
    again = as_ben.post(page_of(request), form(response, "rejected", comment="Out of time."))
    assert again.status_code == 302
    assert Decision.objects.get().comment == "Out of time."


def test_a_comment_that_cannot_be_used_is_kept(as_ben, asked):
    request = asked(refund())
    long = "x" * 10_001
    response = as_ben.post(
        page_of(request), form(as_ben.get(page_of(request)), "approved", comment=long)
    )
    assert response.status_code == 422
    assert long in html_of(response)


def test_the_same_form_twice_is_one_vote(as_ben, asked):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved")
    answers = [as_ben.post(page_of(request), sent) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302]
    assert Vote.objects.count() == Decision.objects.count() == 1


def test_a_second_tab_is_told_what_the_first_one_did(as_ben, asked):
    request = asked(refund())
    first, second = (as_ben.get(page_of(request)) for _ in range(2))
    as_ben.post(page_of(request), form(first, "approved"))
    response = as_ben.post(page_of(request), form(second, "rejected", comment="No, wait."))
    assert response.status_code == 409
    assert "You approved this" in text_of(response)
    assert "What you sent just now did not count." in text_of(response)
    assert "No, wait." in text_of(response)


def test_who_is_second_learns_who_was_first_and_keeps_the_comment(as_ben, asked, eve):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved", comment="Looks fine to me.")
    reject(request, eve)
    response = as_ben.post(page_of(request), sent)
    assert response.status_code == 409
    text = text_of(response)
    assert "Eve rejected this just now. What you sent just now did not count." in text
    assert "Your comment not sent Looks fine to me." in text
    assert "Approve" not in text.replace("Approvals", "")


def test_a_changed_question_is_asked_anew_and_the_comment_is_kept(as_ben, waiting_run):
    run = waiting_run()
    old = ask(run, pending(refund()))
    sent = form(as_ben.get(page_of(old)), "approved", comment="Fine for 600.")
    new = ask(run, pending(refund(args=REFUND | {"amount_cents": 64900})))
    response = as_ben.post(page_of(old), sent)
    assert response.status_code == 409
    text = text_of(response)
    assert "The question has changed since you opened it." in text
    assert "args.amount_cents 60000 → 64900" in text
    assert "Approve €649.00" in text
    assert "Fine for 600." in text
    assert field(response, "digest") == new.digest
    assert f'action="{page_of(new)}"' in html_of(response)
    assert not Vote.objects.exists()


def test_values_typed_for_a_question_that_has_changed_are_shown_and_not_sent(
    as_ben, waiting_run, rule
):
    rule(editable=["amount_cents"])
    run = waiting_run()
    old = ask(run, pending(refund()))
    page = as_ben.get(page_of(old))
    sent = form_of(page)
    name = next(each for each in sent if each.endswith(".v.0"))
    sent |= {name: ["59999"], "choice": ["edit"]}
    ask(run, pending(refund(args=REFUND | {"amount_cents": 64900})))
    response = as_ben.post(page_of(old), sent)
    assert response.status_code == 409
    html = html_of(response)
    assert re.search(r"<textarea[^>]*readonly>59999</textarea>", html)
    assert 'value="59999"' not in html
    assert "What you had entered" in text_of(response)
    assert not Vote.objects.exists()


@pytest.mark.parametrize("name", ["goto", "update", "resume", "command"])
def test_what_only_a_command_for_langgraph_has_is_refused_and_not_ignored(as_ben, asked, name):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved") | {name: "pay"}
    assert as_ben.post(page_of(request), sent).status_code == 400
    assert not Vote.objects.exists()
    (entry,) = entries(request, "decision.refused")
    assert (entry.data["refusal"], entry.data["wrong"]) == ("NotTaken", [name])


def test_a_body_that_is_no_form_is_refused(as_ben, asked):
    request = asked(refund())
    response = as_ben.post(
        page_of(request), {"resume": "yes", "goto": "pay"}, content_type="application/json"
    )
    assert response.status_code == 400
    assert not Vote.objects.exists()


def test_a_late_verdict_is_called_late_and_nothing_looks_like_success(as_ben, asked):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved", comment="In time?")
    due_in(request, timedelta(seconds=-1))
    response = as_ben.post(page_of(request), sent)
    assert response.status_code == 409
    text = text_of(response)
    assert "Too late" in text
    assert "The request has expired" in text
    assert "In time?" in text
    assert "notice tone-ok" not in html_of(response)
    assert now(request).status == "expired"
    assert not Vote.objects.exists()


def test_who_started_the_run_may_only_reject(client, ada, asked):
    client.force_login(ada)
    request = asked(refund())
    response = client.get(page_of(request))
    assert 'value="approved"' not in html_of(response)
    assert "You started this run, so somebody else has to approve." in text_of(response)
    refused = client.post(page_of(request), form(response, "approved", comment="Mine."))
    assert refused.status_code == 403
    assert "What you sent did not count." in text_of(refused)
    assert "Mine." in html_of(refused)
    assert entries(request, "decision.refused")[0].actor_label == "Ada"
    client.post(page_of(request), form(response, "rejected", comment="Mistake."))
    assert now(request).status == "rejected"


def test_who_lost_the_right_after_opening_the_page_is_refused(as_ben, ben, asked):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved")
    Request.objects.update(groups=["legal"])  # so that Ben still sees a request of his groups
    ben.groups.remove(*ben.groups.filter(name="finance"))
    ben.groups.create(name="legal")
    response = as_ben.post(page_of(request), sent)
    assert response.status_code == 403
    assert "Only members of finance decide this" in text_of(response)
    assert not Vote.objects.exists()


def test_one_of_two_is_recorded_and_the_other_is_waited_for(as_ben, asked, eve, rule):
    rule(quorum=2)
    request = asked(refund())
    as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "approved"))
    text = text_of(as_ben.get(page_of(request)))
    assert "Your approval is recorded. 1 more person has to approve." in text
    assert now(request).status == "pending"
    approve(request, eve)
    assert "Ben, Eve approved this" in text_of(as_ben.get(page_of(request)))


@pytest.mark.parametrize("missing", ["digest", "token", "verdict"])
def test_an_incomplete_form_decides_nothing(as_ben, asked, missing):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved", comment="Kept.")
    del sent[missing]
    response = as_ben.post(page_of(request), sent)
    assert response.status_code == 422
    assert "Nothing was decided." in text_of(response)
    assert "Kept." in html_of(response)
    assert now(request).status == "pending"


def test_a_client_cannot_say_who_decides(as_ben, asked, eve):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved")
    extra = {"decided_by": str(eve.pk), "actor": "Eve", "value": "9"}
    as_ben.post(page_of(request), sent | extra)
    decision = Decision.objects.get()
    assert decision.decider == "Ben"
    assert decision.value is None
    assert decision.answer.keys() == {"decision", "value", "comment", "digest", "by"}


def test_a_question_that_nobody_can_answer_has_no_buttons(as_ben, asked):
    request = asked(
        {
            "action_requests": [{"name": "send_email", "args": {"to": "a"}, "description": "d"}],
            "review_configs": [],
        }
    )
    response = as_ben.get(page_of(request))
    assert "not a sound one" in text_of(response)
    assert 'name="verdict"' not in html_of(response)
    assert 'name="choice"' not in html_of(response)


def test_only_what_the_agent_allows_has_a_button(as_ben, asked):
    request = asked(
        {
            "action_requests": [{"name": "send_email", "args": {"to": "a"}, "description": "d"}],
            "review_configs": [{"action_name": "send_email", "allowed_decisions": ["approve"]}],
        }
    )
    html = html_of(as_ben.get(page_of(request)))
    assert 'value="approved"' in html
    assert 'value="rejected"' not in html
    assert 'value="respond"' not in html


# --- proving who one is ---------------------------------------------------------------------------


def test_a_policy_may_ask_for_a_recent_sign_in_and_nothing_is_decided_on_the_way_back(
    as_ben, asked, rule
):
    rule(reauthenticate_within=timedelta(minutes=5))
    request = asked(refund())
    page = as_ben.get(page_of(request))
    assert "You will be asked to confirm that it is you." in text_of(page)
    sent = form(page, "approved", comment="Checked twice.")
    to_proof = as_ben.post(page_of(request), sent)
    assert to_proof.status_code == 302
    assert to_proof["Location"].startswith("/accounts/reauthenticate/?next=")

    back = as_ben.post(to_proof["Location"], {"password": PASSWORD})
    assert back["Location"] == page_of(request)
    page = as_ben.get(page_of(request))
    assert now(request).status == "pending"
    assert "Nothing is decided yet" in text_of(page)
    assert "You will be asked" not in text_of(page)
    assert "Checked twice." in html_of(page)

    as_ben.post(page_of(request), form(page, "approved", comment="Checked twice."))
    assert now(request).status == "approved"
    assert proof.KEPT not in as_ben.session or not as_ben.session[proof.KEPT]


def test_a_form_after_the_session_has_ended_decides_nothing_and_shows_the_comment(as_ben, asked):
    request = asked(refund())
    sent = form(as_ben.get(page_of(request)), "approved", comment="Do not lose me.")
    as_ben.logout()
    response = as_ben.post(page_of(request), sent)
    assert response.status_code == 403
    assert "Do not lose me." in html_of(response)
    assert now(request).status == "pending"
