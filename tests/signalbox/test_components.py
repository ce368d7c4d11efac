"""The component page: whole, and for staff alone."""

from __future__ import annotations

import re

import pytest

from signalbox.components import samples
from tests.support.people import person

pytestmark = pytest.mark.django_db


def test_the_page_is_for_staff_alone(client) -> None:
    assert client.get("/components/").status_code == 302
    client.force_login(person("Rut"))
    for address in ("/components/", "/components/tick/"):
        assert client.get(address).status_code == 404
    client.force_login(person("Ada", is_staff=True))
    for address in ("/components/", "/components/tick/"):
        assert client.get(address).status_code == 200


def test_every_state_has_its_badge_there(client) -> None:
    client.force_login(person("Ada", is_staff=True))
    page = client.get("/components/").text
    every = [state for _, group in samples.states() for state in group]
    assert len(re.findall(r'class="badge tone-', page)) >= len(every)
    for state in every:
        assert str(state.label) in page


def test_its_form_shows_errors_and_does_nothing_else(client) -> None:
    client.force_login(person("Ada", is_staff=True))
    response = client.post("/components/", {})
    assert response.status_code == 422
    assert response.text.count('class="errorlist"') == len(samples.Reason().fields)
