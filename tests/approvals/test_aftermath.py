"""After the fact: marking what went wrong, and counting how people decide."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from accounts import clock
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals import errors, queries, story
from approvals.aftermath import mishaps, statistics
from approvals.aftermath.statistics import Filters
from approvals.inbox import lines
from approvals.models import Decision, Mishap, Opening, Request, Vote, Withdrawal
from approvals.status import SEVERITIES, Severity
from audit.models import Entry
from tests.approvals.conftest import approve, of, reject
from tests.support.people import person
from tests.support.web import field, html_of, link, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cy(db: None) -> User:
    return person("Cy")


@pytest.fixture
def done(asked, eve):
    """An approval that has reached its run."""

    def done(by: User | None = None) -> Request:
        request: Request = asked()
        approve(request, by or eve)
        Decision.objects.filter(request=request).update(
            delivery="took_effect", deliveries=1, delivered_at=clock.now()
        )
        request.refresh_from_db()
        return request

    return done


def say(request: Request, by: User, *, form: str = "f", severity: str = "high") -> Mishap:
    return mishaps.report(
        request.pk, severity=severity, note="Paid twice", token=form, actor=of(by)
    )


def page_of(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


# --- marking --------------------------------------------------------------------------------------


def test_every_severity_has_its_words(db) -> None:
    assert set(SEVERITIES) == set(Severity.values)
    for state in SEVERITIES.values():
        assert state.label.startswith("Went wrong")
        assert state.sentence.endswith(".")


def test_what_went_wrong_is_shown_wherever_the_decision_is(client, cy, ben, done):
    request = done()
    client.force_login(cy)
    address = link(client.get(page_of(request)), r'href="([^"]+)">[^\n]*It went wrong')
    page = client.get(address)
    sent = {"severity": "high", "note": "Paid twice", "token": field(page, "token")}
    assert client.post(address, sent).status_code == 302
    assert client.post(address, sent).status_code == 302  # sent twice, said once
    mishap = Mishap.objects.get()
    assert (mishap.by, mishap.severity) == (cy, "high")

    text = text_of(client.get(page_of(request)))
    assert "Went wrong, high. Cy" in text
    assert "Paid twice" in text
    (line,) = lines.lines(queries.decided(cy))
    assert line.mishap == SEVERITIES["high"]
    assert "Went wrong, high" in text_of(client.get("/approvals/?view=decided"))
    events = story.Story().events(request.run_id, cy, since=request.created_at, until=None)
    (told,) = [each for each in events if each.state == SEVERITIES["high"]]
    assert "Paid twice" in str(told.note)
    entry = Entry.objects.get(verb="mishap.reported")
    assert (entry.reason, entry.run_id, entry.data["severity"]) == (
        "Paid twice",
        request.run_id,
        "high",
    )
    client.force_login(ben)  # of the group that was asked
    assert "Paid twice" in text_of(client.get(page_of(request)))


def test_a_mark_is_withdrawn_with_a_reason_and_stays_readable(client, cy, done):
    request = done()
    mishap = say(request, cy)
    client.force_login(cy)
    address = link(client.get(page_of(request)), r'href="([^"]+)">Withdraw')
    assert client.post(address, {"reason": " "}).status_code == 422
    assert client.post(address, {"reason": "Another order"}).status_code == 302
    text = text_of(client.get(page_of(request)))
    assert "Another order" in text
    assert "Paid twice" in text
    assert not mishaps.worst([request.pk])
    assert Entry.objects.get(verb="mishap.withdrawn").reason == "Another order"
    with pytest.raises(errors.MishapWithdrawn):
        mishaps.withdraw(mishap.pk, reason="again", actor=of(cy))


@pytest.mark.parametrize("model", [Mishap, Withdrawal])
def test_no_mark_is_ever_changed_or_removed(cy, done, model):
    mishaps.withdraw(say(done(), cy).pk, reason="no", actor=of(cy))
    row = model.objects.get()
    found = model.objects.filter(pk=row.pk)
    for act in (partial(found.update, by_label="Eve"), partial(found._raw_delete, "default")):
        with pytest.raises(DatabaseError, match="Withdraw it instead"), transaction.atomic():
            act()
    assert model.objects.get().by_label == "Cy"


def test_only_an_approval_that_reached_its_run_can_have_gone_wrong(client, cy, asked, eve):
    rejected, on_its_way, open_ = asked(), asked(), asked()
    reject(rejected, eve)
    approve(on_its_way, eve)
    client.force_login(cy)
    for request in (rejected, on_its_way, open_):
        with pytest.raises(errors.NothingHappened):
            say(request, cy)
        assert "It went wrong" not in text_of(client.get(page_of(request)))
    assert Entry.objects.filter(verb="mishap.refused").count() == 3
    Decision.objects.filter(request=on_its_way).update(deliveries=1, delivery="not_delivered")
    say(on_its_way, cy)  # it was handed over once, so it may have happened


def test_who_may_not_see_it_cannot_mark_it(done, cy):
    request = done()
    for name in ("Fay", "Dee"):
        who = person(name, *(["approver"] if name == "Fay" else []))
        with pytest.raises((errors.NoSuchRequest, accounts_errors.NotPermitted)):
            say(request, who)
    assert not Mishap.objects.exists()
    mishap = say(request, cy)
    with pytest.raises(errors.NoSuchMishap):
        mishaps.withdraw(mishap.pk, reason="x", actor=of(User.objects.get(first_name="Fay")))
    with pytest.raises(accounts_errors.NotPermitted):
        mishaps.report(
            request.pk,
            severity="low",
            note="x",
            token="t2",
            actor=Actor.system("sweeper"),
        )
    assert Entry.objects.filter(verb="mishap.refused").count() == 4


def test_an_approver_withdraws_their_own_word_and_nobody_elses(done, ben, cy):
    request = done()
    own, other = say(request, ben), say(request, cy)
    with pytest.raises(errors.NotYours):
        mishaps.withdraw(other.pk, reason="no", actor=of(ben))
    mishaps.withdraw(own.pk, reason="no", actor=of(ben))
    assert mishaps.worst([request.pk]) == {request.pk: SEVERITIES["high"]}


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"severity": "awful"}, errors.BadValue),
        ({"note": "  "}, errors.ReasonMissing),
        ({"token": ""}, errors.BadValue),
    ],
)
def test_a_mark_needs_a_severity_a_note_and_a_form(done, cy, changes, refusal):
    sent: dict[str, Any] = {"severity": "low", "note": "Late", "token": "t"}
    with pytest.raises(refusal):
        mishaps.report(done().pk, actor=of(cy), **sent | changes)
    assert not Mishap.objects.exists()


def test_the_worst_that_stands_is_what_the_list_shows(done, cy, ben):
    request = done()
    say(request, ben, severity="low")
    say(request, cy, severity="medium")
    assert mishaps.worst([request.pk]) == {request.pk: SEVERITIES["medium"]}


# --- opening a page -------------------------------------------------------------------------------


def test_the_first_time_that_a_page_is_shown_is_noted_once(client, ben, cy, asked):
    request = asked()
    client.force_login(ben)
    client.head(page_of(request))
    client.get(page_of(request), headers={"Sec-Purpose": "prefetch"})
    client.get(page_of(request), headers={"HX-Request": "true"})
    client.get("/approvals/")
    assert not Opening.objects.exists()
    client.get(page_of(request))
    first = Opening.objects.get()
    client.get(page_of(request))
    assert Opening.objects.get().at == first.at
    client.force_login(cy)  # may not decide it
    client.get(page_of(request))
    assert Opening.objects.count() == 1


# --- statistics -----------------------------------------------------------------------------------


def took(request: Request, minutes: int, *, read: int | None = None, **fields: Any) -> None:
    """Say when its only vote was given, and how long before that its page was opened."""
    vote = Vote.objects.get(request=request)
    at = request.created_at + timedelta(minutes=minutes)
    Vote.objects.filter(pk=vote.pk).update(at=at, **fields)
    if read is not None:
        opening = Opening.objects.create(request=request, user=vote.user)
        Opening.objects.filter(pk=opening.pk).update(at=at - timedelta(minutes=read))


WEEK = Filters(period=timedelta(days=7))


def test_how_people_decide_is_counted_per_person_and_per_policy(asked, eve, ben, cy, done, rule):
    for minutes in (1, 2, 3, 4):
        request = asked()
        approve(request, eve)
        took(request, minutes, entry="bulk")
    rule(name="other")
    request = done(ben)
    took(request, 10, read=4)
    say(request, cy)
    request = asked()
    reject(request, ben)
    took(request, 20, read=2)

    found = statistics.count(WEEK)
    eves, bens = found.people
    assert (eves.label, eves.decisions, eves.approved_share) == ("Eve", 4, 100)
    assert (eves.median, round(eves.slow)) == (150, 222)
    assert (eves.opened_share, eves.reading, eves.many_share, eves.wrong) == (0, None, 100, 0)
    assert (bens.label, bens.decisions, bens.approved_share) == ("Ben", 2, 50)
    assert (bens.median, bens.opened_share, bens.reading) == (900, 100, 180)
    assert (bens.many_share, bens.wrong) == (0, 1)
    assert {each.label: each.decisions for each in found.policies} == {"default": 4, "other": 2}
    assert found.whole is not None
    assert (found.whole.decisions, found.whole.wrong) == (6, 1)


def test_an_opening_after_the_verdict_was_no_reading_before_it(asked, eve):
    request = asked()
    approve(request, eve)
    took(request, 5, read=-1)
    (count,) = statistics.count(WEEK).people
    assert count.opened == 0


def test_what_was_withdrawn_or_rejected_did_not_go_wrong(done, asked, eve, cy):
    mishaps.withdraw(say(done(), cy).pk, reason="no", actor=of(cy))
    (count,) = statistics.count(WEEK).people
    assert (count.decisions, count.wrong) == (1, 0)


@pytest.mark.parametrize(
    ("filters", "decisions"),
    [
        ({"policy": "default"}, 1),
        ({"policy": "nothing"}, 0),
        ({"agent": "other_agent"}, 1),
        ({"period": timedelta(minutes=30)}, 1),
    ],
)
def test_filters_say_what_is_counted(asked, eve, rule, filters, decisions):
    old = asked()
    approve(old, eve)
    Vote.objects.update(at=clock.now() - timedelta(hours=1))
    rule(name="other")
    approve(asked(agent="other_agent"), eve)
    found = statistics.count(Filters(**{"period": timedelta(days=7)} | filters))
    assert (found.whole.decisions if found.whole else 0) == decisions


def test_only_some_are_never_all_and_never_none() -> None:
    few = statistics.Count(
        label="",
        decisions=1000,
        median=1,
        slow=1,
        approved=999,
        opened=1,
        reading=1,
        many=0,
        wrong=0,
    )
    assert (few.approved_share, few.opened_share, few.many_share) == (99, 1, 0)


def test_auditors_read_the_statistics_and_approvers_do_not(client, cy, ben, asked, eve):
    client.force_login(cy)
    assert "Nobody has decided anything yet" in text_of(client.get("/approvals/statistics/"))
    request = asked()
    approve(request, eve)
    page = client.get("/approvals/")
    assert "How people decide" in text_of(page)
    text = text_of(client.get("/approvals/statistics/"))
    assert re.search(r"Eve 1 \S+", text)
    assert "By policy" in text
    none = client.get("/approvals/statistics/?policy=nothing")
    assert "Nobody decided anything for these filters" in text_of(none)
    wrong = client.get("/approvals/statistics/?person=nobody@example.com")
    assert "Nobody has this address." in text_of(wrong)
    one = client.get(f"/approvals/statistics/?person={eve.email}&period=7d")
    assert "By person" in text_of(one)
    client.force_login(ben)
    assert client.get("/approvals/statistics/").status_code == 403
    assert "How people decide" not in html_of(client.get("/approvals/"))


def test_the_statistics_say_how_many_they_leave_out(client, cy, asked, eve, monkeypatch):
    monkeypatch.setattr(statistics, "MOST", 1)
    client.force_login(cy)
    for each in (eve, eve, person("Gus", "finance", "approver")):
        approve(asked(), each)
    text = text_of(client.get("/approvals/statistics/"))
    assert re.search(r"Eve 2 \S+", text)
    assert "Gus 1" not in text
    assert text.count("1 more has fewer decisions.") == 1


def test_the_statistics_ask_as_often_for_many_as_for_one(
    client, cy, asked, eve, django_assert_max_num_queries
):
    client.force_login(cy)
    approve(asked(), eve)
    client.get("/approvals/statistics/")
    with django_assert_max_num_queries(20) as one:
        client.get("/approvals/statistics/")
    for n in range(4):
        approve(asked(), person(f"Gus{n}", "finance", "approver"))
    with django_assert_max_num_queries(len(one)):
        client.get("/approvals/statistics/")
