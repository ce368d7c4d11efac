"""Progress within a step: a tool that takes long says that it moves, so that it is not stalled."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.db import connection

from audit import canonical
from ledger import errors, refusals
from runs import authority, statements

LONGEST_NOTE = 300


def progress(note: str = "") -> None:
    """Note that the run moves, and how far it is ("page 3 of 9"). One statement; call it freely.

    Raises LeaseGone if this worker does not drive the run any more, NoAuthority outside of a run.
    """
    mine = authority.current()
    if mine is None:
        raise errors.NoAuthority(
            "Progress was noted outside a node of a driven run. Call it in the node's own context."
        )
    opened_here = connection.connection is None
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                statements.read("ledger", "note_progress"),
                {
                    "run_id": mine.lease.run_id,
                    "fence": mine.lease.fence,
                    "note": canonical.text(note)[:LONGEST_NOTE],
                },
            )
            moved = cursor.rowcount
    finally:
        if opened_here:
            connection.close()
    if not moved:
        raise refusals.LeaseGone


async def aprogress(note: str = "") -> None:
    """`progress` for coroutines."""
    await sync_to_async(progress, thread_sensitive=False)(note)
