"""The shapes of questions: how a payload is recognised, what a person reads, what the agent gets.

Pure functions. Besides ours there are those of LangChain's middleware and of Agent Inbox; in all of
them an answer of the wrong form is stored before it is refused, so nothing is answered by guess.

1. `ours` is raised by `approvals.ask`. Only it names the effect that an approval permits.
2. `plain` is everything nobody knows: approve and reject mean True and False unless the policy maps
   them to something else.
3. The others are recognised and shown, and can be answered only where the policy maps the verdict.
4. No answer is None, and none can be taken for a map of interrupt ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import models

from approvals import errors, policy
from approvals.status import Verdict
from audit import canonical

MARK = "signalbox"
VERSION = 1
OURS = frozenset({MARK, "question", "tool", "args", "facts", "why", "digest"})
LONGEST_TITLE = 300
LONGEST_TOOL = 200
LONGEST_VALUE = 64 * 1024
"""Bytes of JSON that an answer may carry."""
INCOMPARABLE = "incomparable"
"""Digest of a payload that cannot be told apart from others. Nobody can approve it."""


class Shape(models.TextChoices):
    OURS = "ours", "Signalbox question"
    PLAIN = "plain", "Plain payload"
    LANGCHAIN_BATCHED = "langchain_batched", "LangChain list of tool calls"
    LANGCHAIN_CALL = "langchain_call", "LangChain tool call"
    AGENT_INBOX = "agent_inbox", "Agent Inbox request"
    TYPED = "typed", "Question with a schema for its answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person reads. All but the tool's name and arguments is the agent's own words."""

    title: str
    tool: str = ""
    args: object = None
    facts: Mapping[str, object] = field(default_factory=dict)
    why: str = ""


class Nothing:
    """No answer: neither the shape nor the policy says what the agent should get."""


NOTHING = Nothing()


def fingerprint(payload: object) -> str:
    """What tells this payload from every other; INCOMPARABLE if nothing soundly does."""
    try:
        return canonical.fingerprint(payload)
    except canonical.NotCanonical:
        return INCOMPARABLE


def detect(payload: object, schema: object = None) -> Shape:
    """Which shape the payload of an interrupt has. `schema` is the interrupt's response schema."""
    if _is_ours(payload):
        return Shape.OURS
    if isinstance(payload, Mapping):
        if _lists(payload, "action_requests", "review_configs"):
            return Shape.LANGCHAIN_BATCHED
        if payload.get("type") == "tool_approval":
            return Shape.LANGCHAIN_CALL
    if _inbox(payload) is not None:
        return Shape.AGENT_INBOX
    return Shape.PLAIN if schema is None else Shape.TYPED


def _is_ours(payload: object) -> bool:
    if not isinstance(payload, dict) or payload.keys() != OURS:
        return False
    types = {MARK: int, "args": dict, "facts": dict}
    return (
        all(type(value) is types.get(key, str) for key, value in payload.items())
        and payload[MARK] == VERSION
        and usable_tool(payload["tool"])
        and fingerprint({key: payload[key] for key in OURS - {"digest"}}) == payload["digest"]
    )


def usable_tool(name: str) -> bool:
    """Whether a request can keep this name of a tool."""
    return len(name) <= LONGEST_TOOL and canonical.text(name) == name


def _lists(payload: Mapping[str, object], *keys: str) -> bool:
    return all(isinstance(payload.get(key), list) for key in keys)


def _inbox(payload: object) -> tuple[Mapping[str, object], object] | None:
    """Action and description of a request in Agent Inbox's format; it may be a list of one."""
    one = payload[0] if isinstance(payload, list) and len(payload) == 1 else payload
    if isinstance(one, Mapping) and isinstance(one.get("config"), Mapping):
        action = one.get("action_request")
        if isinstance(action, Mapping):
            return action, one.get("description")
    return None


# --- what a person reads --------------------------------------------------------------------------


