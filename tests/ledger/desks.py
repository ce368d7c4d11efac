"""Destinations of tests: they remember what they got, and answer what a test has them answer."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from ledger.outbox import Letter
from ledger.outcomes import Outcome

GOT: list[Letter] = []
ANSWERS: list[Outcome | Exception] = []
"""What the next letters are answered with, in this order; after that, all is well."""


def take(letter: Letter) -> Outcome:
    GOT.append(letter)
    answer = ANSWERS.pop(0) if ANSWERS else Outcome.success("")
    if isinstance(answer, Exception):
        raise answer
    return answer


def write_down(letter: Letter) -> Outcome:
    """For receivers in other processes: a line for each letter, in the order of arrival."""
    line = f"{letter.id} {letter.payload['n']} {os.getpid()} {datetime.now(UTC).isoformat()}\n"
    with Path(letter.payload["file"]).open("a") as file:
        file.write(line)
    return Outcome.success("")
