"""Checking: what must hold after a drill, from the provider's books and the tables alone.

Neither this file nor `evidence` shares code with Signalbox. Each check returns sentences; each
sentence is a violation.

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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from signalbox.drills import evidence
from signalbox.drills.evidence import Case, Expected, Row

DONE = ("sent", "confirmed")
TELLS_DONE = ("effect.sent", "effect.confirmed", "effect.late_success", "effect.settled")


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
    return [_found(case) for case in evidence.read(database, storage, expected)]


def strangers(storage: Path, expected: Sequence[Expected]) -> list[str]:
    """Refunds that nobody has asked for at all."""
    known = {order for each in expected for order in each.orders}
    refunds, _ = evidence.books(storage)
    return [f"refund {row['id']} is of unknown order {row['order_id']}" for row in refunds
            if row["order_id"] not in known]  # fmt: skip


def _found(case: Case) -> Found:
    violations = list(_violations(case)) if case.runs else ["the run is gone"]
    return Found(
        effects_outside=len(case.refunds),
        effects_expected=len(case.expected.orders) if case.allowed else 0,
        requests_received=case.posts,
        questions_asked=len(case.questions),
        questions_expected=len(case.expected.verdicts),
        violations=tuple(violations),
    )


def _violations(case: Case) -> Iterator[str]:
    yield from _ended(case)
    yield from _performed_once(case)
    yield from _ledger_agrees(case)
    yield from _asked_once(case)
    yield from _decided_once(case)
    yield from _answered(case)
    yield from _permission_first(case)
    yield from _one_driver(case)
    yield from _fenced_checkpoints(case)
    yield from _fenced_calls(case)
    yield from _latched(case)
    yield from _nothing_guessed(case)
    yield from _no_unseen_decision(case)
    yield from _audited(case)


# --- 1 ----------------------------------------------------------------------------------------


def _ended(case: Case) -> Iterator[str]:
    run = case.run
    if run["status"] != "succeeded":
        why = f"{run['park_reason']} {run['error_class']} {run['error']}".strip()
        yield f"the run did not succeed: {run['status']} {why}".rstrip()
    if run["holder"] or run["expires_at"] is not None:
        yield f"the lease is not free: {run['holder']} until {run['expires_at']}"
    if run["status"] == "succeeded":
        yield from _steps_once(case, run["output"] or {})


def _steps_once(case: Case, output: Row) -> Iterator[str]:
    wanted = [step for step in case.expected.steps if step != "refund" or case.allowed]
    if Counter(output.get("steps", [])) != Counter(wanted):
        yield f"steps {output.get('steps')} count instead of {wanted}"
    receipts, wanted = output.get("receipts", []), [row["id"] for row in case.refunds]
    if case.expected.receipts and Counter(receipts) != Counter(wanted):
        yield f"the run has the receipts {receipts} of the refunds {wanted}"


# --- 2 ----------------------------------------------------------------------------------------


def _performed_once(case: Case) -> Iterator[str]:
    for order in case.expected.orders:
        performed = [row for row in case.refunds if row["order_id"] == order]
        if len(performed) != int(case.allowed):
            yield f"order {order} was refunded {len(performed)} times, not {case.allowed:d}"
        amounts = {row["amount_cents"] for row in performed}
        if amounts - {case.expected.amount_cents}:
            yield f"order {order} was refunded {amounts}, not {case.expected.amount_cents}"


def _ledger_agrees(case: Case) -> Iterator[str]:
    """Status, reference and number of the effects are those of the provider's refunds."""
    outside = {(row["order_id"], row["id"]) for row in case.refunds}
    inside = {
        (row["args"]["order_id"], row["provider_ref"])
        for row in case.effects
        if row["status"] in ("sent", "confirmed")
    }
    if inside != outside or len(case.effects) != len(outside):
        shown = [(row["status"], row["provider_ref"]) for row in case.effects]
        yield f"the ledger says {shown}, the provider {sorted(outside)}"
    for row in case.effects:
        if row["incidents"]:
            yield f"an incident was opened: {row['incidents']}"
    for call in case.calls:
        if call["outcome"] == "open":
            yield f"call {call['number']} of {call['key']} is still open"


# --- 3 ----------------------------------------------------------------------------------------


def _asked_once(case: Case) -> Iterator[str]:
    asked = Counter(row["question"] for row in case.questions)
    if asked != Counter(case.expected.verdicts.keys()):
        yield f"asked {dict(asked)} instead of each of {list(case.expected.verdicts)} once"
    for row in case.questions:
        if row["status"] == "pending":
            yield f"“{row['question']}” is still open"


def _decided_once(case: Case) -> Iterator[str]:
    for question, verdict in case.expected.verdicts.items():
        made = case.decisions.get(question, [])
        if len(made) != 1:
            yield f"“{question}” has {len(made)} decisions"
        for row in made:
            if verdict and row["verdict"] != verdict:
                yield f"“{question}” was decided {row['verdict']}, not {verdict}"
            yield from _in_order(case, row)


def _in_order(case: Case, row: Row) -> Iterator[str]:
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


