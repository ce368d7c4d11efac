"""A wrong value in the environment stops the start and says which it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from signalbox.checks import variables_are_known
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


@pytest.mark.parametrize(
    ("read", "value", "what"),
    [
        (lambda env: env.seconds("KNOB", 5.0), "-5", "KNOB is '-5', but must be a number above 0"),
        (lambda env: env.seconds("KNOB", 5.0), "0", "above 0"),
        (lambda env: env.count("KNOB", 4), "0", "KNOB is '0', but must be a whole number, 1 or"),
        (lambda env: env.count("KNOB", 0, least=0), "-1", "a whole number, 0 or above"),
        (lambda env: env.level("KNOB", "INFO"), "bogus", "KNOB is 'bogus', but must be one of"),
        (lambda env: env.http_url("KNOB", "http://x"), "foo", "begins with http:// or https://"),
        (lambda env: env.http_url("KNOB", "http://x"), "http://", "begins with http://"),
        (lambda env: env.http_url("KNOB", "http://x"), "http://a:b", "begins with http://"),
        (lambda env: env.mail_url("KNOB", "consolemail://"), "bogus", "KNOB must be an address"),
        (lambda env: env.mail_url("KNOB", "consolemail://"), "smtp://a:b", "must be an address"),
        (lambda env: env.postgres_url("KNOB", ""), "foo", "KNOB must be an address of PostgreSQL"),
        (lambda env: env.postgres_url("KNOB", ""), "sqlite:///x", "an address of PostgreSQL"),
        (lambda env: env.postgres_url("KNOB", ""), "postgres://a:b/c", "address of PostgreSQL"),
        (lambda env: env.postgres_url("KNOB", ""), "postgres://host", "address of PostgreSQL"),
        (lambda env: env.secret("KNOB", least=32), "x", "KNOB has 1 characters, but needs"),
        (lambda env: env.pauses("KNOB"), "{", "a JSON object of names and seconds above zero"),
        (lambda env: env.pauses("KNOB"), "[1]", "a JSON object of names and seconds above zero"),
        (lambda env: env.pauses("KNOB"), '{"crm": 0}', "seconds above zero"),
        (lambda env: env.pauses("KNOB"), '{"crm": "1"}', "seconds above zero"),
        (lambda env: env.pauses("KNOB"), '{"crm": NaN}', "seconds above zero"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line_that_says_what_to_do(env, read, value, what):
    env.ENVIRON["KNOB"] = value

    with pytest.raises(ImproperlyConfigured) as refused:
        read(env)
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)
    assert any(str(refused.value).endswith(end) for end in ("leave it out.", "one made."))


def test_addresses_that_hold_a_password_are_never_repeated(env):
    env.ENVIRON |= {"A": "foo://me:hush@x", "B": "foo://me:hush@x", "C": "hush"}

    reads: tuple[Callable[[], object], ...] = (
        lambda: env.postgres_url("A", ""),
        lambda: env.mail_url("B", ""),
        lambda: env.secret("C", least=32),
    )
    for read in reads:
        with pytest.raises(ImproperlyConfigured) as refused:
            read()
        assert "hush" not in str(refused.value)


def test_what_is_right_is_read(env):
    env.ENVIRON |= {"T": "1.5", "N": "0", "L": "warning", "U": "https://pay.example/x"}
    env.ENVIRON |= {"D": "postgres://u:p%40@%2Frun%2Fpg/name", "E": "smtp+tls://u:p@mail:587"}

    assert env.seconds("T", 5.0) == timedelta(seconds=1.5)
    assert env.seconds("absent", 5.0) == timedelta(seconds=5)
    assert env.count("N", 3, least=0) == 0
    assert env.level("L", "INFO") == "WARNING"
    assert env.http_url("U", "http://x") == "https://pay.example/x"
    assert env.postgres_url("D", "")["NAME"] == "name"
    assert env.mail_url("E", "")["EMAIL_HOST"] == "mail"


def test_variables_that_nobody_reads_are_named_with_what_may_be_meant(env):
    env.ENVIRON |= {"RUNS_LEASE_SECNDS": "5", "RUNS_XYZZY": "5", "RUNS_TRIES": "5", "OTHER": "1"}
    env.seconds("RUNS_LEASE_SECONDS", 30.0)
    env.count("RUNS_TRIES", 4)

    assert env.unknown("RUNS_") == {"RUNS_LEASE_SECNDS": "RUNS_LEASE_SECONDS", "RUNS_XYZZY": ""}


def test_a_variable_that_is_misspelt_is_a_warning_of_the_check(settings):
    settings.UNKNOWN_VARIABLES = {"RUNS_LEASE_SECNDS": "RUNS_LEASE_SECONDS", "RUNS_XYZZY": ""}

    near, far = variables_are_known()
    assert (near.id, near.hint) == (
        "signalbox.W001",
        "Did you mean RUNS_LEASE_SECONDS? Rename it, or take it out.",
    )
    assert "RUNS_XYZZY" in far.msg


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgres://host/name", "-c a=1"),
        ("postgres://host/name?options=-c%20search_path%3Dx", "-c search_path=x -c a=1"),
        ("postgres://host/name?options=-c%20a%3D2&sslmode=require", "-c a=2 -c a=1"),
    ],
)
def test_what_every_connection_needs_comes_after_what_the_address_sets(env, address, told):
    env.ENVIRON["D"] = address
    found = env.postgres_url("D", "", options="-c a=1")
    assert found["OPTIONS"]["options"] == told
    assert ("sslmode" in found["OPTIONS"]) == ("sslmode" in address)
