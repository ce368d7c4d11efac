"""What fakepay remembers: one SQLite file that survives a kill at any moment.

A checker may read the file with plain sqlite3 while fakepay runs, or after it was killed. One
fakepay process per file. Times are UTC text of SQLite's own clock, `2031-05-01T12:00:00.123Z`.

    requests  every GET, POST and DELETE to /v1 that arrived whole, committed before anything else
        id          rising number
        at          when it arrived
        method, path            without the query
        key         the Idempotency-Key header (of a look-up: the key asked for), or null
        body        as received
        fault       the faults that were applied to it, comma separated, or empty
        answer      the HTTP status as text, `dropped` (connection closed without an answer),
                    `crashed` (a defect of fakepay), or null: not answered yet, or fakepay died

    refunds   every refund performed, committed before its answer left
        id          re_...
        at, key, order_id, amount_cents, currency, reason
        request_id  the request that performed it

    mails     every mail sent, likewise
        id          ml_...
        at, key, recipient, subject, text, order_id, request_id

    cancellations   every refund taken back again, likewise; once per refund
        id          ca_...
        at, key, refund_id, reason, request_id

    events    what is told by webhook, written with what it tells of
        id          rising number
        body        JSON, as it is posted
        due         seconds of the Unix epoch: not posted before
        tries       times it was posted
        told        when it was accepted, or null

    keys      deduplication: what is replayed to whom
        key         the Idempotency-Key
        fingerprint SHA-256 of the path and the parameters of the first request
        state       in_flight or done
        status, response        what is replayed (JSON); null until the endpoint has run
        request_id  the request that claimed the key

Invariants
1. A refund or mail and the answer stored for its key are one transaction: no crash parts them.
2. A key is in flight only while the request that claimed it is being served. Whatever a killed
   process left in flight is settled when the file is opened: performed becomes done, the rest
   is forgotten and may be tried again.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

Row = dict[str, object]

SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT,
    body TEXT NOT NULL,
    fault TEXT NOT NULL,
    answer TEXT
);
CREATE TABLE IF NOT EXISTS refunds (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    key TEXT,
    order_id TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    currency TEXT NOT NULL,
    reason TEXT,
    request_id INTEGER NOT NULL REFERENCES requests (id)
);
CREATE INDEX IF NOT EXISTS refunds_key ON refunds (key);
CREATE TABLE IF NOT EXISTS mails (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    key TEXT,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    order_id TEXT,
    request_id INTEGER NOT NULL REFERENCES requests (id)
);
CREATE INDEX IF NOT EXISTS mails_key ON mails (key);
CREATE TABLE IF NOT EXISTS cancellations (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    key TEXT,
    refund_id TEXT NOT NULL UNIQUE REFERENCES refunds (id),
    reason TEXT,
    request_id INTEGER NOT NULL REFERENCES requests (id)
);
CREATE INDEX IF NOT EXISTS cancellations_key ON cancellations (key);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    due REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    told TEXT
);
CREATE INDEX IF NOT EXISTS events_due ON events (due) WHERE told IS NULL;
CREATE TABLE IF NOT EXISTS keys (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'in_flight' CHECK (state IN ('in_flight', 'done')),
    status INTEGER,
    response TEXT,
    request_id INTEGER NOT NULL UNIQUE REFERENCES requests (id),
    CHECK ((status IS NULL) = (response IS NULL)),
    CHECK (state = 'in_flight' OR response IS NOT NULL)
);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One thing that fakepay performs: how its rows are named, written and found."""

    prefix: str
    insert: str
    get: str
    find: str
    recent: str


REFUND = Kind(
    prefix="re_",
    insert="""
        INSERT INTO refunds (id, key, order_id, amount_cents, currency, reason, request_id)
        VALUES (:id, :key, :order_id, :amount_cents, :currency, :reason, :request_id)
    """,
    get="SELECT * FROM refunds WHERE id = :id",
    find="""
        SELECT * FROM refunds
         WHERE key = :key
           AND (:delay = 0 OR at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', -:delay || ' seconds'))
         ORDER BY rowid
    """,
    recent="SELECT * FROM refunds ORDER BY rowid DESC LIMIT :limit",
)
MAIL = Kind(
    prefix="ml_",
    insert="""
        INSERT INTO mails (id, key, recipient, subject, text, order_id, request_id)
        VALUES (:id, :key, :to, :subject, :text, :order_id, :request_id)
    """,
    get="SELECT * FROM mails WHERE id = :id",
    find="""
        SELECT * FROM mails
         WHERE key = :key
           AND (:delay = 0 OR at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', -:delay || ' seconds'))
         ORDER BY rowid
    """,
    recent="SELECT * FROM mails ORDER BY rowid DESC LIMIT :limit",
)

