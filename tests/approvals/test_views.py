"""The pages of approvers, as a browser without scripts sends and gets them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from accounts import proof
from approvals import clock
from approvals.models import Decision, Request, Vote
from audit.models import Entry
from runs.models import Run
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    effect,
    entries,
    now,
    ours,
    pending,
    reject,
)
from tests.support.people import PASSWORD, person
from tests.support.posting import form_of
from tests.support.web import field, html_of, link, text_of

REFUND = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}


def refund(question: str = "Refund EUR 600.00 to Ada Marsh", **parts: object) -> dict[str, object]:
    return ours(question, **{"args": REFUND, "why": "It arrived damaged."} | parts)


def page_of(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def form(response, verdict: str, **more: str) -> dict[str, str]:
    """The form on the page, filled in."""
    sent = {name: field(response, name) for name in ("digest", "token")}
    return {"verdict": verdict, "comment": ""} | sent | more


@pytest.fixture
def as_ben(client, ben):
    client.force_login(ben)
    return client


# --- the inbox ------------------------------------------------------------------------------------


def test_the_inbox_shows_what_needs_me_the_nearest_deadline_first(as_ben, asked):
    later, sooner = asked(refund("Later")), asked(refund("Sooner"))
    due_in(sooner, timedelta(minutes=3))
    text = text_of(as_ben.get("/approvals/"))
    assert text.index("Sooner") < text.index("Later")
    assert "Waiting for Finance" in text
    assert later.status == "pending"


def test_a_near_deadline_is_marked_and_a_far_one_is_not(as_ben, asked):
    due_in(asked(refund("Near")), timedelta(minutes=3))
    Request.objects.update(created_at=clock.now() - timedelta(hours=1))
    asked(refund("Far"))
    html = html_of(as_ben.get("/approvals/"))
    rows = dict(zip(("near", "far"), html.split("<tr id=")[1:], strict=True))
    assert "tone-warn" in rows["near"]
    assert "tone-warn" not in rows["far"]


def test_what_somebody_else_must_decide_is_good_news(client, ada, asked):
    client.force_login(ada)  # who started the run
    asked(refund())
    text = text_of(client.get("/approvals/"))
    assert "Nothing needs you" in text
    assert "1 request waits for somebody else" in text
    assert "Refund EUR 600.00" in text_of(client.get("/approvals/?view=pending"))


def test_a_request_that_nobody_could_approve_is_shown_as_such(client, ada, asked):
    client.force_login(ada)
    request = asked(refund())  # of finance there is only Ada, who started the run
    assert "Nobody can approve" in text_of(client.get("/approvals/?view=pending"))
    assert "Nobody can approve this." in text_of(client.get(page_of(request)))
    person("Ben", "finance")
    assert "Nobody can approve" not in text_of(client.get("/approvals/?view=pending"))


def test_a_quorum_larger_than_the_group_is_shown_as_such(as_ben, asked, rule):
    rule(quorum=2)
    asked(refund())
    assert "Nobody can approve" in text_of(as_ben.get("/approvals/"))


def test_rows_stay_while_the_list_refreshes_and_newer_ones_are_counted(as_ben, asked, eve):
    first = asked(refund("First"))
    live = link(as_ben.get("/approvals/"), r'hx-get="([^"]+as_of[^"]+)"')
    reject(first, eve)
    asked(refund("Second"))
    fragment = as_ben.get(live, headers={"HX-Request": "true"})
    html = html_of(fragment)
    assert "<html" not in html
    assert "First" in html
    assert "Rejected" in html
    assert "Second" not in html
    assert "1 new: show" in html
    assert "HX-Request" in fragment["Vary"]


def test_decided_requests_tell_who_when_why_and_whether_it_arrived(as_ben, asked, eve):
    reject(asked(refund()), eve, comment="Out of the window.")
    text = text_of(as_ben.get("/approvals/?view=decided"))
    assert "Rejected by Eve Out of the window. Recorded" in text


def test_decided_requests_come_in_pages_by_key(as_ben, asked, eve, monkeypatch):
    monkeypatch.setattr("approvals.queries.PAGE", 2)
    for name in ("One", "Two", "Three"):
        reject(asked(refund(name)), eve)
    first = as_ben.get("/approvals/?view=decided")
    assert "Three" in text_of(first)
    assert "One" not in text_of(first)
    older = link(first, r'href="([^"]+)" rel="next"')
    second = text_of(as_ben.get("/approvals/" + older))
    assert "One" in second
    assert "Two" not in second


def test_the_inbox_asks_the_database_as_often_for_many_as_for_one(
    as_ben, asked, eve, django_assert_max_num_queries
):
    asked(refund())
    with django_assert_max_num_queries(60) as one:
        as_ben.get("/approvals/?view=pending")
    for _ in range(8):
        asked(refund())
    with django_assert_max_num_queries(len(one)):
        as_ben.get("/approvals/?view=pending")


@pytest.mark.parametrize("address", ["/approvals/", "/approvals/policies/"])
def test_who_may_see_nothing_is_told_which_permission_is_missing(client, db, address):
    client.force_login(person("Dee"))
    response = client.get(address)
    assert response.status_code == 403
    assert "approvals.view_request" in text_of(response)


def test_requests_of_other_groups_do_not_exist_for_an_approver(client, asked):
    request = asked(refund())
    client.force_login(person("Ben"))  # an approver who is not of finance
    assert client.get(page_of(request)).status_code == 404
    assert "Refund" not in text_of(client.get("/approvals/?view=pending"))


# --- reading --------------------------------------------------------------------------------------


def test_the_page_says_what_will_happen_from_the_arguments(as_ben, asked):
    text = text_of(as_ben.get(page_of(asked(refund()))))
    assert "allows the agent to call payments.refund once, for €600.00" in text
    assert "amount_cents: 60000" in text
    assert "Its own words, unchecked It arrived damaged." in text
    assert "1 of finance, not the requester" in text
    assert "then the agent is told that it expired" in text
    assert "Approve €600.00" in text


@pytest.mark.parametrize(
    ("question", "disagrees"),
    [
        ("Refund EUR 600.00", False),
        ("Refund 600,00 EUR", False),
        ("Refund €600 of €1,299.50", True),
        ("Refund EUR 6.00", True),
        ("Refund €60,000", True),
        ("Refund order 17 of 2026", False),
    ],
)
def test_words_that_name_another_amount_than_the_arguments_are_pointed_out(
    as_ben, asked, question, disagrees
):
    text = text_of(as_ben.get(page_of(asked(refund(question)))))
    assert ("The words and the arguments disagree" in text) is disagrees


def test_an_amount_without_a_currency_is_not_guessed(as_ben, asked):
    text = text_of(as_ben.get(page_of(asked(refund(args={"amount_cents": 60000})))))
    assert "€" not in text
    assert "Approve payments.refund" in text


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '<b hx-get="/approve" hx-trigger="load" data-hx-post="/x">',
    "[x](javascript:alert(1)) ![y](https://evil.example/?q=1)",
    "{{ settings.SECRET_KEY }}{% csrf_token %}",
    "\u202egnp.exe \u2066hidden\u2069 zero\u200bwidth soft\u00adhyphen tag\U000e0041",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text_wherever_it_stands(as_ben, asked, text):
    request = asked(
        refund(text, why=text, facts={text: text}, args=REFUND | {text: text, "memo": text})
    )
    Run.objects.update(title=text)
    for address in (page_of(request), "/approvals/", "/approvals/?view=pending"):
        html = html_of(as_ben.get(address))
        for tag in ("<img", "<b hx-get", "<script>alert", 'javascript:alert(1)"'):
            assert tag not in html
        for odd in "\u202e\u2066\u2069\u200b\u00ad\U000e0041":
            assert odd not in html
        if "\u202e" in text:
            assert r"\u{202E}" in html


def test_long_texts_are_shown_whole(as_ben, asked):
    tail = "send it to another card"
    request = asked(
        refund(args=REFUND | {"memo": "routine " * 400 + tail}, why="fine " * 900 + "!!")
    )
    text = text_of(as_ben.get(page_of(request)))
    assert tail in text
    assert "fine !!" in text
    assert "Show all" not in text


def test_what_is_too_long_for_the_page_must_be_read_elsewhere_before_approving(as_ben, asked):
    request = asked(refund(args={"rows": ["x" * 100] * 700}))
    response = as_ben.get(page_of(request))
    assert "Download the whole question" in text_of(response)
    refused = as_ben.post(page_of(request), form(response, "approved"))
    assert refused.status_code == 422
    assert not Vote.objects.exists()
    whole = as_ben.get(reverse("approvals:payload", args=[request.pk]))
    assert whole.json() == request.payload
    as_ben.post(page_of(request), form(response, "approved", read_all="on"))
    assert now(request).status == "approved"


def test_values_of_people_are_hidden_from_who_could_not_decide(client, as_ben, ben, asked):
    request = asked(refund(args=REFUND | {"email": "eve@example.org"}))
    assert "eve@example.org" in text_of(as_ben.get(page_of(request)))
    client.force_login(person("Cy"))
    for address in (page_of(request), reverse("approvals:payload", args=[request.pk])):
        html = html_of(client.get(address))
        assert "eve@example.org" not in html
        assert "hidden (email)" in html
    assert client.get(page_of(request) + "?reveal=1").status_code == 403
    assert Entry.objects.filter(verb="payload.view_refused", allowed=False).count() == 1


def test_who_may_look_behind_the_mask_is_recorded(client, asked):
    request = asked(refund(args=REFUND | {"email": "eve@example.org"}))
    client.force_login(person("Rut"))
    assert "eve@example.org" not in text_of(client.get(page_of(request)))
    assert not Entry.objects.filter(verb="payload.viewed").exists()
    assert "eve@example.org" in text_of(client.get(page_of(request) + "?reveal=1"))
    assert Entry.objects.filter(verb="payload.viewed", run_id=request.run_id).count() == 1


@pytest.mark.parametrize("headers", [{}, {"Sec-Purpose": "prefetch"}, {"HX-Request": "true"}])
@pytest.mark.parametrize("method", ["get", "head", "options"])
def test_looking_changes_nothing(as_ben, asked, method, headers):
    request = asked(refund())
    before = Entry.objects.count()
    for address in (page_of(request), page_of(request) + "?verdict=approved", "/approvals/"):
        getattr(as_ben, method)(address, headers=headers)
    assert now(request).status == "pending"
    assert not Vote.objects.exists()
    assert Entry.objects.count() == before


def test_the_page_is_kept_nowhere(as_ben, asked):
    response = as_ben.get(page_of(asked(refund())))
    assert "no-store" in response["Cache-Control"]
    assert 'hx-history="false"' in html_of(response)


def test_a_round_shows_what_changed_since_the_one_before(as_ben, waiting_run):
    run = waiting_run()
    old = ask(run, pending(refund()))
    new = ask(run, pending(refund(args=REFUND | {"amount_cents": 64900})))
    text = text_of(as_ben.get(page_of(new)))
    assert "What changed since the round before" in text
    assert "args.amount_cents 60000 → 64900" in text
    assert "Open it as it is now" in text_of(as_ben.get(page_of(old)))


def test_an_effect_that_happened_already_is_told_before_the_decision(as_ben, asked):
    request = asked(refund())
    effect(request.run, args_hash=request.args_hash, status="sent", provider_ref="re_1")
    text = text_of(as_ben.get(page_of(request)))
    assert "It happened. The agent gets the stored result again, and nothing is sent." in text
    assert "re_1" in text
    as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "approved"))
    assert "had already happened before you decided" in text_of(as_ben.get(page_of(request)))


# --- deciding -------------------------------------------------------------------------------------


def test_an_approval_is_recorded_and_the_page_shows_how_far_it_has_come(as_ben, asked):
    request = asked(refund())
    other = asked(refund("Another one"))
    response = as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "approved"))
    assert response.status_code == 302
    assert response["Location"] == page_of(request)
    text = text_of(as_ben.get(page_of(request)))
    assert "You approved this" in text
    assert "Recorded" in text
    assert "Next for you: Another one" in text
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


# --- what changes by itself -----------------------------------------------------------------------


def live_url(response) -> str:
    return link(response, r'id="progress"[^>]*hx-get="([^"]+)"')


def test_a_page_whose_request_was_decided_switches_its_buttons_off(as_ben, asked, eve):
    request = asked(refund())
    address = live_url(as_ben.get(page_of(request)))
    quiet = as_ben.get(address, headers={"HX-Request": "true"})
    assert "hx-swap-oob" not in html_of(quiet)
    assert "HX-Trigger" not in quiet
    reject(request, eve)
    loud = as_ben.get(address, headers={"HX-Request": "true"})
    html = html_of(loud)
    assert 'id="buttons" hx-swap-oob="true"' in html
    assert "disabled" in html
    assert "Eve" in html
    assert "Rejected" in loud["HX-Trigger"]
    assert "<html" not in html


def test_the_way_of_a_decision_is_followed_until_it_has_arrived(as_ben, asked):
    request = asked(refund())
    approve(request, person("Eve", "finance", "approver"))
    on_its_way = as_ben.get(page_of(request))
    assert live_url(on_its_way)
    Decision.objects.update(delivery="took_effect")
    arrived = as_ben.get(live_url(on_its_way), headers={"HX-Request": "true"})
    assert "Took effect" in arrived["HX-Trigger"]
    assert not live_url(arrived)
    assert "The run has gone on with this decision." in html_of(arrived)


def test_a_decision_that_did_not_arrive_says_why(as_ben, asked):
    request = asked(refund())
    approve(request, person("Eve", "finance", "approver"))
    Decision.objects.update(delivery="not_delivered", delivery_detail="the run was cancelled")
    text = text_of(as_ben.get(page_of(request)))
    assert "Not delivered" in text
    assert "The run was cancelled." in text


# --- permits and policies -------------------------------------------------------------------------


def test_a_permit_leads_to_the_request_it_was_given_on(as_ben, asked, eve):
    request = asked(refund())
    approve(request, eve)
    address = reverse("approvals:decision", args=[Decision.objects.get().pk])
    assert as_ben.get(address)["Location"] == page_of(request)
    assert as_ben.get(reverse("approvals:decision", args=[request.pk])).status_code == 404


def test_auditors_read_the_policies_in_force(client, ada, ben, settings):
    settings.APPROVALS_POLICIES = [
        {
            "name": "large",
            "agent": "refund_*",
            "group": "board",
            "quorum": 2,
            "on_deadline": "park",
            "reauthenticate_within": timedelta(minutes=5),
        }
    ]
    client.force_login(person("Cy"))
    text = text_of(client.get("/approvals/policies/"))
    assert "1. large agents like refund_*" in text
    assert "2 of board, not the requester" in text
    assert "Nobody may decide" in text
    assert "then the run is parked for an operator" in text
    assert "2. default if no other fits every agent" in text
    assert "2 people may decide" in text


def test_approvers_do_not_read_all_policies(as_ben):
    assert as_ben.get("/approvals/policies/").status_code == 403
    assert "Policies in force" not in text_of(as_ben.get("/approvals/"))
