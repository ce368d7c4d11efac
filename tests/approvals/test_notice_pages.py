"""The page on which people choose what they are told."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest
from django.contrib.auth.models import Group

from approvals.models import Notice, NoticeChoice
from approvals.notices import Event, planning
from ledger.outbox import dispatcher
from tests.support.people import person
from tests.support.web import html_of, text_of

pytestmark = pytest.mark.django_db
PAGE = "/me/notices/"
ALL = [event.value for event in Event if event is not Event.NOBODY_CAN_DECIDE]


def send(**changes: Any) -> dict[str, Any]:
    given = {"told": ALL, "gather": "1", "quiet_from": "", "quiet_to": ""}
    given |= {"urgent_comes_through": "on"} | changes
    return given


def test_who_has_chosen_nothing_is_told_everything(as_ben, ben):
    page = html_of(as_ben.get(PAGE))
    assert page.count(" checked") == len(ALL) + 1
    assert planning.chosen(ben).muted == []
    assert not NoticeChoice.objects.exists()


def test_a_person_chooses(as_ben, ben):
    chosen = send(told=["needs_you"], gather="60", quiet_from="22:00", quiet_to="07:00")
    answer = as_ben.post(PAGE, chosen | {"urgent_comes_through": ""}, follow=True)
    assert "Saved." in text_of(answer)
    choice = NoticeChoice.objects.get(user=ben)
    assert set(choice.muted) == set(ALL) - {"needs_you"}
    assert (choice.gather, choice.quiet_from, choice.quiet_to) == (60, time(22), time(7))
    assert not choice.urgent_comes_through
    assert html_of(as_ben.get(PAGE)).count(" checked") == 1
    as_ben.post(PAGE, send())
    assert NoticeChoice.objects.get(user=ben).muted == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"quiet_from": "22:00"}, "Give both times, or none."),
        ({"quiet_to": "22:00"}, "Give both times, or none."),
        ({"quiet_from": "22:00", "quiet_to": "22:00"}, "must be another time than the start"),
        ({"quiet_from": "25:00", "quiet_to": "07:00"}, "Enter a valid time"),
        ({"gather": "7"}, "not one of the available choices"),
        ({"told": ["everything"]}, "not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_refused_and_kept_in_the_form(as_ben, changes, says):
    answer = as_ben.post(PAGE, send(**changes))
    assert answer.status_code == 422
    assert says in text_of(answer)
    assert not NoticeChoice.objects.exists()


def test_the_page_lists_what_one_was_told(as_ben, ben, eve, asked):
    assert "No mail yet" in text_of(as_ben.get(PAGE))
    request = asked()
    dispatcher.dispatch()
    Notice.objects.filter(user=eve).update(user=person("Dee"))
    page = as_ben.get(PAGE)
    assert html_of(page).count(f"/approvals/{request.pk}/") == 1
    assert "Needs you" in text_of(page)


def test_only_who_can_add_people_chooses_whether_to_be_told_that_nobody_can_decide(client, as_ben):
    assert 'value="nobody_can_decide"' not in html_of(as_ben.get(PAGE))
    assert as_ben.post(PAGE, send(told=["nobody_can_decide"])).status_code == 422
    rut = person("Rut")
    client.force_login(rut)
    client.post(PAGE, send(told=["needs_you"]))
    assert "nobody_can_decide" in NoticeChoice.objects.get(user=rut).muted
    rut.groups.clear()
    rut.groups.add(Group.objects.get(name="approver"))
    client.post(PAGE, send())
    assert NoticeChoice.objects.get(user=rut).muted == ["nobody_can_decide"]


def test_the_own_page_leads_to_it(as_ben):
    assert f'href="{PAGE}"' in html_of(as_ben.get("/me/"))


def test_who_sees_no_requests_has_no_such_page(client):
    client.force_login(person("Dee"))
    assert client.get(PAGE).status_code == 403
    assert f'href="{PAGE}"' not in html_of(client.get("/me/"))
