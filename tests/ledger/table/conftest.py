"""Hands of the table: two fakepays of its own, and a database that is emptied once at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents import fakepay_process
from tests.agents.fakepay_process import Fakepay
from tests.support.flush import empty


@pytest.fixture(autouse=True)
def database(no_flush: None, transactional_db: None, emptied: None) -> None:
    """Real transactions; each cell has a run of its own, so nothing is taken away between."""


@pytest.fixture(scope="module")
def emptied(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    yield
    with django_db_blocker.unblock():
        empty()


@pytest.fixture(scope="module")
def banks(tmp_path_factory) -> Iterator[dict[bool, Fakepay]]:
    """One that deduplicates by key, and one that performs whatever arrives."""
    place = tmp_path_factory.mktemp("fakepay")
    with (
        fakepay_process.running(place / "dedup.sqlite3") as careful,
        fakepay_process.running(place / "plain.sqlite3", "--no-dedup") as plain,
    ):
        yield {True: careful, False: plain}
