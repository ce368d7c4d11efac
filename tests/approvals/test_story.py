"""What the pages of a run tell about its requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.models import User
from approvals.models import Decision, Request
from approvals.status import STATES
from approvals.story import Story
from runs.models import Run
from runs.story import Event, Notice, Phrase
from tests.approvals.conftest import approve, due_in, now, reject
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db
STORY = Story()


def noticed(run: Run, user: User) -> Notice:
    notice = STORY.notice(run, user)
    assert notice is not None
    return notice


def words(phrase: Phrase) -> str:
    return "".join("<time>" if piece.at else piece.text for piece in phrase)


def told(request: Request, user: User) -> list[Event]:
    return STORY.events(request.run_id, user, since=make.ago(hours=1), until=None)


@pytest.fixture
def request_(asked):
    return asked()


def test_an_open_question_is_counted_listed_and_noticed(request_, ben) -> None:
    run = request_.run
    assert STORY.count(run.pk, ben) == 1
    (item,) = STORY.items(run.pk, ben)
    assert (item.title, item.state.label, item.detail) == (request_.title, "Waiting", "finance")
    notice = noticed(run, ben)
    assert notice.tone == "human"
    assert notice.url.endswith(f"/approvals/{request_.pk}/")
    assert words(notice.text).startswith("Waits for finance: Refund order 7? Asked <time>;")


def test_a_title_that_ends_no_sentence_gets_a_full_stop(request_, ben) -> None:
    request_.title = "Refund it"
    request_.save()
    assert words(noticed(request_.run, ben).text).startswith("Waits for finance: Refund it. Asked")


def test_only_who_may_decide_is_called_to_review(request_, ben) -> None:
    assert noticed(request_.run, person("Ada2", "operator")).action == "See request"
    ben.groups.add(*person("Ben2", "approver").groups.all())
    assert noticed(request_.run, type(ben).objects.get(pk=ben.pk)).action == "Review request"


def test_who_may_not_see_a_request_is_told_nothing_of_it(request_, db) -> None:
    stranger = person("Eve", "approver")
    run = request_.run
    assert STORY.count(run.pk, stranger) == 0
    assert STORY.items(run.pk, stranger) == []
    assert STORY.notice(run, stranger) is None
    assert STORY.remarks([run.pk], stranger) == {}
    assert told(request_, stranger) == []


def test_a_list_says_what_is_asked_of_whom_until_when(request_, db) -> None:
    operator = person("Ada2", "operator")
    remark = STORY.remarks([request_.run_id], operator)[request_.run_id]
    assert remark.state is None
    assert words(remark.reason) == f"{request_.title} · finance · deadline <time>"


def test_of_several_questions_the_next_deadline_counts(asked, waiting_run, db) -> None:
    run = waiting_run()
    operator = person("Ada2", "operator")
    soon = asked(run=run)
    due_in(soon, timedelta(minutes=5))
    soon.pk, soon.interrupt_id, soon.title = None, "other", "Later?"
    soon.pk = type(run)._meta.pk.get_default()
    soon.deadline += timedelta(hours=1)
    soon.save(force_insert=True)
    remark = STORY.remarks([run.pk], operator)[run.pk]
    assert "Later?" not in words(remark.reason)
    assert "1 more question of this run is open." in words(noticed(run, operator).text)


def test_a_decision_is_an_event_with_who_and_why(request_, ben, eve) -> None:
    approve(request_, eve, comment="Photographs checked.")
    events = {event.state.label: event for event in told(request_, person("Ada2", "operator"))}
    assert set(events) == {"Waiting", "Approved"}
    assert events["Approved"].text == request_.title
    assert words(events["Approved"].note) == f"by {eve.label}. Photographs checked."


def test_that_it_took_effect_is_another_event(request_, eve) -> None:
    reject(request_, eve)
    Decision.objects.filter(request=request_).update(
        delivery="took_effect", delivered_at=make.ago(seconds=1)
    )
    labels = [event.state.label for event in told(request_, person("Ada2", "operator"))]
    assert labels == ["Waiting", "Rejected", "Took effect"]


def test_events_of_another_time_are_left_out(request_, db) -> None:
    operator = person("Ada2", "operator")
    at = now(request_).created_at
    inside = {"since": at, "until": at + timedelta(seconds=1)}
    before = {"since": at - timedelta(hours=1), "until": at}
    assert len(STORY.events(request_.run_id, operator, **inside)) == 1
    assert STORY.events(request_.run_id, operator, **before) == []


def test_open_approvals_are_a_fact_before_acting(request_, waiting_run) -> None:
    (fact,) = STORY.facts(request_.run_id)
    assert (fact.value, fact.state) == ("1 waiting", STATES["pending"])
    (nothing,) = STORY.facts(waiting_run().pk)
    assert (nothing.value, nothing.state) == ("0", None)
