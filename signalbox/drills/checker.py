"""Checking: what must hold after a drill, from the provider's books and the tables alone.

This file shares no code with Signalbox: plain SQL on PostgreSQL and on the provider's SQLite file.
Each check returns sentences; each sentence is a violation.

1. Every run has ended in order, nobody holds it, and each step's outcome counts once.
2. The provider performed every refund exactly once if it was allowed, else never; the ledger says
   the same, and knows of nothing under way.
3. Every question was asked once, decided once, by somebody who saw what was asked; the node got
   exactly that decision, and nothing was refunded before it.
4. Attempts follow each other: fences rise, nobody drives twice, nothing is written under a fence
   after something was written under a later one.
5. While an effect was in doubt, nothing else of its run was started, and where only the ledger
   guards, nothing was called again before a person said so. Nobody rests on an unseen decision.
6. The audit log tells each of these things.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

SQL = Path(__file__).parent / "sql"
DONE = ("sent", "confirmed")
TELLS_DONE = ("effect.sent", "effect.confirmed", "effect.late_success", "effect.settled")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What one run should have come to."""

    run_id: str
    orders: tuple[str, ...]
    """Each is refunded once if the gate was approved, or if there is none."""
    amount_cents: int
    steps: tuple[str, ...]
    """Nodes whose outcome is in the state; `refund` only if there was one."""
    receipts: bool = True
    """The references of its refunds must be in the state."""
    gate: str = ""
    """The question whose approval the refund needs."""
    permit: bool = False
    """The refund needs a permit of exactly its arguments."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Every question, and the verdict on it if it is known."""
    outdated: tuple[str, ...] = ()
    """Questions among them of which no answer may have reached the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found about one run."""

    effects_outside: int
    effects_expected: int
    requests_received: int
    questions_asked: int
    questions_expected: int
    violations: tuple[str, ...]


def check(database: str, storage: Path, expected: Sequence[Expected]) -> list[Found]:
    """Check every run; both stores are read once. One answer per expectation, in order."""
    runs = [each.run_id for each in expected]
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        tables = {
            name: _by_run(connection.execute((SQL / f"{name}.sql").read_text(), {"runs": runs}))
            for name in ("runs", "attempts", "requests", "effects", "calls", "saved", "told")
        }
    refunds, posts = _books(storage)
    return [
        _Case(
            expected=each,
            refunds=[row for row in refunds if row["order_id"] in each.orders],
            posts=sum(posts[order] for order in each.orders),
            **{name: rows.get(each.run_id, []) for name, rows in tables.items()},
        ).found()
        for each in expected
    ]


def strangers(storage: Path, expected: Sequence[Expected]) -> list[str]:
    """Refunds that nobody has asked for at all."""
    known = {order for each in expected for order in each.orders}
    refunds, _ = _books(storage)
    return [f"refund {row['id']} is of unknown order {row['order_id']}" for row in refunds
            if row["order_id"] not in known]  # fmt: skip


def _by_run(rows: psycopg.Cursor[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row["run_id"]), []).append(row)
    return found