def _answered(case: Case) -> Iterator[str]:
    """Each answer in the state is the decision on that very question."""
    output = case.run["output"] or {}
    got = Counter(_same(each) for each in output.get("answers", []))
    wanted: Counter[str] = Counter()
    for question in case.expected.verdicts:
        for row in case.decisions.get(question, []):
            outdated = question in case.expected.outdated
            if not outdated:
                wanted[_same({"question": question, "got": row["answer"]})] += 1
            if outdated == (row["delivery"] == "took_effect"):
                yield f"the decision on “{question}” is {row['delivery']}"
    if got != wanted:
        yield f"the nodes were answered {list(got.elements())}, not {list(wanted.elements())}"


def _permission_first(case: Case) -> Iterator[str]:
    if not case.expected.gate:
        return
    made = case.decisions.get(case.expected.gate, [])
    for effect in case.effects:
        before = [row for row in made if row["decided_at"] < effect["created_at"]]
        if not any(row["verdict"] == "approved" for row in before):
            yield f"{effect['key']} was reserved before “{case.expected.gate}” was approved"
        permits = {row["decision_id"] for row in made}
        if case.expected.permit and effect["permit"] not in permits:
            yield f"{effect['key']} has the permit {effect['permit']}, of no such decision"


# --- 4 ----------------------------------------------------------------------------------------


def _one_driver(case: Case) -> Iterator[str]:
    fences = [row["fence"] for row in case.attempts]
    if fences != list(range(1, len(fences) + 1)) or case.run["fence"] != len(fences):
        yield f"fences do not rise by one: {fences}, lease {case.run['fence']}"
    for row in case.attempts:
        if row["outcome"] == "open":
            yield f"attempt {row['fence']} is still open"
    for one, next_one in pairwise(case.attempts):
        if one["ended_at"] is None or one["ended_at"] > next_one["started_at"]:
            yield f"attempts {one['fence']} and {next_one['fence']} overlap"


def _fenced_checkpoints(case: Case) -> Iterator[str]:
    """`saved` is in the order in which rows were written, not in that of their ids."""
    fences = {row["fence"] for row in case.attempts}
    for row in case.saved:
        if row["fence"] not in fences:
            yield f"checkpoint {row['checkpoint_id']} has the fence {row['fence']}"
    for one, next_one in pairwise(case.saved):
        if (one["fence"] or 0) > (next_one["fence"] or 0):
            yield (
                f"a checkpoint of fence {next_one['fence']} was written after one of fence"
                f" {one['fence']}"
            )
    parents = Counter(row["parent"] for row in case.saved)
    for parent, children in parents.items():
        if children > 1:
            yield f"checkpoint {parent} has {children} successors"


def _fenced_calls(case: Case) -> Iterator[str]:
    """Every call was marked as started while its attempt was the present one."""
    attempts = {row["fence"]: row for row in case.attempts}
    for call in case.calls:
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


def _latched(case: Case) -> Iterator[str]:
    for doubt in (row for row in case.told if row["verb"] == "effect.in_doubt"):
        ends = [
            row["at"]
            for row in case.told
            if row["verb"] in ("effect.settled", "effect.late_success", "effect.late_refusal")
            and row["target_id"] == doubt["target_id"]
            and row["at"] > doubt["at"]
        ]
        for call in case.calls:
            if doubt["at"] < call["started_at"] and not (ends and ends[0] < call["started_at"]):
                yield f"{call['key']} was called while {doubt['target_id']} was in doubt"


def _nothing_guessed(case: Case) -> Iterator[str]:
    """Where nobody can be asked, a call of unknown end is followed by a person's word first."""
    alone = [call for call in case.calls if call["guard"] == "ledger"]
    for one, next_one in pairwise(sorted(alone, key=lambda row: (row["key"], row["number"]))):
        if one["key"] != next_one["key"] or one["outcome"] not in ("open", "unknown"):
            continue
        said = (row["at"] for row in case.told if row["verb"] == "effect.settled")
        if not any(one["started_at"] < at < next_one["started_at"] for at in said):
            yield f"{one['key']} was called again while the end of a call was unknown"


def _no_unseen_decision(case: Case) -> Iterator[str]:
    for rest in (row for row in case.attempts if row["outcome"] == "waited"):
        for row in case.requests:
            made, arrived = row["decided_at"], row["delivered_at"]
            if made is None or row["delivery"] != "took_effect":
                continue
            if made < rest["ended_at"] and (arrived is None or arrived > rest["ended_at"]):
                yield (
                    f"attempt {rest['fence']} rested although “{row['question']}” had been"
                    " decided before"
                )


# --- 6 ----------------------------------------------------------------------------------------


def _audited(case: Case) -> Iterator[str]:
    told = Counter(row["verb"] for row in case.told)
    wanted = {
        "run.started": 1,
        "run.finished": int(case.run["status"] == "succeeded"),
        "request.opened": len(case.questions),
        "decision.made": sum(map(len, case.decisions.values())),
    }
    for verb, times in wanted.items():
        if told[verb] != times:
            yield f"the audit log says {verb} {told[verb]} times, not {times}"
    for row in case.effects:
        if row["settled_by"] and not told["effect.settled"]:
            yield f"{row['key']} was settled, and the audit log does not say so"
        if row["status"] in DONE and not _tells_done(case, row["uid"]):
            yield f"{row['key']} was done, and the audit log does not say so"


def _tells_done(case: Case, uid: object) -> bool:
    told = (row["verb"] for row in case.told if row["target_id"] == str(uid))
    return any(verb in TELLS_DONE for verb in told)


def _same(value: object) -> str:
    """One text for equal JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
