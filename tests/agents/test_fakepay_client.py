"""The client sends once, finds by key, and is safe to use after a fork."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_django import Settings

from agents.fakepay import client
from tests.agents.fakepay_process import Fakepay, python, running


@pytest.fixture
def fakepay(tmp_path: Path, settings: Settings) -> Iterator[Fakepay]:
    with running(tmp_path / "f.sqlite3") as fakepay:
        settings.FAKEPAY_URL = fakepay.url
        yield fakepay


def test_a_refund_is_asked_for_and_found_by_its_key(fakepay: Fakepay) -> None:
    key = "refund:7:Žluťoučký kůň х-1"  # noqa: RUF001 - its UTF-8 has the byte 0x85, a line end in Latin-1
    answer = client.refund("A-1", 1200, "EUR", idempotency_key=key, timeout=10, reason="late")
    assert answer.status_code == 200
    assert client.find_refunds(key) == [answer.json()]
    assert fakepay.rows("SELECT key, reason FROM refunds") == [(key, "late")]
    again = client.refund("A-1", 1200, "EUR", idempotency_key=key, timeout=10, reason="late")
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_mail_is_sent_and_found_by_its_key(fakepay: Fakepay) -> None:
    answer = client.mail("ada@example.org", "Refund", "Sent.", idempotency_key="m", timeout=10)
    assert answer.status_code == 200
    assert client.find_mails("m") == [answer.json()]


def test_a_dropped_connection_is_not_tried_again(fakepay: Fakepay) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.refund("A-1", 1, "EUR", idempotency_key="k", timeout=10, fault="drop_after")
    assert fakepay.answers() == ["dropped"]


def test_the_timeout_is_the_callers(fakepay: Fakepay) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.refund("A-1", 1, "EUR", idempotency_key="k", timeout=0.2, fault="delay_after:30")
    assert fakepay.refunds() == 1


def test_a_look_up_that_fails_is_not_a_no(fakepay: Fakepay) -> None:
    fakepay.arm("500_before", match={"method": "GET"})
    with pytest.raises(httpx.HTTPStatusError):
        client.find_refunds("k")
    fakepay.process.kill()
    fakepay.process.wait()
    with pytest.raises(httpx.TransportError):
        client.find_refunds("k")


FORKED = """
import os, sys
from django.conf import settings
settings.configure(FAKEPAY_URL=sys.argv[1])
from agents.fakepay import client

def ask(who):
    for n in range(10):
        key = f"{who}-{n}"
        answer = client.refund(
            "A-1", 1, "EUR", idempotency_key=key, timeout=10, fault="delay_after:0.05"
        )
        assert answer.json()["key"] == key, (answer.text, key)

ask("before")
child = os.fork()
ask("child" if child == 0 else "parent")
if child == 0:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_parent_and_child_of_a_fork_do_not_share_a_connection(fakepay: Fakepay) -> None:
    done = python("-c", FORKED, fakepay.url)
    assert done.returncode == 0, done.stderr
    assert fakepay.refunds() == 30
