"""Plain questions: who has the right to it, and is asked by the policy, answers with any value."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from approvals import errors
from approvals.models import Decision, Vote
from tests.approvals.conftest import approve, ask, ours, pending, reject
from tests.support.people import person
from tests.support.posting import form_of, offered
from tests.support.web import html_of, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def free(ben):
    ben.user_permissions.add(Permission.objects.get(codename="answer_request"))
    return ben


@pytest.mark.parametrize("question", ["Which?", ["a", "b"], {"any": "thing"}, None, 7])
@pytest.mark.parametrize("value", [False, 0, "", [], "blue", 3.5, {"choice": ["a", None]}])
def test_any_value_reaches_the_agent_as_it_is(asked, free, question, value):
    request = asked(question) if question is not None else _asked_null(asked)
    assert approve(request, free, value=value).decided
    decision = Decision.objects.get()
    assert decision.answer == value
    assert type(decision.answer) is type(value)


def _asked_null(asked: Any) -> Any:
    request = asked("first")
    return ask(request.run, pending(None))


@pytest.mark.parametrize("value", [{}, {"a" * 32: 1}, 2**53, float("nan"), "a\x00b", "x" * 70_000])
def test_a_value_that_would_not_arrive_as_it_is_is_refused(asked, free, value):
    with pytest.raises(errors.BadValue):
        approve(asked("Which?"), free, value=value)
    assert not Vote.objects.exists()


def test_without_the_right_only_a_verdict_counts(asked, ben):
    request = asked("Which?")
    with pytest.raises(errors.BadValue, match="not allowed here"):
        approve(request, ben, value="blue")
    assert approve(request, ben).decided
    assert Decision.objects.get().answer is True


def test_the_right_alone_is_no_leave_to_decide(asked, db):
    olga = person("Olga", "operator", "approver")  # of no group that is asked
    with pytest.raises(errors.NotEligible):
        approve(asked("Which?"), olga, value="blue")


def test_a_rejection_takes_no_value_and_a_question_of_ours_keeps_its_form(asked, free):
    with pytest.raises(errors.BadValue):
        reject(asked("Which?"), free, value="blue")
    request = asked(ours())
    approve(request, free, value="blue")
    assert Decision.objects.get().answer["value"] == "blue"


def test_two_people_of_a_quorum_answer_the_same(asked, free, eve, rule):
    rule(quorum=2)
    request = asked("Which?")
    eve.user_permissions.add(Permission.objects.get(codename="answer_request"))
    approve(request, free, value="blue")
    with pytest.raises(errors.BadValue, match="another value"):
        approve(request, eve, value="red")
    assert approve(request, eve, value="blue").decided


def test_the_page_offers_it_as_json_and_says_what_is_no_json(client, asked, free):
    request = asked("Which?")
    page = reverse("approvals:review", args=[request.pk])
    client.force_login(free)
    response = client.get(page)
    assert "Answer with a value" in text_of(response)
    assert offered(response, "choice") == ["answer"]
    sent = form_of(response)
    (name,) = [each for each in sent if ".v" in each]
    wrong = client.post(page, sent | {name: ["blue"], "choice": ["answer"]})
    assert wrong.status_code == 422
    assert 'aria-invalid="true"' in html_of(wrong)
    sent = form_of(wrong) | {name: ['{"colour": "blue"}']}
    missed = client.post(page, sent | {"verdict": ["approved"]})
    assert missed.status_code == 422  # typed, and another button pressed
    assert client.post(page, sent | {"choice": ["answer"]}).status_code == 302
    assert Decision.objects.get().answer == {"colour": "blue"}
    assert "colour" in text_of(client.get(page))


def test_who_has_not_the_right_is_not_shown_it(client, asked, ben):
    client.force_login(ben)
    page = reverse("approvals:review", args=[asked("Which?").pk])
    assert "Answer with a value" not in text_of(client.get(page))
