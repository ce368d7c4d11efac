"""Who is told what, when, and what is not told any more."""

from __future__ import annotations

import re
import smtplib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.db import connection, transaction
from django.db.models import F
from django.urls import reverse

from accounts import clock
from accounts.actors import Actor
from accounts.models import User
from approvals import deadlines, requests, sweep
from approvals.models import Decision, Notice, NoticeChoice, Request
from approvals.notices import Event, mails, notify, planning
from approvals.port import Approvals
from approvals.status import Delivery, Status
from ledger import outbox
from ledger.models import Message
from ledger.outbox import dispatcher, replays
from runs.models import Run
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    head,
    lease_on,
    now,
    ours,
    pending,
    reject,
)
from tests.support.people import person

pytestmark = pytest.mark.django_db
HOSTILE = (
    "Refund\u202e 7\u200b?\r\nBcc: eve@evil.example <img src=https://evil.example/x>" + " " * 9
)


@pytest.fixture(autouse=True)
def patience(settings) -> None:
    settings.SIGNALBOX_URL = "https://box.example"
    settings.APPROVALS_NOTICE_WAVE = 50


def pass_time(by: timedelta = timedelta(minutes=2)) -> None:
    Message.objects.filter(status="pending").update(due_at=F("due_at") - by)
    Notice.objects.filter(status="waiting").update(due_at=F("due_at") - by)


def deliver(by: timedelta = timedelta(minutes=2)) -> list[EmailMultiAlternatives]:
    """Let what happened be planned, let time pass, and have mails sent; the new ones."""
    before = len(mail.outbox)
    dispatcher.dispatch()
    pass_time(by)
    dispatcher.dispatch()
    assert not Message.objects.filter(error__gt="")
    return mail.outbox[before:]  # type: ignore[return-value]


def addresses(mails_: list[EmailMultiAlternatives]) -> list[str]:
    return sorted(each.to[0].partition("@")[0] for each in mails_)


def links(letter: EmailMultiAlternatives) -> set[str]:
    both = letter.body + str(letter.alternatives[0][0])
    return {
        found.removeprefix("https://box.example")
        for found in re.findall(r"https://box\.example[^\s\"<]*", both)
    }


def happened(event: Event, request: Request, **more: Any) -> None:
    with transaction.atomic():
        notify(event, request, **more)


# --- who ------------------------------------------------------------------------------------------


def test_those_who_may_approve_are_called_and_nobody_else(ada, ben, eve, asked):
    person("Dee"), person("Cy")
    eve.is_active = False
    eve.save()
    asked()
    assert addresses(deliver()) == ["ben"]  # Ada started the run


def test_a_mail_names_the_request_the_agent_and_the_deadline_and_no_value(ben, asked):
    ben.time_zone = "Asia/Kolkata"
    ben.save()
    request = asked(ours(args={"order": 7, "iban": "DE00 1234"}))
    (letter,) = deliver()
    text, html = letter.body, str(letter.alternatives[0][0])
    for part in (text, html):
        assert request.title in part
        assert "refund_desk" in part
        assert "1 of finance, not who started the run" in part
        assert "(Asia/Kolkata)" in part
        assert "DE00" not in part
    assert letter.subject == "[Signalbox] Waits for you: Refund order 7?"
    assert links(letter) == {f"/approvals/{request.pk}/", "/me/notices/"}
    assert letter.alternatives[0][1] == "text/html"


def test_requester_and_voters_are_told_what_became_of_it_but_not_who_decided(
    ada, ben, eve, asked, rule
):
    rule(quorum=2)
    request = asked()
    deliver()
    approve(request, eve)
    approve(request, ben)
    told = deliver()
    assert addresses(told) == ["ada", "eve"]
    assert "Approved by Eve, Ben." in told[0].body


def test_everybody_concerned_is_told_that_it_took_effect(ada, ben, asked):
    request = asked()
    approve(request, ben)
    deliver()
    Decision.objects.update(delivery=Delivery.DELIVERING, deliveries=1)
    gone = replace(head(), held={("", "c1", "t"): 1})
    Approvals().note_delivered(lease_on(request.run), gone)
    told = deliver()
    assert addresses(told) == ["ada", "ben"]
    assert "Approved by Ben. The run has gone on with this decision." in told[0].body


def test_a_decision_that_did_not_reach_its_run_is_told(ada, ben, asked):
    request = asked()
    reject(request, ben)
    deliver()
    with transaction.atomic():
        requests.give_up(Decision.objects.select_related("request").get(), "the run was cancelled")
    told = deliver()
    assert addresses(told) == ["ada", "ben"]
    assert "did not reach the run: the run was cancelled" in told[0].body


