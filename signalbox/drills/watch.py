"""Watching: one thread looks at all runs under way, ten times a second; plays wait for its news.

It asks by plain SQL on a connection of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

EVERY = 0.1
"""Seconds."""
LOOK = (Path(__file__).parent / "sql" / "watch.sql").read_text()
ENDED = ("succeeded", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An open request."""

    id: UUID
    text: str
    digest: str
    deadline: float
    """In seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """An effect in doubt."""

    uid: UUID
    order: str
    caller: int
    """The process that made its last call."""
    late: bool
    """The time of that call has been up for a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A run at one moment."""

    status: str
    park: str
    live: bool
    attempts: tuple[tuple[int, str], ...]
    """Fence and holder of each."""
    questions: tuple[Question, ...]
    doubts: tuple[Doubt, ...]

    @property
    def ended(self) -> bool:
        return self.status in ENDED and not self.live

    @property
    def words(self) -> str:
        lease = "held" if self.live else "free"
        asked = "; ".join(question.text for question in self.questions) or "nothing"
        parked = f" ({self.park})" if self.park else ""
        return (
            f"status {self.status}{parked}, lease {lease}, {len(self.attempts)} attempts,"
            f" asks {asked}, {len(self.doubts)} effects in doubt"
        )


class Watch:
    """The looking thread. `seen` is notified after every look."""

    def __init__(self, database: str) -> None:
        self.seen = threading.Condition()
        self.problem = ""
        """Why nobody needs to wait any more."""
        self._database = database
        self._runs: set[UUID] = set()
        self._views: Mapping[UUID, View] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def add(self, run_id: UUID) -> None:
        with self.seen:
            self._runs.add(run_id)

    def remove(self, run_id: UUID) -> None:
        with self.seen:
            self._runs.discard(run_id)

    def view(self, run_id: UUID) -> View | None:
        """The run as it was seen last; None if it was not seen yet."""
        return self._views.get(run_id)

    def _look_on(self) -> None:
        with psycopg.connect(self._database, autocommit=True, row_factory=dict_row) as conn:
            while not self._stop.wait(EVERY):
                runs = list(self._runs)
                try:
                    rows = conn.execute(LOOK, {"runs": runs}).fetchall() if runs else []
                except psycopg.Error as error:
                    self.problem = f"The database cannot be watched: {error}"
                    return
                with self.seen:
                    self._views = {row["id"]: _view(row) for row in rows}
                    self.seen.notify_all()

    def wait(self, until: float) -> None:
        """Until the next look, at most until this moment of the monotonic clock."""
        with self.seen:
            self.seen.wait(max(0.0, min(until - time.monotonic(), 1.0)))


def _view(row: dict[str, Any]) -> View:
    return View(
        status=row["status"],
        park=row["park_reason"],
        live=row["live"],
        attempts=tuple((fence, holder) for fence, holder in row["attempts"] or ()),
        questions=tuple(
            Question(
                id=UUID(each["id"]),
                text=each["text"],
                digest=each["digest"],
                deadline=float(each["deadline"]),
            )
            for each in row["questions"] or ()
        ),
        doubts=tuple(
            Doubt(
                uid=UUID(each["uid"]),
                order=each["order"],
                caller=int(each["holder"].rpartition(":")[2]),
                late=each["late"],
            )
            for each in row["doubts"] or ()
        ),
    )
