"""People: addresses, zones, names, and who may sign in at all."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from accounts.models import User
from tests.support.people import person

pytestmark = pytest.mark.django_db


def test_an_address_is_stored_in_lower_case() -> None:
    assert User.objects.create_user(" Ada@Example.COM ").email == "ada@example.com"


def test_two_people_cannot_share_an_address_that_differs_in_case() -> None:
    person("Ada")
    with pytest.raises(IntegrityError):
        User.objects.create_user("ADA@example.com")


def test_the_database_refuses_an_address_in_upper_case() -> None:
    with pytest.raises(IntegrityError, match="lower_case"):
        User.objects.create(email="Ada@example.com")


def test_the_database_refuses_an_unknown_theme() -> None:
    with pytest.raises(IntegrityError, match="theme"):
        person("Ada", theme="pink")


def test_a_time_zone_must_be_in_the_iana_database() -> None:
    ada = person("Ada", time_zone="Europe/Berlin")
    ada.full_clean()
    ada.time_zone = "Europe/Atlantis"
    with pytest.raises(ValidationError, match="Atlantis"):
        ada.full_clean()


def test_somebody_without_a_name_is_called_by_their_address() -> None:
    assert str(person("Ada", first_name="Ada", last_name="Marsh")) == "Ada Marsh"
    assert str(User.objects.create_user("dee@example.com")) == "dee@example.com"


def test_a_person_is_found_by_their_address_in_any_case() -> None:
    ada = person("Ada")
    assert User.objects.get_by_natural_key("ADA@Example.com") == ada


@pytest.mark.parametrize(
    ("fields", "demo", "may"),
    [
        ({}, False, True),
        ({"is_active": False}, False, False),
        ({"is_active": False}, True, False),
        ({"is_demo": True}, False, False),
        ({"is_demo": True}, True, True),
    ],
)
def test_who_may_sign_in(fields, demo, may, settings) -> None:
    settings.DEMO = demo
    assert person("Ada", **fields).may_sign_in is may
