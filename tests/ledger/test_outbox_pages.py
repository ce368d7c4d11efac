"""The pages of the outbox, as a browser without scripts sends and gets them."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.urls import reverse

from audit.models import Entry
from ledger.models import Message
from ledger.outbox import dispatcher
from ledger.outcomes import Outcome
from ledger.status import MessageStatus
from tests.ledger import desks
from tests.ledger.test_dispatcher import add, again, desk  # noqa: F401 (a fixture)
from tests.support.people import person
from tests.support.web import html_of, text_of

INDEX = reverse("ledger:outbox")


def dead(n: int = 1, **more) -> Message:
    message = add(n, **more)
    desks.ANSWERS[:] = [Outcome.refused("HTTP 410: <b>gone\u202e</b>")]
    dispatcher.dispatch()
    return again(message)


def numbers(text: str) -> set[str]:
    """Of the messages on a page, as words: the ends of ids look alike."""
    return set(re.findall(r"\bn (\d+)\b", text))


def test_what_waits_what_was_given_up_and_what_was_sent(client):
    client.force_login(person("Ada"))
    assert "Nothing waits" in text_of(client.get(INDEX))
    dead(1)
    add(2)
    dispatcher.dispatch()
    add(3, payload={"email": "eve@example.com", "note": "<i>x"})
    waiting = text_of(client.get(INDEX))
    assert numbers(waiting) == {"3"}
    assert "hidden (email)" in waiting
    assert "<i>x" not in html_of(client.get(INDEX))
    given_up = client.get(INDEX, {"view": "dead"})
    assert numbers(text_of(given_up)) == {"1"}
    assert "\u202e" not in html_of(given_up)
    assert "<b>gone" not in html_of(given_up)
    assert numbers(text_of(client.get(INDEX, {"view": "sent"}))) == {"2"}


def test_a_claimed_message_is_being_sent_and_a_failed_one_is_tried_again(client):
    client.force_login(person("Ada"))
    add(1)
    dispatcher.claim()
    assert "Sending" in text_of(client.get(INDEX))
    add(2)
    desks.ANSWERS[:] = [Outcome.unknown("down")]
    dispatcher.dispatch()
    assert "Retrying down" in text_of(client.get(INDEX))


@pytest.mark.parametrize(("name", "code"), [("Ada", 200), ("Cy", 200), ("Ben", 403), ("Dee", 403)])
def test_who_may_see_the_outbox(client, name, code):
    client.force_login(person(name))
    assert client.get(INDEX).status_code == code


def test_the_ledger_links_to_it_for_who_may_see_it(client):
    for name, linked in (("Ada", True), ("Ben", False)):
        client.force_login(person(name))
        assert (f'href="{INDEX}"' in html_of(client.get("/ledger/"))) == linked


def test_sending_again_asks_for_a_reason_and_looking_changes_nothing(client):
    client.force_login(person("Ada"))
    message = dead()
    page = reverse("ledger:outbox_retry", args=[message.uid])
    assert "Send this message again?" in text_of(client.get(page))
    client.head(page)
    assert client.options(page).status_code in (200, 405)
    assert client.post(page, {"reason": " "}).status_code == 422
    assert again(message).status == MessageStatus.DEAD
    answer = client.post(page, {"reason": "It is back."}, follow=True)
    assert "1 message is queued again." in text_of(answer)
    assert again(message).status == MessageStatus.PENDING
    second = client.post(page, {"reason": "Once more."})
    assert second.status_code == 409
    assert Entry.objects.filter(verb="message.retried").count() == 1


def test_all_of_one_destination_at_once(client):
    client.force_login(person("Ada"))
    dead(1), dead(2)
    page = reverse("ledger:outbox_all", args=["test"])
    assert f'href="{page}"' in html_of(client.get(INDEX, {"view": "dead"}))
    assert "Send 2 messages again?" in text_of(client.get(page))
    client.post(page, {"reason": "It is back."})
    assert Message.objects.filter(status=MessageStatus.PENDING).count() == 2


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
def test_others_cannot_send_again(client, name):
    client.force_login(person(name))
    message = dead()
    for page in (
        reverse("ledger:outbox_retry", args=[message.uid]),
        reverse("ledger:outbox_all", args=["test"]),
    ):
        assert client.post(page, {"reason": "x"}).status_code == 403
    assert again(message).status == MessageStatus.DEAD


def test_a_message_that_does_not_exist(client):
    client.force_login(person("Ada"))
    assert client.get(reverse("ledger:outbox_retry", args=[UUID(int=1)])).status_code == 404


def test_many_messages_come_in_pages(client):
    client.force_login(person("Ada"))
    for n in range(51):
        add(n)
    first = client.get(INDEX)
    assert html_of(first).count('<tr id="m') == 50
    assert "n 50" in text_of(client.get(INDEX, {"view": "pending", "after": _last(first)}))
    assert client.get(INDEX, {"after": "x", "view": "y"}).status_code == 200


def _last(response) -> str:
    return response.context["older"].rpartition("=")[2]