def test_a_deadline_that_passed_is_told_to_the_requester(ada, ben, asked):
    request = asked()
    deliver()
    due_in(request, timedelta(seconds=-1))
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
        deadlines.expire(run, Request.objects.select_for_update(no_key=True).get(pk=request.pk))
    told = deliver()
    assert addresses(told) == ["ada"]
    assert "Nobody decided in time." in told[0].body


def test_administrators_are_told_that_nobody_can_decide(ada, asked):
    person("Rut")
    request = asked()
    happened(Event.NOBODY_CAN_DECIDE, request)
    told = deliver()
    assert addresses(told) == ["rut"]
    assert "Nobody can approve this." in told[0].body


def test_if_somebody_can_decide_by_then_administrators_are_not_bothered(ada, asked):
    person("Rut")
    request = asked()
    happened(Event.NOBODY_CAN_DECIDE, request)
    dispatcher.dispatch()
    person("Ben", "finance")
    assert addresses(deliver()) == []


def look() -> None:
    Request.objects.update(checked_at=None)
    sweep.sweep()


def test_who_joins_a_group_hears_at_once_of_what_waits_and_only_once(ada, ben, eve, asked):
    eve_groups = list(eve.groups.all())
    eve.groups.clear()
    asked()
    look()  # before anything is planned: nobody is late yet
    assert addresses(deliver()) == ["ben"]
    assert Notice.objects.filter(user=ben).count() == 1
    look()
    assert addresses(deliver()) == []
    eve.groups.set(eve_groups)
    look()
    assert addresses(deliver()) == ["eve"]
    look()
    assert addresses(deliver()) == []
    eve.groups.clear()
    look()
    eve.groups.set(eve_groups)
    look()
    assert addresses(deliver()) == []


def test_escalation_calls_those_who_were_not_called_before(ada, ben, asked):
    request = asked()
    deliver()
    person("Eve", "finance", "approver")
    happened(Event.ESCALATED, request, key="1")
    told = deliver()
    assert addresses(told) == ["eve"]
    assert "passed on to you" in told[0].body


def test_each_reminder_is_told_once_and_can_be_narrowed(ada, ben, eve, asked):
    request = asked()
    deliver()
    for key in ("1", "1", "2"):
        happened(Event.REMINDER, request, key=key, people=[ben.pk, ada.pk])
    told = deliver()
    assert addresses(told) == ["ben"]  # both in one mail; Ada may not approve
    assert told[0].body.count("Still waits for your decision") == 1


# --- what is not told any more --------------------------------------------------------------------


def test_a_request_that_was_decided_meanwhile_is_not_announced(ada, ben, eve, asked):
    request = asked()
    dispatcher.dispatch()
    assert Notice.objects.count() == 2
    reject(request, ben)
    Message.objects.filter(payload__event="decided").delete()
    assert deliver() == []
    assert set(Notice.objects.values_list("status", flat=True)) == {"dropped"}


def test_a_request_decided_before_anybody_was_found_is_not_announced(ada, ben, eve, asked):
    request = asked()
    reject(request, ben)
    assert addresses(deliver()) == ["ada"]


def test_a_withdrawn_request_is_not_announced(ben, asked):
    request = asked()
    dispatcher.dispatch()
    with transaction.atomic():
        requests.close(request, Status.WITHDRAWN, "gone", actor=requests.DRIVER)
    assert deliver() == []


@pytest.mark.parametrize("change", ["left", "inactive", "cancelled", "voted", "late"])
def test_who_is_not_wanted_any_more_is_not_called(ben, eve, asked, rule, change):
    rule(quorum=2)
    request = asked()
    dispatcher.dispatch()
    if change == "left":
        ben.groups.clear()
    elif change == "inactive":
        User.objects.filter(pk=ben.pk).update(is_active=False)
    elif change == "cancelled":
        Run.objects.filter(pk=request.run_id).update(cancel_asked_at=request.created_at)
    elif change == "voted":
        approve(request, ben)
    else:
        due_in(request, timedelta(seconds=-1))
    assert "ben" not in addresses(deliver())


# --- gathering ------------------------------------------------------------------------------------


def test_what_comes_within_the_window_is_one_mail_with_the_nearest_deadline_first(ben, asked):
    late, soon = asked(), asked(ours("Refund order 8?"))
    due_in(soon, timedelta(minutes=30))
    (letter,) = deliver()
    assert letter.subject == "[Signalbox] 2 requests wait for you"
    assert letter.body.index(str(soon.pk)) < letter.body.index(str(late.pk))


def test_what_comes_later_is_the_next_mail(ben, asked):
    asked()
    deliver()
    asked(ours("Refund order 8?"))
    (letter,) = deliver()
    assert "Refund order 7?" not in letter.body


