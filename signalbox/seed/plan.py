"""Which copies are made: a table of this session, `seed_copy`, with a row for each."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from accounts.models import User
from signalbox.seed.loading import SQL
from signalbox.seed.originals import ORDER, Original
from signalbox.seed.people import Cast

MOVED_ID = (SQL / "moved_id.sql").read_text()
WANTED = (SQL / "wanted.sql").read_text()
EMPTY = (
    "CREATE TEMPORARY TABLE seed_wanted (id uuid, original uuid, shift interval, moved bigint,"
    " number text, starter bigint, starter_label text, approver bigint, approver_label text,"
    " ended boolean)"
)
IN_ORDER = "CREATE TEMPORARY TABLE seed_copy AS SELECT * FROM seed_wanted ORDER BY shift"
"""As rows lie in tables that grew by the day: the oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Something in an original's texts that is another in each copy."""

    text: str
    """As SQL."""
    other: str
    """The same in the copy `c`, as SQL."""


def words(cast: Cast) -> list[Word]:
    """What is replaced in texts."""
    people = [(cast.requester, "starter"), (cast.approver, "approver"), (cast.operator, "approver")]
    return [
        Word(text="o.seed_run::text", other="c.id::text"),
        Word(text=f"'{ORDER}'", other="c.number"),
        *(Word(text=f"'{user.label}'", other=f"c.{place}_label") for user, place in people),
    ]


def prepare() -> None:
    """Make the tables of the plan, for this session."""
    _execute(MOVED_ID)
    _execute(EMPTY)


def want(original: Original, *, count: int, first: int, newest: float, oldest: float) -> None:
    """Say that `count` copies are wanted, begun between so many seconds ago, with order numbers
    from `first` on."""
    given: dict[str, str | float] = {"original": str(original.run_id), "ended": original.ended}
    given |= {"count": count, "first": first, "people": User.objects.count()}
    _execute(WANTED, given | {"newest": newest, "oldest": oldest})


def settle() -> None:
    """Put all that is wanted in order."""
    _execute(IN_ORDER)
    _execute("ANALYZE seed_copy")


def _execute(statement: str, given: dict[str, str | float] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
