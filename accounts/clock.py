"""The database's clock: the only one that decides whether a deadline has passed."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from accounts import once


def now() -> datetime:
    """This very moment, also in the middle of a long transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


@once.a_page
def page() -> datetime:
    """The moment that a page is about: one for all its parts."""
    return now()
