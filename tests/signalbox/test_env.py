"""A wrong value in the environment stops the start and says which it is."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from signalbox.env import Env


@pytest.fixture
def env(monkeypatch):
    reader = Env()
    monkeypatch.setattr(reader, "ENVIRON", {})
    return reader


@pytest.mark.parametrize(
    ("read", "value"),
    [("bool", "yess"), ("int", "1.5"), ("float", "abc"), ("float", "nan"), ("float", "-1")],
)
def test_a_value_that_cannot_be_meant_is_refused_by_name(env, read, value):
    env.ENVIRON["KNOB"] = value

    with pytest.raises(ImproperlyConfigured, match=f"KNOB is '{value}'"):
        getattr(env, read)("KNOB", default=None)


@pytest.mark.parametrize(
    ("read", "value", "meaning"),
    [
        ("bool", "True", True),
        ("bool", "off", False),
        ("int", "7", 7),
        ("float", "0.5", 0.5),
        ("float", "", 30.0),
        ("str", "", ""),
        ("str", "$ecret", "$ecret"),
        ("list", "a, b,", ["a", "b"]),
    ],
)
def test_what_is_set_counts(env, read, value, meaning):
    env.ENVIRON["KNOB"] = value

    assert getattr(env, read)("KNOB", default=30.0) == meaning


def test_what_is_not_set_has_its_default(env):
    assert env.float("KNOB", default=30.0) == 30.0
    with pytest.raises(ImproperlyConfigured, match="KNOB is not set"):
        env.str("KNOB")


def test_addresses_are_read_from_what_is_set(env):
    env.ENVIRON["EMAIL_URL"] = "smtp://mail.example:25"

    assert env.email_url("EMAIL_URL", default="consolemail://")["EMAIL_HOST"] == "mail.example"
