"""What all shapes of questions have in common: the words for what is asked and what is given.

A question consists of one action or several. Each is decided by one choice of those that its shape
allows; a pick is the choice that somebody made, with what belongs to it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from django.db import models

from accounts.speech import later as _
from approvals.jsonforms.schemas import Schema
from audit import canonical

LONGEST_TITLE = 300
LONGEST_TOOL = 200
INCOMPARABLE = "incomparable"
"""Digest of a payload that cannot be told apart from others. Nobody can approve it."""


class Shape(models.TextChoices):
    OURS = "ours", _("Signalbox question")
    PLAIN = "plain", _("Plain payload")
    LANGCHAIN_BATCHED = "langchain_batched", _("LangChain list of tool calls")
    LANGCHAIN_CALL = "langchain_call", _("LangChain tool call")
    AGENT_INBOX = "agent_inbox", _("Agent Inbox request")
    TYPED = "typed", _("Question with a schema for its answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person reads. All but the tool's name and arguments is the agent's own words."""

    title: str
    tool: str = ""
    args: object = None
    facts: Mapping[str, object] = field(default_factory=dict)
    why: str = ""
    target: str = ""
    """What the action is about."""
    state: Mapping[str, object] = field(default_factory=dict)
    """A few facts about the target, as it was when this was asked."""


class Nothing:
    """No answer: neither the shape nor the policy says what the agent should get."""


NOTHING = Nothing()


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, with what was agreed about its answer."""

    shape: str
    payload: object
    """As it is kept."""
    digest: str
    """Of the payload as the agent raised it."""
    schema: Schema | None = None
    """Of the answer, where the agent gave one."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What `approve`, `reject` and `expired` mean by the policy."""
    may_change: Callable[[str], bool] = _never
    """Whether the argument of this name may be changed."""
    free: bool = False
    """Whoever decides may answer with any value where the question says nothing about it."""

    @property
    def exact(self) -> bool:
        """Whether the payload is kept as it was raised. Otherwise no part of it is sent back."""
        return fingerprint(self.payload) == self.digest

    def token(self, position: int, action: object) -> str:
        """Names one action of this question in forms and votes, and no other."""
        parts = json.dumps([self.digest, position, fingerprint(action)])
        return hashlib.sha256(parts.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to decide an action."""

    key: str
    label: str
    """On its button."""
    refuses: bool = False
    """Nothing happens, and nothing is said in the action's place. All others let the agent go on
    with something, so they count as approvals."""
    text: str = ""
    """What to write with it; empty: nothing."""
    text_needed: bool = False
    changes: bool = False
    """The arguments as changed belong to it."""
    answers: bool = False
    """A value by the schema belongs to it."""


APPROVE = Choice(key="approve", label=_("Approve"))
EDIT = Choice(key="edit", label=_("Approve as changed"), changes=True)
REJECT = Choice(key="reject", label=_("Reject"), refuses=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that is to be decided."""

    token: str
    tool: str = ""
    args: object = None
    why: str = ""
    """The agent's own words."""
    choices: tuple[Choice, ...] = ()
    schema: Schema | None = None
    """Of the arguments that may be changed, or of the answer."""

    def choice(self, key: str) -> Choice | None:
        return next((each for each in self.choices if each.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What somebody chose for one action."""

    choice: str
    text: str = ""
    args: Mapping[str, object] | None = None
    """All arguments, as changed."""
    value: object = None
    """The answer."""


Picks: TypeAlias = Mapping[str, Pick]
"""By token."""


class Malformed(Exception):
    """The payload only looks like its shape, so no answer would fit; the message says why."""


class Unshaped(Malformed):
    """A policy hides so much of the payload that the rest has its shape no more."""


class BadReply(Exception):
    """A reply is not of the form that the shape wants; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an answer of ours tells besides the picks."""

    comment: str
    by: str


class Kind(Protocol):
    """One shape. The modules of this package are its implementations; all functions are pure."""

    def detects(self, payload: object, schema: Schema | None) -> bool:
        """Whether the payload of an interrupt, with this response schema, has this shape."""

    def describe(self, payload: object) -> Question:
        """What a person reads; `payload` is as it is kept."""

    def actions(self, asked: Asked) -> tuple[Action, ...]:
        """What is to be decided, and how each may be. Raises Malformed."""

    def default(self, action: Action, choice: Choice, text: str) -> Pick | None:
        """The pick that a bare approve or reject stands for; None if it stands for nothing."""

    def write(self, actions: tuple[Action, ...], picks: Picks) -> object:
        """The picks as plain JSON, to be kept with the vote; None where the verdict says all."""

    def read(
        self,
        actions: tuple[Action, ...],
        verdict: str,
        value: object,
        args: Mapping[str, object] | None,
    ) -> dict[str, Pick]:
        """The picks in what `write` made or a caller sent. Raises BadReply."""

    def changed(self, payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
        """The payload with these arguments in place of those of its actions; None: unchanged."""

    def answer(
        self, asked: Asked, verdict: str, picks: tuple[tuple[Action, Pick], ...], said: Said
    ) -> object:
        """Exactly what the interrupted node receives; NOTHING if it can receive nothing."""


def fingerprint(payload: object) -> str:
    """What tells this payload from every other; INCOMPARABLE if nothing soundly does."""
    try:
        return canonical.fingerprint(payload)
    except canonical.NotCanonical:
        return INCOMPARABLE


def usable_tool(name: str) -> bool:
    """Whether a request can keep this name of a tool."""
    return len(name) <= LONGEST_TOOL and canonical.text(name) == name


def line(words: str) -> str:
    """`words` as a title."""
    shown = " ".join(canonical.text(words).split()) or _("A question without words")
    return shown if len(shown) <= LONGEST_TITLE else shown[: LONGEST_TITLE - 1] + "…"


def call(name: object, args: object, description: object) -> Question:
    """A question about one call of a tool."""
    tool = name if isinstance(name, str) else ""
    why = description if isinstance(description, str) else ""
    return Question(title=line(f"Call {tool or 'a tool'}"), tool=tool, args=args, why=why)


def words_of(payload: object) -> str:
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