def test_of_two_news_about_one_request_the_last_is_told(ada, ben, asked):
    request = asked()
    approve(request, ben)
    happened(Event.TOOK_EFFECT, request)
    told = deliver()
    assert addresses(told) == ["ada", "ben"]
    to_ada = next(each for each in told if each.to == ["ada@example.com"])
    assert to_ada.body.count(str(request.pk)) == 1
    assert "has gone on" in to_ada.body


def test_in_quiet_hours_nothing_is_sent_but_what_cannot_wait(ben, asked, monkeypatch):
    NoticeChoice.objects.create(user=ben, quiet_from="00:00", quiet_to="23:59")
    monkeypatch.setattr(clock, "now", lambda: _noon())
    far = asked()
    Request.objects.filter(pk=far.pk).update(deadline=_noon() + timedelta(days=3))
    near = asked(ours("Refund order 8?"))
    Request.objects.filter(pk=near.pk).update(deadline=_noon() + timedelta(hours=2))
    dispatcher.dispatch()
    due = dict(Notice.objects.values_list("request_id", "due_at"))
    assert due[far.pk] == _noon().replace(hour=23, minute=59)
    assert due[near.pk] == _noon() + timedelta(minutes=1)


def _noon() -> datetime:
    return datetime(2099, 6, 1, 12, tzinfo=UTC)


def test_a_person_gets_what_they_chose(ben, eve, asked):
    NoticeChoice.objects.create(user=ben, muted=[Event.NEEDS_YOU])
    NoticeChoice.objects.create(user=eve, gather=60)
    asked()
    assert addresses(deliver()) == []
    assert addresses(deliver(timedelta(minutes=60))) == ["eve"]


# --- at least once --------------------------------------------------------------------------------


def test_planning_twice_tells_once(ben, asked):
    asked()
    first = Message.objects.get()
    dispatcher.dispatch()
    Message.objects.filter(pk=first.pk).update(status="pending", closed_at=None)
    dispatcher.dispatch()
    assert len(deliver()) == 1
    assert Notice.objects.count() == 1


def test_a_repeat_is_the_same_mail(ben, asked, monkeypatch):
    asked()
    dispatcher.dispatch()
    pass_time()
    dispatcher.dispatch()
    # as if the process had died before writing it down
    Message.objects.filter(destination="notices.mail").update(status="pending", closed_at=None)
    Notice.objects.update(status="waiting", closed_at=None)
    asked(ours("Refund order 8?"))
    planning.plan(_letter(Message.objects.get(destination="notices", status="pending")))
    pass_time()
    dispatcher.dispatch()
    first, again, other = mail.outbox
    assert "Refund order 8?" in other.body
    assert again.body == first.body
    assert again.extra_headers == first.extra_headers
    uid = Message.objects.filter(destination="notices.mail").order_by("seq")[0].uid
    assert first.extra_headers["Signalbox-Event-Id"] == str(uid)
    assert first.extra_headers["Message-ID"] == f"<{uid}@localhost>"


def test_what_is_planned_while_a_mail_is_being_sent_goes_with_the_next(ben, asked, monkeypatch):
    asked()
    dispatcher.dispatch()
    pass_time()
    sending = mails.compose

    def compose(*args: Any) -> EmailMultiAlternatives:
        if not mail.outbox and Request.objects.count() == 1:
            asked(ours("Refund order 8?"))
            planning.plan(_letter(Message.objects.get(destination="notices", status="pending")))
        return sending(*args)

    monkeypatch.setattr(mails, "compose", compose)
    dispatcher.dispatch()
    (second,) = deliver()
    assert "Refund order 8?" in second.body
    assert "Refund order 7?" not in second.body


def _letter(message: Message) -> outbox.Letter:
    return outbox.Letter(
        id=message.uid,
        destination=message.destination,
        payload=message.payload,
        written_at=message.created_at,
        tries=1,
    )


def test_a_mail_server_that_is_away_is_tried_again_and_the_mail_is_sent_once(
    ben, asked, monkeypatch
):
    asked()
    dispatcher.dispatch()
    pass_time()
    real = EmailMultiAlternatives.send
    monkeypatch.setattr(EmailMultiAlternatives, "send", _fail(smtplib.SMTPServerDisconnected))
    dispatcher.dispatch()
    waiting = Message.objects.get(destination="notices.mail")
    assert (waiting.status, waiting.error) == ("pending", "SMTPServerDisconnected")
    monkeypatch.setattr(EmailMultiAlternatives, "send", real)
    pass_time(timedelta(hours=1))
    dispatcher.dispatch()
    assert len(mail.outbox) == 1


def test_a_person_whose_mail_is_refused_is_given_up(ben, asked, monkeypatch):
    monkeypatch.setattr(EmailMultiAlternatives, "send", _fail(smtplib.SMTPRecipientsRefused, {}))
    asked()
    dispatcher.dispatch()
    pass_time()
    dispatcher.dispatch()
    assert Message.objects.get(destination="notices.mail").status == "dead"


