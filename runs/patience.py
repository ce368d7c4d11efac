"""How long a page may search.

A page wants the first rows, and an index has them. So a statement that takes long is given up, and
none is shared out among processes or compiled: to start that takes longer than to find a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg.errors
from django.db import OperationalError, connection, transaction

SECONDS = 5
"""That one statement may take."""
_LIMITS = (
    "SELECT set_config('statement_timeout', %s, true),"
    " set_config('max_parallel_workers_per_gather', '0', true),"
    " set_config('jit', 'off', true)"
)


@contextmanager
def patience(too_slow: type[Exception], seconds: float | None = None) -> Iterator[None]:
    """Raise `too_slow` if one statement within takes longer: than SECONDS, unless it is said."""
    most = SECONDS if seconds is None else seconds
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_LIMITS, [f"{most * 1000:.0f}ms"])
            yield
    except OperationalError as exc:
        if not isinstance(exc.__cause__, psycopg.errors.QueryCanceled):
            raise
        raise too_slow from exc
