"""Starts fakepay as the separate process that it is, for tests."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
MODULE = ("-m", "agents.fakepay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fakepay:
    """A running fakepay: its process, its address, its storage."""

    process: subprocess.Popen[str]
    url: str
    storage: Path
    http: httpx.Client

    def refund(
        self, key: str | None = "k-1", *, cents: int = 1200, order: str = "A-1", **headers: str
    ) -> httpx.Response:
        """Post a refund; headers are written without `X-Fakepay-`."""
        sent = {f"X-Fakepay-{name}": value for name, value in headers.items()}
        if key is not None:
            sent["Idempotency-Key"] = key
        body = {"order_id": order, "amount_cents": cents, "currency": "EUR"}
        return self.http.post("/v1/refunds", json=body, headers=sent)

    def arm(self, fault: str, **wanted: object) -> None:
        """Arm a fault."""
        answer = self.http.post("/_control/faults", json={"fault": fault, **wanted})
        assert answer.status_code == 200, answer.text

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Read the storage file as an independent checker does."""
        with closing(sqlite3.connect(self.storage)) as db:
            return db.execute(sql, values).fetchall()

    def change(self, sql: str) -> None:
        """Change the storage file behind its back: empty it, make a refund older."""
        with closing(sqlite3.connect(self.storage)) as db, db:
            db.executescript(sql)

    def refunds(self) -> int:
        """How many refunds the storage holds."""
        return len(self.rows("SELECT id FROM refunds"))

    def answers(self) -> list[object]:
        """How the requests ended, oldest first."""
        return [row[0] for row in self.rows("SELECT answer FROM requests ORDER BY id")]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python to its end and keep what it wrote."""
    line = [sys.executable, *arguments]
    return subprocess.run(  # noqa: S603 - our own command line
        line, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False, timeout=60
    )


def _environment() -> dict[str, str]:
    """Ours without Django's settings, which fakepay must not need."""
    return {name: value for name, value in os.environ.items() if "DJANGO" not in name}


@contextmanager
def running(storage: Path, *options: str) -> Iterator[Fakepay]:
    """A fakepay on a free port, killed at the end."""
    line = [sys.executable, *MODULE, "--port", "0", "--storage", str(storage), *options]
    with subprocess.Popen(  # noqa: S603 - our own command line
        line, cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("fakepay listens on ").strip()
            with httpx.Client(base_url=url, trust_env=False, timeout=20) as http:
                yield Fakepay(process=process, url=url, storage=storage, http=http)
        finally:
            process.kill()


def wait_until(condition: Callable[[], object], *, seconds: float = 20) -> None:
    """Return once the condition holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)