def test_a_mail_that_was_given_up_and_is_sent_again_says_what_it_said(ben, asked, monkeypatch):
    first = asked()
    dispatcher.dispatch()
    pass_time()
    real = EmailMultiAlternatives.send
    monkeypatch.setattr(EmailMultiAlternatives, "send", _fail(smtplib.SMTPRecipientsRefused, {}))
    dispatcher.dispatch()
    monkeypatch.setattr(EmailMultiAlternatives, "send", real)
    second = asked(ours("Refund order 8?"))
    dispatcher.dispatch()
    pass_time()
    dispatcher.dispatch()
    dead = Message.objects.get(status="dead")
    replays.replay(dead.uid, actor=Actor.command("test"), reason="The address is right now.")
    dispatcher.dispatch()
    assert [str(first.pk) in each.body for each in mail.outbox] == [False, True]
    assert [str(second.pk) in each.body for each in mail.outbox] == [True, False]


def _fail(error: type[Exception], *args: object) -> Any:
    def send(self: object, *_: object, **__: object) -> int:
        raise error(*args)

    return send


def test_a_refused_decision_tells_nobody(ada, asked):
    request = asked()
    with pytest.raises(Exception, match="You started this run"):
        approve(request, ada)
    assert not Message.objects.filter(payload__event="decided").exists()


def test_a_transaction_that_is_rolled_back_tells_nobody(ben, waiting_run):
    run = waiting_run()
    with transaction.atomic():
        ask(run, pending(ours()))
        transaction.set_rollback(True)
    assert not Message.objects.exists()


# --- hostile text ---------------------------------------------------------------------------------


def test_what_an_agent_wrote_deceives_nobody_in_a_mail(ben, asked):
    asked(ours(HOSTILE))
    (letter,) = deliver()
    html = str(letter.alternatives[0][0])
    raw = letter.message().as_string()
    for part in (letter.subject, letter.body, html):
        assert "\u202e" not in part
        assert "\u200b" not in part
        assert "u{202E}" in part
    assert letter.subject.count("\n") == 0
    assert letter.to == ["ben@example.com"]
    assert letter.recipients() == ["ben@example.com"]
    assert not re.search(r"^bcc:", raw, re.IGNORECASE | re.MULTILINE)
    tags = _Tags()
    tags.feed(html)
    assert tags.found == {"html", "head", "meta", "title", "body", "h2", "p", "b", "blockquote"} | {
        *("mark", "bdi", "a", "hr", "br")
    }
    assert tags.addresses == {f"https://box.example{path}" for path in links(letter)}


class _Tags(HTMLParser):
    """Which tags there are, and which addresses: in links, and nothing that is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.addresses: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert {name for name, _ in attrs} <= {"lang", "charset", "class", "title", "href"}
        self.addresses |= {value for name, value in attrs if name == "href"}


# --- links change nothing -------------------------------------------------------------------------


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """All rows but those of sessions."""
    rows = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names(only_existing=True):
            if table != "django_session":
                cursor.execute(f'SELECT * FROM "{table}" t ORDER BY t::text')  # noqa: S608 (ours)
                rows[table] = cursor.fetchall()
    return rows


PREFETCHING = ({"Sec-Purpose": "prefetch"}, {"Purpose": "prefetch"})
OPENED = "approvals_opening"
"""Who was shown a question: a log, like the audit log."""


@pytest.mark.parametrize("signed_in", [True, False])
def test_following_prefetching_or_scanning_a_link_changes_nothing(client, ben, asked, signed_in):
    request = asked()
    (letter,) = deliver()
    followed = {*links(letter), reverse("approvals:claim", args=[request.pk])}
    assert len(followed) == 3
    if signed_in:
        client.force_login(ben)
    before = everything()
    for path in followed:
        for method in ("get", "head", "options"):
            for headers in PREFETCHING if method == "get" else ({}, *PREFETCHING):
                answer = getattr(client, method)(path, headers=headers)
                assert answer.status_code in (200, 302, 403, 405)
    assert everything() == before
    for path in [*followed, *followed]:
        assert client.get(path).status_code in (200, 302, 403, 405)
    after = everything()
    assert len(after.pop(OPENED)) == (1 if signed_in else 0)  # that Ben was shown it, once
    assert after == {name: rows for name, rows in before.items() if name != OPENED}
    assert now(request).status == Status.PENDING


def test_old_notices_are_forgotten(ben, asked, settings):
    asked()
    deliver()
    assert planning.forget() == 0
    settings.LEDGER_OUTBOX_KEEP = timedelta(0)
    assert planning.forget() == 1
