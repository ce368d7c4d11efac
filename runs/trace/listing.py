"""The checkpoints of a run as a list, newest first, in pages by key. No value is loaded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from runs import chain, statements
from runs.chain import Checkpoint

PAGE = 100
NEAR = 20
"""Checkpoints on each side of one that can be chosen to compare it with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One checkpoint of the list."""

    checkpoint: Checkpoint
    ran: str
    """The nodes whose work it holds that its parent does not."""
    size: int
    """Bytes of its values as they are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Checkpoints, newest first; the ids to go on from, empty where there are no more."""

    rows: list[Row]
    newer: str
    older: str
    total: int


def page(run_id: UUID, *, before: str = "", after: str = "", limit: int = PAGE) -> Page:
    """The newest checkpoints, those just older than `before`, or those just newer than `after`.

    The number of queries does not depend on how many there are.
    """
    found = ids(run_id, before=before, after=after, most=limit + 1)
    more, shown = len(found) > limit, found[:limit]
    newest_first = shown[::-1] if after else shown
    has_newer, has_older = (more, True) if after else (bool(before), more)
    return Page(
        rows=_rows(run_id, newest_first, neighbours=[*found, before]),
        newer=newest_first[0] if newest_first and has_newer else "",
        older=newest_first[-1] if newest_first and has_older else "",
        total=count(run_id),
    )


def oldest(run_id: UUID, *, after: str, most: int) -> list[Row]:
    """The checkpoints after one, oldest first."""
    found = ids(run_id, after=after, most=most + 1)
    return _rows(run_id, found[:most], neighbours=found)


def near(run_id: UUID, state_id: str, ns: str) -> list[Checkpoint]:
    """The checkpoints of the same graph around one, newest first, itself left out."""
    around = [
        *ids(run_id, before=state_id, most=NEAR),
        *ids(run_id, after=state_id, most=NEAR),
    ]
    found = chain.rows(run_id, only=around, most=len(around)) if around else []
    return [each for each in reversed(found) if each.ns == ns]


def ids(
    run_id: UUID, *, before: str = "", after: str = "", fence: int | None = None, most: int
) -> list[str]:
    """Newest first before one, oldest first after one; `fence`: what this attempt saved."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "ids"),
            {
                "thread": str(run_id),
                "before": before or None,
                "after": after or None,
                "fence": fence,
                "most": most,
            },
        )
        return [row[0] for row in cursor.fetchall()]


def count(run_id: UUID) -> int:
    """How many checkpoints the run has, those of subgraphs included."""
    return place_of(run_id, "")[1]


def place_of(run_id: UUID, checkpoint_id: str) -> tuple[int, int]:
    """The how-manieth checkpoint of the run this is, counted from 1, and how many there are."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "count"), {"thread": str(run_id), "upto": checkpoint_id}
        )
        total, place = cursor.fetchone()
    return place, total


def at_place(run_id: UUID, place: int, most: int = 1) -> list[str]:
    """The ids from the checkpoint at this place on, counted from 1."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "nth"), {"thread": str(run_id), "skip": place - 1, "most": most}
        )
        return [row[0] for row in cursor.fetchall()]


def parents(run_id: UUID, rows: Sequence[Checkpoint]) -> dict[tuple[str, str], Checkpoint]:
    """The checkpoints from which these came, by namespace and id; two queries at most."""
    known = {(row.ns, row.id): row for row in rows}
    missing = {row.parent_id for row in rows if row.parent_id} - {id_ for _, id_ in known}
    if missing:
        # With their children, which say that their steps have ended.
        family = [*missing, *(row.id for row in rows if row.parent_id in missing)]
        for row in chain.rows(run_id, only=family, most=len(family)):
            known.setdefault((row.ns, row.id), row)
    return known


def _rows(run_id: UUID, shown: Sequence[str], neighbours: Collection[str]) -> list[Row]:
    """`neighbours` say which steps have ended."""
    wanted = {*shown, *filter(None, neighbours)}
    if not wanted:
        return []
    found = chain.rows(run_id, only=sorted(wanted), most=len(wanted))
    before = parents(run_id, found)
    by_id = {row.id: row for row in found}
    sizes = _sizes(run_id, [by_id[id_] for id_ in shown if id_ in by_id])
    return [
        Row(checkpoint=row, ran=_ran(row, before), size=sizes.get(row.id, 0))
        for row in (by_id[id_] for id_ in shown if id_ in by_id)
    ]


def _ran(row: Checkpoint, before: dict[tuple[str, str], Checkpoint]) -> str:
    parent = before.get((row.ns, row.parent_id or ""))
    return parent.nodes if parent else ""


def _sizes(run_id: UUID, rows: Sequence[Checkpoint]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "sizes"),
            {
                "thread": str(run_id),
                "spaces": [row.ns for row in rows],
                "only": [row.id for row in rows],
            },
        )
        return {id_: int(size) for id_, size in cursor.fetchall()}
