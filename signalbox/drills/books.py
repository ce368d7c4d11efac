"""What a person sees at the provider: its own books, read from its storage file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """The provider's storage file."""

    path: Path

    def refund_of(self, order_id: str) -> str | None:
        """The reference of the order's refund; None if there is none."""
        found = self._rows("SELECT id FROM refunds WHERE order_id = ?", order_id)
        return str(found[0][0]) if found else None

    def busy_with(self, order_id: str) -> bool:
        """Whether a request about the order has arrived and is not answered yet."""
        return bool(
            self._rows(
                "SELECT id FROM requests WHERE answer IS NULL AND method = 'POST'"
                " AND json_extract(body, '$.order_id') = ?",
                order_id,
            )
        )

    def _rows(self, sql: str, *values: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=20)) as books:
            return books.execute(sql, values).fetchall()
