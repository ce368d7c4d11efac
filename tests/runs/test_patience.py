"""How long a page may search."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection, transaction

from runs import patience

pytestmark = pytest.mark.django_db


class TooSlowError(Exception):
    pass


def test_a_statement_that_takes_long_is_given_up(monkeypatch) -> None:
    before = _ask("SHOW statement_timeout")
    monkeypatch.setattr(patience, "SECONDS", 0.01)
    with pytest.raises(TooSlowError), patience.patience(TooSlowError):
        _ask("SELECT pg_sleep(5)")
    assert _ask("SHOW statement_timeout") == before


@pytest.mark.parametrize(
    ("name", "before", "within"),
    [("max_parallel_workers_per_gather", "2", "0"), ("jit", "on", "off")],
)
def test_no_statement_is_shared_out_or_compiled_while_a_page_searches(name, before, within) -> None:
    with transaction.atomic():
        _ask(f"SELECT set_config('{name}', '{before}', true)")
        with patience.patience(TooSlowError):
            assert _ask(f"SHOW {name}") == within


def test_another_error_of_the_database_stays_what_it_is() -> None:
    with pytest.raises(OperationalError), patience.patience(TooSlowError):
        raise OperationalError("gone")


def _ask(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]