def _books(storage: Path) -> tuple[list[Row], Counter[str]]:
    """The provider's refunds, and how many requests arrived for each order."""
    with closing(sqlite3.connect(f"file:{storage}?mode=ro", uri=True, timeout=30)) as books:
        books.row_factory = sqlite3.Row
        refunds = [dict(row) for row in books.execute("SELECT * FROM refunds ORDER BY rowid")]
        bodies = books.execute("SELECT body FROM requests WHERE method = 'POST'").fetchall()
    return refunds, Counter(json.loads(row["body"])["order_id"] for row in bodies)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One run with everything that was found about it."""

    expected: Expected
    refunds: list[Row]
    posts: int
    runs: list[Row]
    attempts: list[Row]
    requests: list[Row]
    effects: list[Row]
    calls: list[Row]
    saved: list[Row]
    told: list[Row]

    def found(self) -> Found:
        violations = list(self._violations()) if self.runs else ["the run is gone"]
        return Found(
            effects_outside=len(self.refunds),
            effects_expected=len(self.expected.orders) if self._allowed else 0,
            requests_received=self.posts,
            questions_asked=len(self._questions),
            questions_expected=len(self.expected.verdicts),
            violations=tuple(violations),
        )

    @property
    def _run(self) -> Row:
        return self.runs[0]

    @property
    def _questions(self) -> list[Row]:
        """Each request once, however many decisions it has."""
        return list({row["id"]: row for row in self.requests}.values())

    @property
    def _decisions(self) -> dict[str, list[Row]]:
        """The decisions on each question; more than one row per question is a violation."""
        found: dict[str, list[Row]] = {}
        for row in self.requests:
            if row["decision_id"] is not None:
                found.setdefault(row["question"], []).append(row)
        return found

    @property
    def _allowed(self) -> bool:
        """Whether the refund is to happen."""
        made = self._decisions.get(self.expected.gate, [])
        return not self.expected.gate or any(row["verdict"] == "approved" for row in made)

    def _violations(self) -> Iterator[str]:
        yield from self._ended()
        yield from self._performed_once()
        yield from self._ledger_agrees()
        yield from self._asked_once()
        yield from self._decided_once()
        yield from self._answered()
        yield from self._permission_first()
        yield from self._one_driver()
        yield from self._fenced_checkpoints()
        yield from self._fenced_calls()
        yield from self._latched()
        yield from self._nothing_guessed()
        yield from self._no_unseen_decision()
        yield from self._audited()

    # --- 1 ----------------------------------------------------------------------------------------

    def _ended(self) -> Iterator[str]:
        run = self._run
        if run["status"] != "succeeded":
            why = f"{run['park_reason']} {run['error_class']} {run['error']}".strip()
            yield f"the run did not succeed: {run['status']} {why}".rstrip()
        if run["holder"] or run["expires_at"] is not None:
            yield f"the lease is not free: {run['holder']} until {run['expires_at']}"
        if run["status"] == "succeeded":
            yield from self._steps_once(run["output"] or {})

    def _steps_once(self, output: Row) -> Iterator[str]:
        wanted = [step for step in self.expected.steps if step != "refund" or self._allowed]
        if Counter(output.get("steps", [])) != Counter(wanted):
            yield f"steps {output.get('steps')} count instead of {wanted}"
        receipts, wanted = output.get("receipts", []), [row["id"] for row in self.refunds]
        if self.expected.receipts and Counter(receipts) != Counter(wanted):
            yield f"the run has the receipts {receipts} of the refunds {wanted}"

    # --- 2 ----------------------------------------------------------------------------------------

    def _performed_once(self) -> Iterator[str]:
        for order in self.expected.orders:
            performed = [row for row in self.refunds if row["order_id"] == order]
            if len(performed) != int(self._allowed):
                yield f"order {order} was refunded {len(performed)} times, not {self._allowed:d}"
            amounts = {row["amount_cents"] for row in performed}
            if amounts - {self.expected.amount_cents}:
                yield f"order {order} was refunded {amounts}, not {self.expected.amount_cents}"

    def _ledger_agrees(self) -> Iterator[str]:
        """Status, reference and number of the effects are those of the provider's refunds."""
        outside = {(row["order_id"], row["id"]) for row in self.refunds}
        inside = {
            (row["args"]["order_id"], row["provider_ref"])
            for row in self.effects
            if row["status"] in ("sent", "confirmed")
        }
        if inside != outside or len(self.effects) != len(outside):
            shown = [(row["status"], row["provider_ref"]) for row in self.effects]
            yield f"the ledger says {shown}, the provider {sorted(outside)}"
        for row in self.effects:
            if row["incidents"]:
                yield f"an incident was opened: {row['incidents']}"
        for call in self.calls:
            if call["outcome"] == "open":
                yield f"call {call['number']} of {call['key']} is still open"

    # --- 3 ----------------------------------------------------------------------------------------

    def _asked_once(self) -> Iterator[str]:
        asked = Counter(row["question"] for row in self._questions)
        if asked != Counter(self.expected.verdicts.keys()):
            yield f"asked {dict(asked)} instead of each of {list(self.expected.verdicts)} once"
        for row in self._questions:
            if row["status"] == "pending":
                yield f"“{row['question']}” is still open"

    def _decided_once(self) -> Iterator[str]:
        for question, verdict in self.expected.verdicts.items():
            made = self._decisions.get(question, [])
            if len(made) != 1:
                yield f"“{question}” has {len(made)} decisions"
            for row in made:
                if verdict and row["verdict"] != verdict:
                    yield f"“{question}” was decided {row['verdict']}, not {verdict}"
                yield from self._in_order(row)

    def _in_order(self, row: Row) -> Iterator[str]:
        question, votes = row["question"], row["votes"] or []
        if row["status"] != row["verdict"]:
            yield f"“{question}” is {row['status']}, but was decided {row['verdict']}"
        if row["decision_digest"] != row["digest"] or {each[1] for each in votes} - {row["digest"]}:
            yield f"“{question}” was decided on another payload than it shows"
        if row["verdict"] == "expired":
            if row["decided_at"] < row["deadline"]:
                yield f"“{question}” expired before its deadline"
            return
        if row["decided_at"] >= row["deadline"]:
            yield f"“{question}” was decided after its deadline"
        if len(votes) != 1:
            yield f"“{question}” has {len(votes)} votes for one decision"

    def _answered(self) -> Iterator[str]:
        """Each answer in the state is the decision on that very question."""
        output = self._run["output"] or {}
        got = Counter(_same(each) for each in output.get("answers", []))
        wanted: Counter[str] = Counter()
        for question in self.expected.verdicts:
            for row in self._decisions.get(question, []):
                outdated = question in self.expected.outdated
                if not outdated:
                    wanted[_same({"question": question, "got": row["answer"]})] += 1
                if outdated == (row["delivery"] == "took_effect"):
                    yield f"the decision on “{question}” is {row['delivery']}"
        if got != wanted:
            yield f"the nodes were answered {list(got.elements())}, not {list(wanted.elements())}"

    def _permission_first(self) -> Iterator[str]:
        if not self.expected.gate:
            return
        made = self._decisions.get(self.expected.gate, [])
        for effect in self.effects:
            before = [row for row in made if row["decided_at"] < effect["created_at"]]
            if not any(row["verdict"] == "approved" for row in before):
                yield f"{effect['key']} was reserved before “{self.expected.gate}” was approved"
            permits = {row["decision_id"] for row in made}
            if self.expected.permit and effect["permit"] not in permits:
                yield f"{effect['key']} has the permit {effect['permit']}, of no such decision"

    # --- 4 ----------------------------------------------------------------------------------------

    def _one_driver(self) -> Iterator[str]:
        fences = [row["fence"] for row in self.attempts]
        if fences != list(range(1, len(fences) + 1)) or self._run["fence"] != len(fences):
            yield f"fences do not rise by one: {fences}, lease {self._run['fence']}"
        for row in self.attempts:
            if row["outcome"] == "open":
                yield f"attempt {row['fence']} is still open"
        for one, next_one in pairwise(self.attempts):
            if one["ended_at"] is None or one["ended_at"] > next_one["started_at"]:
                yield f"attempts {one['fence']} and {next_one['fence']} overlap"

    def _fenced_checkpoints(self) -> Iterator[str]:
        """`saved` is in the order in which rows were written, not in that of their ids."""
        fences = {row["fence"] for row in self.attempts}
        for row in self.saved:
            if row["fence"] not in fences:
                yield f"checkpoint {row['checkpoint_id']} has the fence {row['fence']}"
        for one, next_one in pairwise(self.saved):
            if (one["fence"] or 0) > (next_one["fence"] or 0):
                yield (
                    f"a checkpoint of fence {next_one['fence']} was written after one of fence"
                    f" {one['fence']}"
                )
        parents = Counter(row["parent"] for row in self.saved)
        for parent, children in parents.items():
            if children > 1:
                yield f"checkpoint {parent} has {children} successors"

    def _fenced_calls(self) -> Iterator[str]:
        """Every call was marked as started while its attempt was the present one."""
        attempts = {row["fence"]: row for row in self.attempts}
        for call in self.calls:
            attempt = attempts.get(call["fence"])
            if attempt is None:
                yield f"call {call['number']} of {call['key']} has the fence {call['fence']}"
            elif call["started_at"] < attempt["started_at"] or (
                attempt["ended_at"] and call["started_at"] > attempt["ended_at"]
            ):
                yield (
                    f"call {call['number']} of {call['key']} was started outside of its attempt"
                    f" {call['fence']}"
                )

    # --- 5 ----------------------------------------------------------------------------------------

    def _latched(self) -> Iterator[str]:
        for doubt in (row for row in self.told if row["verb"] == "effect.in_doubt"):
            ends = [
                row["at"]
                for row in self.told
                if row["verb"] in ("effect.settled", "effect.late_success", "effect.late_refusal")
                and row["target_id"] == doubt["target_id"]
                and row["at"] > doubt["at"]
            ]
            for call in self.calls:
                if doubt["at"] < call["started_at"] and not (ends and ends[0] < call["started_at"]):
                    yield f"{call['key']} was called while {doubt['target_id']} was in doubt"

    def _nothing_guessed(self) -> Iterator[str]:
        """Where nobody can be asked, a call of unknown end is followed by a person's word first."""
        alone = [call for call in self.calls if call["guard"] == "ledger"]
        for one, next_one in pairwise(sorted(alone, key=lambda row: (row["key"], row["number"]))):
            if one["key"] != next_one["key"] or one["outcome"] not in ("open", "unknown"):
                continue
            said = (row["at"] for row in self.told if row["verb"] == "effect.settled")
            if not any(one["started_at"] < at < next_one["started_at"] for at in said):
                yield f"{one['key']} was called again while the end of a call was unknown"

    def _no_unseen_decision(self) -> Iterator[str]:
        for rest in (row for row in self.attempts if row["outcome"] == "waited"):
            for row in self.requests:
                made, arrived = row["decided_at"], row["delivered_at"]
                if made is None or row["delivery"] != "took_effect":
                    continue
                if made < rest["ended_at"] and (arrived is None or arrived > rest["ended_at"]):
                    yield (
                        f"attempt {rest['fence']} rested although “{row['question']}” had been"
                        " decided before"
                    )

    # --- 6 ----------------------------------------------------------------------------------------

    def _audited(self) -> Iterator[str]:
        told = Counter(row["verb"] for row in self.told)
        wanted = {
            "run.started": 1,
            "run.finished": int(self._run["status"] == "succeeded"),
            "request.opened": len(self._questions),
            "decision.made": sum(map(len, self._decisions.values())),
        }
        for verb, times in wanted.items():
            if told[verb] != times:
                yield f"the audit log says {verb} {told[verb]} times, not {times}"
        for row in self.effects:
            if row["settled_by"] and not told["effect.settled"]:
                yield f"{row['key']} was settled, and the audit log does not say so"
            if row["status"] in DONE and not self._tells_done(row["uid"]):
                yield f"{row['key']} was done, and the audit log does not say so"

    def _tells_done(self, uid: object) -> bool:
        told = (row["verb"] for row in self.told if row["target_id"] == str(uid))
        return any(verb in TELLS_DONE for verb in told)


def _same(value: object) -> str:
    """One text for equal JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