def describe(shape: str, payload: object) -> Question:
    """The question in `payload`, which may be the stored form that `canonical.visible` made."""
    match shape:
        case Shape.OURS if isinstance(payload, Mapping):
            return Question(
                title=_line(payload["question"]),
                tool=payload["tool"],
                args=payload["args"],
                facts=payload["facts"],
                why=payload["why"],
            )
        case Shape.LANGCHAIN_BATCHED if isinstance(payload, Mapping):
            return _batch(payload["action_requests"])
        case Shape.LANGCHAIN_CALL if isinstance(payload, Mapping):
            return _call(payload.get("name"), payload.get("args"), payload.get("description"))
        case Shape.AGENT_INBOX if (found := _inbox(payload)) is not None:
            action, description = found
            return _call(action.get("action"), action.get("args"), description)
    return Question(title=_line(_words(payload)))


def _batch(requests: list[object]) -> Question:
    calls = [each for each in requests if isinstance(each, Mapping)]
    names = [str(each.get("name") or "a tool") for each in calls]
    if len(calls) == 1:
        return _call(names[0], calls[0].get("args"), calls[0].get("description"))
    return Question(title=_line(f"Call {', '.join(names) or 'nothing'}"))


def _call(name: object, args: object, description: object) -> Question:
    tool = name if isinstance(name, str) else ""
    why = description if isinstance(description, str) else ""
    return Question(title=_line(f"Call {tool or 'a tool'}"), tool=tool, args=args, why=why)


def _words(payload: object) -> str:
    """The text of a plain payload that reads most like a question."""
    if isinstance(payload, str):
        return payload
    if isinstance(payload, Mapping):
        for key in ("question", "message", "title", "description", "reason"):
            if isinstance(payload.get(key), str) and payload[key].strip():
                return str(payload[key])
    if payload is None or payload in ({}, []):
        return ""
    return json.dumps(canonical.visible(payload), ensure_ascii=False)


def _line(words: str) -> str:
    line = " ".join(canonical.text(words).split()) or "A question without words"
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1] + "…"


# --- what the agent gets --------------------------------------------------------------------------


def unanswerable(shape: str, verdict: str, *, answers: Mapping[str, object], digest: str) -> str:
    """Why this verdict cannot be given to a question of this shape; empty if it can."""
    if verdict == Verdict.APPROVED and digest == INCOMPARABLE:
        return (
            "This payload cannot be compared with what the agent will ask when it goes on, so it"
            " cannot be approved. The agent must ask in plain JSON."
        )
    if shape in (Shape.OURS, Shape.PLAIN) or _key(verdict) in answers:
        return ""
    return (
        f"This is a {Shape(shape).label}. It needs an answer of its own form; approve and reject"
        " have no meaning for it unless the policy says what they stand for."
    )


def check_value(shape: str, value: object) -> None:
    """Raise BadValue unless an answer to this shape may carry `value`; None is no value."""
    if value is None:
        return
    if shape != Shape.OURS:
        raise errors.BadValue("This question takes a verdict and no value.")
    if not policy.storable(value):
        raise errors.BadValue(
            "The value is not JSON that can be kept unchanged: no NUL characters, no broken"
            " characters, no numbers beyond 2**53."
        )
    if len(canonical.dumps(value)) > LONGEST_VALUE:
        raise errors.BadValue(f"The value is longer than {LONGEST_VALUE // 1024} KiB.")


def answer(  # noqa: PLR0913 (the parts of one answer)
    shape: str,
    verdict: str,
    *,
    value: object,
    comment: str,
    digest: str,
    by: str,
    answers: Mapping[str, object],
) -> object:
    """What the interrupted node receives; NOTHING if nobody has said what that would be."""
    if shape == Shape.OURS:
        return {
            "decision": str(verdict),
            "value": value,
            "comment": comment,
            "digest": digest,
            "by": by,
        }
    plain = {"approve": True, "reject": False} if shape == Shape.PLAIN else {}
    found = {**plain, **answers}.get(_key(verdict), NOTHING)
    # Policies with other values are refused by the system check; this holds if it was skipped.
    return found if found is NOTHING or policy.deliverable(found) else {"value": found}


def _key(verdict: str) -> str:
    """The verdict's name in a policy's `answers`."""
    named = {Verdict.APPROVED: "approve", Verdict.REJECTED: "reject", Verdict.EXPIRED: "expired"}
    return named[Verdict(verdict)]
