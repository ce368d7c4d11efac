"""What the demo prints once it is ready."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from signalbox.demo.seed import PASSWORD, PEOPLE


def text(*, web: str, provider: str, pids: Mapping[str, int], logs: Path) -> str:
    """Where it is, who signs in with what, and what to try."""
    width = max(len(person.email) for person in PEOPLE)
    people = "\n".join(f"    {person.email:<{width}}  {person.does}" for person in PEOPLE)
    workers = ", ".join(f"{name} {pid}" for name, pid in pids.items() if "worker" in name)
    return f"""
Signalbox is ready: {web}

  Sign in as one of these, password {PASSWORD}
{people}

  Try
    1. As ben@demo.example: open Approvals, approve one refund, reject another.
    2. As ada@demo.example: start a refund of order 10394 and watch it. Kill a worker meanwhile:
       kill -9 PID   ({workers})
       It is started again, another one takes over, and there is still one refund: {provider}
    3. As cy@demo.example: open Audit and read who allowed what.

  Logs: {logs}
  Ctrl-C stops everything and keeps the data. `make demo-reset` removes it.
"""
