"""Asking from inside a node: what was approved is what runs.

    if not approvals.ask("Refund order 7?", tool="payments.refund", args={...}):
        return {"status": "refused"}

1. The question carries its own digest. After the resume the node's code has run again, so the
   digest is taken again and must equal the one that was decided. Of the target alone, the facts may
   differ: then the question is put again, see `targets`.
2. The answer is true if it is an approval, and for nothing else: rejected and expired are false.
3. `tool` and `args` name the effect that an approval permits; the ledger wants exactly these.
   Where a policy lets people change arguments, the answer has them as changed, in `args`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from langgraph.types import interrupt

from approvals.errors import AnswerForOtherPayload, PayloadNotPlain
from approvals.shapes import LONGEST_TOOL, usable_tool
from audit import canonical
from ledger.errors import Declined
from runs.stop import AskAnew

if TYPE_CHECKING:
    from types import ModuleType

    from approvals.targets import Fingerprint
    from ledger.agent_tools import Asks
    from ledger.tools import Described

VERDICTS = ("approved", "rejected", "expired")
PARTS = frozenset({"question", "tool", "args", "facts", "why", "target", "fingerprint"})


class TargetChanged(AskAnew):
    """What the action is about has changed since it was approved. The question is put again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What people, or the deadline, said to a question."""

    decision: str
    """approved, rejected or expired."""
    value: object
    """What the approver entered, if anything."""
    comment: str
    by: str
    digest: str
    """Of the question that was decided."""
    args: Mapping[str, canonical.Json] = field(default_factory=dict)
    """The arguments that are permitted: those asked for, or as people have changed them. What an
    approval permits is a call with exactly these, so call with these."""

    def __bool__(self) -> bool:
        return self.decision == "approved"


def ask(  # noqa: PLR0913 (what a question has)
    question: str | Mapping[str, object],
    *,
    tool: str = "",
    args: Mapping[str, object] | None = None,
    facts: Mapping[str, object] | None = None,
    why: str = "",
    target: str = "",
    fingerprint: Fingerprint | None = None,
) -> Answer:
    """Ask the group that the policy names, and return its answer.

    `facts` are shown as they are, `why` as the agent's own words. Instead of arguments, one mapping
    with these names may be passed. The first call ends the node by LangGraph's interrupt; the
    answer is returned when the node's code runs again.

    `target` names what the action is about; `fingerprint` is a few facts about its present state,
    or a function that reads them, such as {"version": 3}. By default the tool's own is taken. An
    approval counts only if they are the same when it arrives.

    Raises PayloadNotPlain for anything but plain JSON, AnswerForOtherPayload if what is asked now
    is not what was decided, and TargetChanged, which ends the node, if only the target differs.
    """
    if isinstance(question, str):
        question = {
            "question": question,
            "tool": tool,
            "args": args,
            "facts": facts,
            "why": why,
            "target": target,
            "fingerprint": fingerprint,
        }
    elif tool or args or facts or why or target or fingerprint is not None:
        raise PayloadNotPlain("Pass the question as one mapping or as arguments, not both.")
    payload = _payload(question)
    return _answer(interrupt(payload), payload)


def asks(question: str, *, why: str = "") -> Asks:
    """For `ledger.agent_tools.as_tool`: ask before each call of an agent's tool.

    `question` may name arguments, "Refund order {order_id}?". What people allowed, edited or not,
    is what is called; otherwise the model is told who did not allow it, and why.
    """

    def ask_first(described: Described) -> Mapping[str, canonical.Json]:
        args = described["args"]
        answer = ask(question.format_map(args), tool=described["tool"], args=args, why=why)
        if not answer:
            raise Declined(_not_allowed(answer))
        return answer.args

    return ask_first


def _not_allowed(answer: Answer) -> str:
    if answer.decision == "expired":
        return "Nobody allowed it in time. Nothing was sent. Do not try it again."
    said = f": {answer.comment}" if answer.comment else ""
    return f"{answer.by or 'A person'} did not allow it{said}. Nothing was sent."


def _payload(given: Mapping[str, object]) -> dict[str, object]:
    """The interrupt's payload: exactly what a checkpoint gives back, with its digest."""
    unknown = given.keys() - PARTS
    if unknown:
        raise PayloadNotPlain(f"A question has no {sorted(map(str, unknown))[0]!r}.")
    asked = {
        "signalbox": 1,
        "question": given.get("question"),
        "tool": given.get("tool") or "",
        "args": given.get("args") or {},
        "facts": given.get("facts") or {},
        "why": given.get("why") or "",
    }
    for name in ("question", "tool", "why"):
        if not isinstance(asked[name], str):
            raise PayloadNotPlain(f"{name} must be text.")
    for name in ("args", "facts"):
        if not isinstance(asked[name], Mapping):
            raise PayloadNotPlain(f"{name} must be a mapping.")
    if not str(asked["question"]).strip():
        raise PayloadNotPlain("A question needs words.")
    if not usable_tool(str(asked["tool"])):
        raise PayloadNotPlain(f"A tool's name has up to {LONGEST_TOOL} characters and no NUL.")
    if asked["args"] and not asked["tool"]:
        raise PayloadNotPlain("args without a tool permit nothing. Name the tool.")
    try:
        # To plain values and back: a tuple or an enum would change its type in a checkpoint.
        plain: dict[str, object] = json.loads(canonical.dumps(asked))
    except canonical.NotCanonical as exc:
        raise PayloadNotPlain(f"A question must be plain JSON. {exc}") from exc
    about = _target(given, plain)
    return _signed(plain if about is None else {**plain, "target": about})


