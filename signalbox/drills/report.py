"""What a drill found, as an object for programs and as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Row:
    """One drill in one class, all its trials added up."""

    name: str
    guard: str
    trials: int = 0
    effects_outside: int = 0
    effects_expected: int = 0
    requests_received: int = 0
    questions_asked: int = 0
    questions_expected: int = 0
    violations: list[str] = field(default_factory=list)

    def told(self) -> dict[str, object]:
        """As JSON: `guard` is called `class` there."""
        values = asdict(self)
        return {"name": values.pop("name"), "class": values.pop("guard"), **values}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All drills of one evening."""

    rows: list[Row]
    audit: list[str]
    """What is wrong with the audit log as a whole."""
    seed: int
    """Of the random times."""

    @property
    def violations(self) -> int:
        return len(self.audit) + sum(len(row.violations) for row in self.rows)

    def told(self) -> dict[str, Any]:
        return {
            "drills": [row.told() for row in self.rows],
            "audit": self.audit,
            "seed": self.seed,
            "violations": self.violations,
        }

    @classmethod
    def read(cls, text: str) -> Report:
        """What `told` made."""
        told: Mapping[str, Any] = json.loads(text)
        rows = [
            Row(guard=row["class"], **{name: row[name] for name in row if name != "class"})
            for row in told["drills"]
        ]
        return cls(rows=rows, audit=told["audit"], seed=told["seed"])

    def lines(self) -> Iterator[str]:
        """A table, and under it what was violated."""
        name = max(len("drill"), *(len(row.name) for row in self.rows))
        yield f"{'drill':{name}}  class     trials  effects  requests  questions  violations"
        for row in self.rows:
            yield (
                f"{row.name:{name}}  {row.guard:8}  {row.trials:6}"
                f"  {_of(row.effects_outside, row.effects_expected):>7}  {row.requests_received:8}"
                f"  {_of(row.questions_asked, row.questions_expected):>9}"
                f"  {len(row.violations):10}"
            )
        for row in self.rows:
            for violation in row.violations:
                yield f"{row.name} {row.guard} {violation}"
        for problem in self.audit:
            yield f"audit log: {problem}"
        yield f"{self.violations} violations."


def _of(found: int, expected: int) -> str:
    return f"{found}/{expected}"
