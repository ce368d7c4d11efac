"""Starts fakepay: `python -m agents.fakepay --port 8940 --storage FILE`."""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path

from agents.fakepay import events, faults
from agents.fakepay.provider import Provider
from agents.fakepay.server import Server
from agents.fakepay.storage import Storage

SECRET = "FAKEPAY_WEBHOOK_SECRET"  # noqa: S105  (the name of a variable)
"""The variable of the environment that holds what webhooks are signed with."""
STOPS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, then return 0; 1 when it could not start."""
    options = _options(arguments)
    # Blocked before any thread exists, so that the stop arrives nowhere but in sigwait below.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        # The address first: whoever has it also has the storage, and opening settles its keys.
        server = Server(options.host, options.port)
    except (OSError, OverflowError) as problem:
        return _give_up(f"cannot listen on {options.host}:{options.port} ({problem})", "--port")
    try:
        storage = Storage(options.storage)
    except sqlite3.Error as problem:
        return _give_up(f"cannot use {options.storage} ({problem})", "--storage")
    server.provider = Provider(
        storage,
        dedup=options.dedup,
        visibility_delay=options.visibility_delay,
        always=tuple(options.always),
        tells_after=options.webhook_delay if options.webhook else None,
    )
    if options.webhook:
        secret = os.environ.get(SECRET, "")
        teller = events.Teller(storage, options.webhook, secret)
        threading.Thread(target=teller.tell_for_ever, daemon=True).start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"fakepay listens on {server.url}\n")
    sys.stdout.flush()
    signal.sigwait(STOPS)
    server.shutdown()
    server.server_close()
    storage.close()
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agents.fakepay",
        description="The example payment provider: performs refunds and mails in a SQLite file.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument(
        "--port", type=int, default=8940, help="port (%(default)s); 0 chooses a free one"
    )
    parser.add_argument("--storage", type=Path, required=True, help="SQLite file, made if missing")
    parser.add_argument(
        "--dedup",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="replay the stored answer for a repeated Idempotency-Key",
    )
    parser.add_argument(
        "--visibility-delay",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="look-ups by key hide what is younger (%(default)s)",
    )
    parser.add_argument(
        "--always",
        type=_fault,
        action="append",
        default=[],
        metavar="JSON",
        help="a fault for the first request of every key that it matches, such as"
        ' \'{"match": {"order_id": "7"}, "fault": "delay_after:20"}\'; may be repeated',
    )
    parser.add_argument(
        "--webhook",
        metavar="URL",
        help=f"whom to tell what was performed, signed with {SECRET} of the environment",
    )
    parser.add_argument(
        "--webhook-delay",
        type=_seconds,
        default=1.0,
        metavar="SECONDS",
        help="after which time they are told (%(default)s)",
    )
    return parser.parse_args(arguments)


def _fault(text: str) -> faults.Armed:
    try:
        return faults.read(text)
    except faults.Unusable as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise ValueError
    return seconds


def _give_up(problem: str, option: str) -> int:
    sys.stderr.write(f"fakepay {problem}. Choose another {option}.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
