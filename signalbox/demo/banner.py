"""What the demo prints once it is ready."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from signalbox.demo.seed import DOUBTFUL, PASSWORD, PEOPLE, SLOW, SLOW_SECONDS, STOPPED


def text(*, web: str, provider: str, pids: Mapping[str, int], logs: Path, mails: Path) -> str:
    """Where it is, who signs in with what, and what to try."""
    width = max(len(person.email) for person in PEOPLE)
    people = "\n".join(f"    {person.email:<{width}}  {person.does}" for person in PEOPLE)
    workers = ", ".join(f"{name} {pid}" for name, pid in pids.items() if "worker" in name)
    example = json.dumps({"order_id": SLOW})
    return f"""
Signalbox is ready: {web}

  Sign in as one of these, password {PASSWORD}
{people}

  Try
    1. As ben@demo.example: open Approvals, approve one refund, reject another.
    2. As ada@demo.example: Runs, Start a run, Refund desk, input {example}
       Its refund takes about {SLOW_SECONDS} s. Meanwhile see on the page Workers, under Leases
       held, which worker has it, and kill that one: kill -9 PID   ({workers})
       It is started again, another one takes over, and there is still one refund of the run:
       {provider}
    3. As ada@demo.example: Overview, Needs an operator. A carrier never said whether it
       collects order {DOUBTFUL}: settle it. Order {STOPPED} waits until a stop is lifted.
    4. As cy@demo.example: open Audit and read who allowed what.

  Mails: {mails}
  Logs: {logs}
  Ctrl-C stops everything and keeps the data. `make demo-reset` removes it.
"""
