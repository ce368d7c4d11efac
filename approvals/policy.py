"""Policies: who may allow what, how many of them, until when, and what happens otherwise.

1. First match in APPROVALS_POLICIES wins; nothing matches: APPROVALS_DEFAULT.
2. There is always a deadline and always an outcome for it.
3. A request keeps the policy as of then. A verdict must be allowed by it and by the policy of now:
   see `together`.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from audit import canonical

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(days=3650)
"""Of a deadline."""
ANSWERS = ("approve", "reject", "expired")


class OnDeadline(models.TextChoices):
    """What happens when nobody has decided in time."""

    REJECT = "reject", "then the agent is told that it expired"
    CANCEL = "cancel", "then the run is cancelled"
    READ_ONLY = "read_only", "then the run goes on without side effects"
    PARK = "park", "then the run is parked for an operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One rule about the questions of some agents."""

    name: str
    group: str
    """Whose members decide."""
    agent: str = "*"
    node: str = "*"
    """Patterns (`fnmatch`) of the agent's name and of the node that asks."""
    four_eyes: bool = True
    """Who started the run, or sent it on by hand, may not approve. They may reject."""
    quorum: int = 1
    """How many different people must approve. One rejection is always enough."""
    deadline: timedelta = timedelta(hours=24)
    on_deadline: str = OnDeadline.REJECT
    comment_required_to_reject: bool = True
    reauthenticate_within: timedelta | None = None
    """Who decides must have proved who they are within this time."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What `approve`, `reject` and `expired` mean to an agent that asks by a bare `interrupt()`."""
    editable: Collection[str] = ()
    """Patterns (`fnmatch`) of the arguments that who decides may change. None by default."""

    def matches(self, agent: str, node: str) -> bool:
        return fnmatch.fnmatchcase(agent, self.agent) and fnmatch.fnmatchcase(node, self.node)

    def stored(self) -> dict[str, object]:
        """As JSON; `Policy.read` turns it back."""
        within = self.reauthenticate_within
        return asdict(self) | {
            "deadline": self.deadline.total_seconds(),
            "on_deadline": str(self.on_deadline),
            "reauthenticate_within": within and within.total_seconds(),
            "answers": dict(self.answers),
            "editable": list(self.editable),
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Policy:  # Any: what `stored` made
        """A policy as of then. Keys that have been given up since are ignored."""
        known = {key: value for key, value in stored.items() if key in NAMES}
        within = known.get("reauthenticate_within")
        return cls(
            **known
            | {
                "deadline": timedelta(seconds=known["deadline"]),
                "reauthenticate_within": None if within is None else timedelta(seconds=within),
                "editable": tuple(known.get("editable", ())),
            }
        )


NAMES = tuple(each.name for each in fields(Policy))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a verdict must satisfy: the policy of then and the policy of now together."""

    groups: frozenset[str]
    """All of them."""
    four_eyes: bool
    quorum: int
    comment_required_to_reject: bool
    reauthenticate_within: timedelta | None
    answers: Mapping[str, object]
    editable: tuple[Collection[str], ...] = ()
    """Patterns of arguments that may be changed; each of these policies must allow it."""

    def may_change(self, argument: str) -> bool:
        """Whether who decides may change the argument of this name."""
        return bool(self.editable) and all(
            any(fnmatch.fnmatchcase(argument, pattern) for pattern in patterns)
            for patterns in self.editable
        )

    @property
    def sentence(self) -> str:
        """Such as "2 of finance, not the requester"."""
        groups = " and ".join(sorted(self.groups))
        return f"{self.quorum} of {groups}" + (", not the requester" if self.four_eyes else "")


def together(then: Policy, now: Policy) -> Gate:
    """The stricter of the two in every respect. The answers stay those that were in force then."""
    within = [
        each.reauthenticate_within for each in (then, now) if each.reauthenticate_within is not None
    ]
    return Gate(
        groups=frozenset({then.group, now.group}),
        four_eyes=then.four_eyes or now.four_eyes,
        quorum=max(then.quorum, now.quorum),
        comment_required_to_reject=(
            then.comment_required_to_reject or now.comment_required_to_reject
        ),
        reauthenticate_within=min(within, default=None),
        answers=then.answers,
        editable=(then.editable, now.editable),
    )


def find(agent: str, node: str) -> Policy:
    """The policy in force now. Raises ImproperlyConfigured if the settings cannot be read."""
    for declared in settings.APPROVALS_POLICIES:
        policy = _parse(declared)
        if policy.matches(agent, node):
            return policy
    return _parse(settings.APPROVALS_DEFAULT)


def everything() -> list[Policy]:
    """All policies in the order in which they are tried, the default last."""
    return [_parse(each) for each in (*settings.APPROVALS_POLICIES, settings.APPROVALS_DEFAULT)]


def _parse(declared: Mapping[str, Any]) -> Policy:  # Any: a setting, of whatever type
    wrong = problems(declared)
    if wrong:
        raise ImproperlyConfigured(f"Approval policy {_named(declared)}: {' '.join(wrong)}")
    return Policy(**declared)


def check(**_: object) -> list[CheckMessage]:
    """Django's system check of the APPROVALS_* settings."""
    found: list[CheckMessage] = []
    try:
        policies = [
            *((f"APPROVALS_POLICIES[{n}]", each) for n, each in enumerate(_listed())),
            ("APPROVALS_DEFAULT", settings.APPROVALS_DEFAULT),
        ]
    except TypeError:
        return [Error("APPROVALS_POLICIES must be a list of policies.", id="approvals.E001")]
    for setting, declared in policies:
        found += [
            Error(f"{setting}: {problem}", id="approvals.E001") for problem in problems(declared)
        ]
    names = [_named(each) for _, each in policies]
    found += [
        Error(f"Two approval policies are called {name}. Rename one.", id="approvals.E002")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if not _whole(settings.APPROVALS_ROUNDS):
        found.append(Error("APPROVALS_ROUNDS must be a whole number from 1.", id="approvals.E003"))
    return found


def _listed() -> Iterable[object]:
    if isinstance(settings.APPROVALS_POLICIES, (str, Mapping)):
        raise TypeError
    return iter(settings.APPROVALS_POLICIES)


def _named(declared: object) -> str:
    return repr(declared.get("name")) if isinstance(declared, Mapping) else repr(declared)


def problems(declared: object) -> list[str]:
    """What is wrong with one policy as it is written in the settings; one sentence each."""
    if not isinstance(declared, Mapping):
        return ["must be a mapping."]
    wrong = [f"unknown key {key!r}{_meant(str(key))}" for key in declared if key not in NAMES]
    wrong += [f"lacks {name!r}." for name in ("name", "group") if name not in declared]
    for name, (fits, rule) in RULES.items():
        if name in declared and not fits(declared[name]):
            wrong.append(f"{name} must be {rule}.")
    answers = declared.get("answers")
    if isinstance(answers, Mapping):
        wrong += [
            f"answers: unknown key {key!r}{_meant(str(key), ANSWERS)}"
            for key in answers
            if key not in ANSWERS
        ]
        wrong += [
            f"answers[{key!r}] must be JSON, not null, and no object of nothing but 32-digit hex"
            " keys: LangGraph would not hand it to the agent as it is."
            for key, value in answers.items()
            if not deliverable(value)
        ]
    return wrong


def deliverable(value: object) -> bool:
    """Whether LangGraph hands `value` to the agent as it is, and the database keeps it so.

    None crashes a resume. An object whose keys are all 32 hex digits is read as a map of interrupt
    ids, and so is an empty one.
    """
    if value is None or (isinstance(value, Mapping) and all(map(_looks_like_an_id, value))):
        return False
    return storable(value)


def storable(value: object) -> bool:
    """Whether `value` is JSON that is read back from the database as it was written."""
    try:
        canonical.dumps(value)
    except canonical.NotCanonical:
        return False
    return canonical.visible(value) == value


def _looks_like_an_id(key: object) -> bool:
    return isinstance(key, str) and len(key) == 32 and set(key) <= set("0123456789abcdefABCDEF")


def _meant(key: str, known: Collection[str] = NAMES) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f", did you mean {near[0]!r}?" if near else f". Known: {', '.join(known)}."


def _word(most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value.strip()) <= most


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


RULES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "name": (_word(100), "a word of up to 100 characters"),
    "agent": (_word(200), "a pattern of agent names"),
    "node": (_word(200), "a pattern of node names"),
    "group": (_word(150), "the name of a group"),
    "four_eyes": (_yes_or_no, "True or False"),
    "quorum": (_whole, "a whole number from 1"),
    "deadline": (
        lambda value: isinstance(value, timedelta) and SHORTEST <= value <= LONGEST,
        "a timedelta from one second to ten years",
    ),
    "on_deadline": (
        lambda value: isinstance(value, str) and value in OnDeadline.values,
        f"one of {', '.join(OnDeadline.values)}",
    ),
    "comment_required_to_reject": (_yes_or_no, "True or False"),
    "reauthenticate_within": (
        lambda value: value is None or (isinstance(value, timedelta) and value >= SHORTEST),
        "None or a timedelta of at least one second",
    ),
    "answers": (lambda value: isinstance(value, Mapping), "a mapping"),
    "editable": (
        lambda value: isinstance(value, list | tuple) and all(map(_word(200), value)),
        "a list of names of arguments",
    ),
}
