"""What an answer or an exception means: happened, refused for certain, or nobody knows."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from ledger.outcomes import (
    LONGEST_TEXT,
    Found,
    Kind,
    Outcome,
    from_exception,
    from_response,
    of_returned,
)


def response(status: int, json: object = None, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json=json, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (200, Kind.SUCCESS, False),
        (201, Kind.SUCCESS, False),
        (202, Kind.SUCCESS, False),
        (204, Kind.SUCCESS, False),
        (301, Kind.UNKNOWN, False),
        (307, Kind.UNKNOWN, False),
        (400, Kind.REFUSED, False),
        (401, Kind.REFUSED, False),
        (402, Kind.REFUSED, False),
        (404, Kind.REFUSED, False),
        (408, Kind.UNKNOWN, False),
        (409, Kind.UNKNOWN, False),
        (422, Kind.REFUSED, False),
        (429, Kind.REFUSED, True),
        (500, Kind.UNKNOWN, False),
        (501, Kind.UNKNOWN, False),
        (502, Kind.UNKNOWN, False),
        (503, Kind.UNKNOWN, False),
        (504, Kind.UNKNOWN, False),
        (599, Kind.UNKNOWN, False),
    ],
)
def test_an_http_answer(status, kind, retryable):
    outcome = from_response(response(status, {"id": "re_1"}))
    assert (outcome.kind, outcome.retryable, outcome.http_status) == (kind, retryable, status)


@pytest.mark.parametrize(
    ("exc", "kind"),
    [
        (httpx.ConnectError("refused"), Kind.REFUSED),
        (httpx.ConnectTimeout("slow"), Kind.REFUSED),
        (httpx.PoolTimeout("busy"), Kind.REFUSED),
        (ConnectionRefusedError(), Kind.REFUSED),
        (socket.gaierror(), Kind.REFUSED),
        (httpx.ReadTimeout("x"), Kind.UNKNOWN),
        (httpx.WriteTimeout("x"), Kind.UNKNOWN),
        (httpx.ReadError("x"), Kind.UNKNOWN),
        (httpx.WriteError("x"), Kind.UNKNOWN),
        (httpx.RemoteProtocolError("x"), Kind.UNKNOWN),
        (httpx.LocalProtocolError("x"), Kind.UNKNOWN),
        (ConnectionResetError(), Kind.UNKNOWN),
        (BrokenPipeError(), Kind.UNKNOWN),
        (TimeoutError(), Kind.UNKNOWN),
        (
            httpx.HTTPStatusError(
                "402", request=httpx.Request("POST", "x"), response=response(402)
            ),
            Kind.UNKNOWN,
        ),
        (ValueError("defect"), Kind.UNKNOWN),
        (SystemExit(1), Kind.UNKNOWN),
    ],
)
def test_an_exception_is_unknown_unless_no_connection_came_about(exc, kind):
    outcome = from_exception(exc)
    assert (outcome.kind, outcome.retryable) == (kind, kind is Kind.REFUSED)
    assert type(exc).__name__ in outcome.reason


@pytest.mark.parametrize(
    ("status", "headers", "decisive"),
    [
        (402, {}, True),
        (400, {}, False),
        (401, {}, False),
        (403, {}, False),
        (404, {}, False),
        (422, {}, False),
        (400, {"Idempotent_Replayed": "true"}, True),
        (409, {"Idempotent_Replayed": "true"}, True),
    ],
)
def test_only_what_the_endpoint_itself_said_is_decisive(status, headers, decisive):
    outcome = from_response(response(status, {}, **headers))
    assert (outcome.kind, outcome.decisive) == (Kind.REFUSED, decisive)


def test_in_progress_is_neither_done_nor_refused():
    outcome = from_response(response(409, {}, Retry_After="3"))
    assert (outcome.kind, outcome.in_progress, outcome.retry_after) == (Kind.UNKNOWN, True, 3.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("99999999", 86400.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_in_seconds(text, seconds):
    assert from_response(response(429, {}, Retry_After=text)).retry_after == seconds


def test_retry_after_as_a_date():
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    wait = from_response(response(429, {}, Retry_After=then)).retry_after
    assert wait is not None
    assert 50 < wait <= 60
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    assert from_response(response(429, {}, Retry_After=past)).retry_after == 0.0


def test_the_reference_is_a_field_or_what_a_function_makes_of_the_body():
    body = {"id": 7, "data": {"ref": "x"}}
    assert from_response(response(200, body)).reference == "7"
    assert from_response(response(200, body), reference="none").reference == ""
    made = from_response(response(200, body), reference=lambda b: b["data"]["ref"])
    assert made.reference == "x"


def test_a_success_whose_body_is_not_understood_is_still_a_success():
    def broken(_: object) -> str:
        raise KeyError("other shape")

    for answer in (
        response(200, ["a", "list"]),
        httpx.Response(200, content=b"\xff\xfe not json"),
        httpx.Response(200, content=b"ok"),
        httpx.Response(204),
        httpx.Response(200, stream=httpx.ByteStream(b"unread")),
    ):
        assert from_response(answer).kind is Kind.SUCCESS
        assert from_response(answer, reference=broken).kind is Kind.SUCCESS


@pytest.mark.parametrize("value", [None, True, {"id": 1}, "ok", (1, 2)])
def test_a_tool_that_returns_no_outcome_says_nothing(value):
    outcome = of_returned(value)
    assert outcome.kind is Kind.UNKNOWN
    assert "instead of an Outcome" in outcome.reason


def test_an_outcome_is_taken_as_it_is():
    outcome = Outcome.refused("no", retryable=True, retry_after=3, decisive=True)
    assert of_returned(outcome) is outcome


# --- whatever a tool hands over -------------------------------------------------------------------


class Mute(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, ""),
        (404, "404"),
        ({"message": "declined"}, "{'message': 'declined'}"),
        (ValueError("no"), "ValueError: no"),
        (Mute(), "Mute"),
        pytest.param(10**5000, "(cannot be shown)", id="too long a number"),
        pytest.param("x" * 1_000_000, "x" * LONGEST_TEXT, id="too long a text"),
    ],
)
def test_reasons_and_references_are_text_whatever_they_are_made_of(given, said):
    assert Outcome.refused(given).reason == said
    assert Outcome.unknown(given).reason == said
    assert Outcome.success(given).reference == said
    assert Found(reference=given).reference == said


def test_an_exception_that_cannot_be_shown_is_named():
    assert from_exception(Mute()).reason == "Mute"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("30", 30.0),
        (30, 30.0),
        (timedelta(minutes=1), 60.0),
        (-5, 0.0),
        (1e15, 86400.0),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
        ("soon", None),
        ("Mon, 01 Jan 2024 00:00:00 GMT", 0.0),
        ({"seconds": 3}, None),
    ],
)
def test_a_wait_is_a_number_in_bounds_whatever_it_is_made_of(given, seconds):
    assert Outcome.refused("slow", retryable=True, retry_after=given).retry_after == seconds


@pytest.mark.parametrize(
    ("given", "status"),
    [(200, 200), ("404", 404), (10**12, None), (-1, None), (float("inf"), None), ({}, None)],
)
def test_a_status_is_one_of_http_or_none(given, status):
    assert Outcome(kind=Kind.SUCCESS, http_status=given).http_status == status


def test_a_switch_is_on_only_if_it_is_true():
    outcome = Outcome.refused("no", retryable="false", decisive={"decisive": True})
    assert (outcome.retryable, outcome.decisive) == (False, False)


def test_what_is_no_kind_of_outcome_says_nothing():
    outcome = Outcome(kind="success", reference="re_1")
    assert (outcome.kind, outcome.reason) == (Kind.UNKNOWN, "success is no kind of outcome")