def _target(given: Mapping[str, object], plain: Mapping[str, object]) -> dict[str, object] | None:
    reads, args = given.get("fingerprint"), plain["args"]
    if not (reads is None or callable(reads) or isinstance(reads, Mapping)):
        raise PayloadNotPlain("fingerprint must be a mapping, or a function that returns one.")
    name, tool = given.get("target") or "", str(plain["tool"])
    if not (name or tool or reads is not None):
        return None
    state: dict[str, object] | None = _targets().state(name, reads, tool, args)
    return state


def _targets() -> ModuleType:
    """Needs the database, and code that only imports this module has none."""
    return import_module("approvals.targets")


def _signed(payload: Mapping[str, object]) -> dict[str, object]:
    body = {key: value for key, value in payload.items() if key != "digest"}
    return {**body, "digest": canonical.fingerprint(body)}


def _answer(given: object, payload: Mapping[str, object]) -> Answer:
    if not isinstance(given, dict):
        raise AnswerForOtherPayload
    # The question as it was decided: this one, but for the facts about its target.
    asked = _as_decided(payload, given.get("target"))
    digest = canonical.fingerprint(asked)
    if given.get("digest") != digest:
        raise AnswerForOtherPayload
    decision, comment, by = (given.get(key) for key in ("decision", "comment", "by"))
    if decision not in VERDICTS or not isinstance(comment, str) or not isinstance(by, str):
        raise AnswerForOtherPayload("The answer is not one of Signalbox's, so it is not used.")
    before, now = asked.get("target"), payload.get("target")
    if decision == "approved" and now is not None:
        good = _targets().still_good(digest, before=before, now=now)
        if not good:
            raise TargetChanged
    args = given.get("args", payload["args"])
    return Answer(
        decision=str(decision),
        value=given.get("value"),
        comment=comment,
        by=by,
        digest=digest,
        args=args if isinstance(args, dict) else {},
    )


def _as_decided(payload: Mapping[str, object], facts: object) -> Mapping[str, object]:
    target = payload.get("target")
    if not isinstance(target, dict) or not isinstance(facts, dict):
        return payload
    return _signed({**payload, "target": {**target, "facts": facts}})
