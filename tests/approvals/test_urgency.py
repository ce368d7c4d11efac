"""What comes first in an inbox: near deadlines, then what can do most harm."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from accounts import clock
from approvals import queries, urgency
from approvals.models import Request
from approvals.policy import Risk
from tests.approvals.conftest import due_in, ours
from tests.support.web import html_of, link

pytestmark = pytest.mark.django_db


@pytest.fixture
def titled(asked, rule):
    """An open request of this risk and name, with so many minutes left of an hour."""

    def titled(name: str, risk: str, left: int) -> Request:
        rule(risk=risk)
        request: Request = asked(ours(name))
        Request.objects.filter(pk=request.pk).update(
            created_at=clock.now() - timedelta(minutes=60 - left)
        )
        due_in(request, timedelta(minutes=left))
        return request

    return titled


EXPECTED = ["Near", "Near too", "Harm", "Harm later", "Usual", "Small"]


@pytest.fixture
def inbox(titled) -> list[Request]:
    return [
        titled("Small", Risk.LOW, 30),
        titled("Harm later", Risk.HIGH, 50),
        titled("Near too", Risk.HIGH, 10),
        titled("Usual", Risk.NORMAL, 40),
        titled("Harm", Risk.HIGH, 45),
        titled("Near", Risk.LOW, 5),
    ]


def test_near_deadlines_come_first_then_risk_then_the_deadline(inbox, ben, rule):
    rule(risk=Risk.LOW)  # the policy of then says how risky it is; that of now could only raise it
    assert [row.request.title for row in queries.needs(ben)] == EXPECTED
    assert [row.request.title for row in queries.pending(ben)] == EXPECTED


def test_the_page_shows_them_in_that_order_and_keeps_it_while_it_refreshes(
    client, inbox, ben, rule
):
    rule(risk=Risk.LOW)
    client.force_login(ben)
    page = client.get("/approvals/")
    assert _order(page) == EXPECTED
    live = link(page, r'hx-get="([^"]+as_of[^"]+)"')
    assert _order(client.get(live, headers={"HX-Request": "true"})) == EXPECTED


def test_every_risk_has_a_place(inbox) -> None:
    now = clock.now()
    places = [urgency.place(inbox[0], risk, now)[0] for risk in Risk.values]
    assert places == sorted(places, reverse=True)


def _order(page: Any) -> list[str]:
    return re.findall(r'<a class="open"[^>]*>([^<]+)</a>', html_of(page))