CANCELLATION = Kind(
    prefix="ca_",
    insert="""
        INSERT INTO cancellations (id, key, refund_id, reason, request_id)
        VALUES (:id, :key, :refund_id, :reason, :request_id)
    """,
    get="SELECT * FROM cancellations WHERE id = :id",
    find="""
        SELECT * FROM cancellations
         WHERE key = :key
           AND (:delay = 0 OR at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', -:delay || ' seconds'))
         ORDER BY rowid
    """,
    recent="SELECT * FROM cancellations ORDER BY rowid DESC LIMIT :limit",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What an earlier request holds under a key. `status` and `response` once it is done."""

    fingerprint: str
    done: bool
    status: int
    response: str


class Storage:
    """The open file. Safe to share between threads: one connection, one transaction at a time."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. `sqlite3.Error` when it cannot be used."""
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(SCHEMA)
        self._settle_keys()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside commits together or not at all; joins a transaction already open."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def record(self, *, method: str, path: str, key: str | None, body: str, fault: str) -> int:
        """Commit that a request arrived. Returns its number."""
        with self.transaction():
            cursor = self._db.execute(
                "INSERT INTO requests (method, path, key, body, fault) VALUES (?, ?, ?, ?, ?)",
                (method, path, key, body, fault),
            )
            return cursor.lastrowid or 0

    def claim(self, key: str, fingerprint: str, request_id: int) -> Held | None:
        """None: the key is this request's now. Otherwise what an earlier request holds."""
        with self.transaction():
            row = self._db.execute("SELECT * FROM keys WHERE key = ?", (key,)).fetchone()
            if row is None:
                self._db.execute(
                    "INSERT INTO keys (key, fingerprint, request_id) VALUES (?, ?, ?)",
                    (key, fingerprint, request_id),
                )
                return None
            return Held(
                fingerprint=row["fingerprint"],
                done=row["state"] == "done",
                status=row["status"] or 0,
                response=row["response"] or "",
            )

    def perform(self, kind: Kind, values: Mapping[str, object], request_id: int) -> Row:
        """Refund the money or send the mail: that is, write the row. Returns the row."""
        with self.transaction():
            identity = kind.prefix + secrets.token_hex(12)
            self._db.execute(kind.insert, {**values, "id": identity, "request_id": request_id})
            return dict(self._db.execute(kind.get, {"id": identity}).fetchone())

    def keep(self, request_id: int, *, status: int, response: str) -> None:
        """Store the answer to replay under the key that this request claimed, if it claimed one."""
        with self.transaction():
            self._db.execute(
                "UPDATE keys SET status = ?, response = ? WHERE request_id = ?",
                (status, response, request_id),
            )

    def finish(self, request_id: int, answer: str) -> None:
        """Commit how the request ends, just before it does; its key is in flight no more."""
        with self.transaction():
            self._db.execute("UPDATE requests SET answer = ? WHERE id = ?", (answer, request_id))
            self._settle_keys(request_id)

    def get(self, kind: Kind, identity: str) -> Row | None:
        """The row with this id, however young it is, or None."""
        rows = self._rows(kind.get, {"id": identity})
        return rows[0] if rows else None

    def find(self, kind: Kind, key: str, *, delay: float) -> list[Row]:
        """The rows performed under a key, oldest first, without those younger than `delay` s."""
        return self._rows(kind.find, {"key": key, "delay": delay})

    def recent(self, limit: int = -1) -> dict[str, list[Row]]:
        """The newest requests, refunds and mails, newest first; -1 means all of them."""
        requests = "SELECT * FROM requests ORDER BY id DESC LIMIT :limit"
        with self.transaction():
            return {
                "requests": self._rows(requests, {"limit": limit}),
                "refunds": self._rows(REFUND.recent, {"limit": limit}),
                "mails": self._rows(MAIL.recent, {"limit": limit}),
                "cancellations": self._rows(CANCELLATION.recent, {"limit": limit}),
            }

    def counts(self) -> dict[str, int]:
        """How many requests, refunds, refunded orders and mails there are."""
        (row,) = self._rows(
            """
            SELECT (SELECT count(*) FROM requests) AS requests,
                   (SELECT count(*) FROM refunds) AS refunds,
                   (SELECT count(DISTINCT order_id) FROM refunds) AS orders,
                   (SELECT count(*) FROM mails) AS mails
            """,
            {},
        )
        return {name: int(str(value)) for name, value in row.items()}

    def can_be_cancelled(self, refund_id: str) -> bool:
        """Whether there is such a refund and nobody has taken it back."""
        found = """
            SELECT 1 FROM refunds WHERE id = :id
               AND NOT EXISTS (SELECT 1 FROM cancellations WHERE refund_id = :id)
        """
        return bool(self._rows(found, {"id": refund_id}))

    def add_event(self, body: str, due: float) -> None:
        """Have somebody told, from this second of the epoch on."""
        with self.transaction():
            self._db.execute("INSERT INTO events (body, due) VALUES (?, ?)", (body, due))

    def next_event(self, now: float) -> Row | None:
        """The event that is due longest, its try counted; None if none is due."""
        with self.transaction():
            rows = self._rows(
                "UPDATE events SET tries = tries + 1 WHERE id ="
                " (SELECT id FROM events WHERE told IS NULL AND due <= :now ORDER BY due LIMIT 1)"
                " RETURNING *",
                {"now": now},
            )
        return rows[0] if rows else None

    def event_told(self, number: object) -> None:
        """It was accepted."""
        with self.transaction():
            self._db.execute(
                "UPDATE events SET told = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?",
                (number,),
            )

    def event_later(self, number: object, due: float) -> None:
        """It was not accepted; try again then."""
        with self.transaction():
            self._db.execute("UPDATE events SET due = ? WHERE id = ?", (due, number))

    def close(self) -> None:
        """Close the file for good.

        The lock is kept: threads that still serve a request wait here for the end of the process
        instead of failing on a closed file.
        """
        self._lock.acquire()
        self._db.close()

    def _rows(self, sql: str, values: Mapping[str, object]) -> list[Row]:
        with self._lock:
            return [dict(row) for row in self._db.execute(sql, values)]

    def _settle_keys(self, request_id: int | None = None) -> None:
        """End what this request (None: every request) holds in flight."""
        with self.transaction():
            self._db.execute(
                "UPDATE keys SET state = 'done'"
                " WHERE response IS NOT NULL AND request_id = ifnull(?, request_id)",
                (request_id,),
            )
            self._db.execute(
                "DELETE FROM keys WHERE response IS NULL AND request_id = ifnull(?, request_id)",
                (request_id,),
            )
