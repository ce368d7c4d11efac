"""What must count for all processes together is in the database, not in one process."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection

pytestmark = pytest.mark.django_db


def test_the_cache_is_shared_through_the_database() -> None:
    cache.set("attempts", [1, 2, 3], timeout=60)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM signalbox_cache WHERE cache_key LIKE '%%attempts'")
        assert cursor.fetchone() == (1,)
    assert cache.get("attempts") == [1, 2, 3]
