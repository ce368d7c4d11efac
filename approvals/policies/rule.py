"""One policy: who may allow what, how many of them, until when, and what happens otherwise.

1. There is always a deadline and always an outcome for it.
2. A request keeps the policies as of then. A verdict must be allowed by them and by those of now:
   see `together`.
3. What a verdict must satisfy is the strictest of all in every respect. Deadline, outcome,
   reminders and escalation stay as of then: they have been promised to people.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from django.db import models

from accounts import speech
from accounts.speech import later as _
from approvals.policies.calendars import EVERY_DAY, At, Hours
from approvals.policies.conditions import Condition
from approvals.policies.steps import Mask, Step
from approvals.policies.subjects import Subject


class OnDeadline(models.TextChoices):
    """What happens when nobody has decided in time."""

    REJECT = "reject", _("then the agent is told that it expired")
    CANCEL = "cancel", _("then the run is cancelled")
    READ_ONLY = "read_only", _("then the run goes on without side effects")
    PARK = "park", _("then the run is parked for an operator")


class Risk(models.TextChoices):
    """How bad a wrong approval would be."""

    LOW = "low", _("Low risk")
    NORMAL = "normal", _("Normal risk")
    HIGH = "high", _("High risk")


class Excluded(models.TextChoices):
    """Who may not approve where four eyes are asked for. All of them may reject."""

    REQUESTER = "requester", _("who started the run")
    HANDS = "hands", _("who retried it, forced it on or had it asked again")
    EDITOR = "editor", _("who changed the values that are approved")


EVERYBODY_INVOLVED = tuple(Excluded.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One rule about the questions of some agents."""

    name: str
    group: str = ""
    """Whose members decide."""
    groups: tuple[str, ...] = ()
    """More groups; a member of any of them decides."""
    people: tuple[str, ...] = ()
    """E-mail addresses of people who decide, whatever groups they are in."""
    agent: str = "*"
    node: str = "*"
    tool: str = "*"
    """Patterns (`fnmatch`) of the agent's name, of the node that asks, and of the tool it names."""
    when: tuple[Condition, ...] = ()
    """All of them: see `conditions`."""
    four_eyes: bool = True
    """Who had a hand in the run, as `excluded` says, may not approve. They may reject."""
    excluded: tuple[str, ...] = EVERYBODY_INVOLVED
    quorum: int = 1
    """How many different people must approve. One rejection is always enough."""
    risk: str = Risk.NORMAL
    bulk: bool = False
    """Many identical questions may be approved at once; only where the risk is low."""
    deadline: timedelta = timedelta(hours=24)
    """Of working time where `hours` are given."""
    deadline_at: At | None = None
    """A time of day instead: see `calendars`."""
    hours: Hours | None = None
    """When people work. Without them all days and all hours count."""
    on_deadline: str = OnDeadline.REJECT
    reminders: tuple[timedelta, ...] = ()
    """How long before the deadline."""
    escalation: tuple[Step, ...] = ()
    """Who else is asked, and after how long. It informs and widens; it never decides."""
    comment_required_to_reject: bool = True
    comment_required_to_approve: bool = False
    reject_reasons: tuple[str, ...] = ()
    """A rejection names one of them."""
    reauthenticate_within: timedelta | None = None
    """Who decides must have proved who they are within this time."""
    passkey: bool = False
    """With a passkey."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What `approve`, `reject` and `expired` mean to an agent that asks by a bare `interrupt()`."""
    editable: tuple[str, ...] = ()
    """Patterns (`fnmatch`) of the arguments that who decides may change. None by default."""
    summary: str = ""
    """A template of what will happen: see `wording`."""
    key_facts: tuple[str, ...] = ()
    """Fields to be read before all others."""
    masked: tuple[Mask, ...] = ()
    """Fields that not everybody sees."""

    def fits(self, subject: Subject) -> bool | None:
        """Whether it is about this action; None if its conditions leave that in doubt."""
        patterns = ((subject.agent, self.agent), (subject.node, self.node))
        if not all(fnmatch.fnmatchcase(*each) for each in (*patterns, (subject.tool, self.tool))):
            return False
        met = [condition.met_by(subject) for condition in self.when]
        if False in met:
            return False
        return None if None in met else True

    def due(self, since: datetime) -> datetime:
        """The deadline of a question that was asked at `since`."""
        if self.deadline_at is not None:
            return self.deadline_at.after(since, self.hours or EVERY_DAY)
        return self.after(since, self.deadline)

    def after(self, since: datetime, length: timedelta) -> datetime:
        """When this much time, of working hours if there are any, has passed."""
        return self.hours.add(since, length) if self.hours else since + length

    def stored(self) -> dict[str, object]:
        """As JSON; `Policy.read` turns it back."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Policy:  # Any: what `stored` made
        """A policy as of then. Keys that have been given up since are ignored."""
        return cls.of({key: value for key, value in stored.items() if key in NAMES})

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Policy:  # Any: a setting, or what `stored` made
        """A policy from its keys. Raises ValueError for parts that cannot be read."""
        known = dict(declared)
        for name, parse in ONE.items():
            if known.get(name) is not None:
                known[name] = parse(known[name])
        for name, parse in SEVERAL.items():
            if name in known:
                known[name] = tuple(map(parse, known[name]))
        return cls(**known)


def _length(value: Any) -> timedelta:  # Any: a timedelta, or its seconds
    return value if isinstance(value, timedelta) else timedelta(seconds=value)


ONE: Mapping[str, Any] = {
    "deadline": _length,
    "deadline_at": At.parse,
    "hours": Hours.parse,
    "reauthenticate_within": _length,
}
SEVERAL: Mapping[str, Any] = {
    "groups": str,
    "people": str.lower,
    "when": Condition.parse,
    "excluded": str,
    "reminders": _length,
    "escalation": Step.parse,
    "reject_reasons": str,
    "editable": str,
    "key_facts": str,
    "masked": Mask.parse,
}
"""How the parts of a policy are read that are not plain values."""
NAMES = tuple(each.name for each in fields(Policy))


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or isinstance(value, bool | int):
        return value
    return str(value)


# --- several policies together --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whom one policy lets decide: members of any of these groups, and these people."""

    groups: frozenset[str]
    people: frozenset[str] = frozenset()

    def admits(self, groups: frozenset[str], address: str) -> bool:
        return bool(self.groups & groups) or address.lower() in self.people

    @property
    def words(self) -> str:
        return speech.joined(_(" or "), (*sorted(self.groups), *sorted(self.people)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a verdict must satisfy: the policies of then and those of now together."""

    who: tuple[Who, ...]
    """Each of them must admit whoever decides."""
    excluded: frozenset[str]
    """Of `Excluded`: empty where one pair of eyes is enough."""
    quorum: int
    risk: str = Risk.NORMAL
    bulk: bool = False
    """All of them let many identical questions be approved at once."""
    comment_required_to_reject: bool = True
    comment_required_to_approve: bool = False
    reject_reasons: tuple[str, ...] = ()
    reauthenticate_within: timedelta | None = None
    passkey: bool = False
    answers: Mapping[str, object] = field(default_factory=dict)
    editable: tuple[Collection[str], ...] = ()
    """Patterns of arguments that may be changed; each of these policies must allow it."""
    masked: tuple[Mask, ...] = ()

    def may_change(self, argument: str) -> bool:
        """Whether who decides may change the argument of this name."""
        return bool(self.editable) and all(
            any(fnmatch.fnmatchcase(argument, pattern) for pattern in patterns)
            for patterns in self.editable
        )

    @property
    def four_eyes(self) -> bool:
        return bool(self.excluded)

    @property
    def groups(self) -> frozenset[str]:
        """All groups that have a say."""
        return frozenset().union(*(each.groups for each in self.who))

    @property
    def people(self) -> frozenset[str]:
        """The addresses of all people who are named."""
        return frozenset().union(*(each.people for each in self.who))

    @property
    def asked(self) -> str:
        """Such as "finance", "finance or legal", "finance and legal"."""
        several = len({str(each.words) for each in self.who}) > 1
        words = {
            f"({each.words})" if several and len(each.groups | each.people) > 1 else str(each.words)
            for each in self.who
        }
        return speech.joined(_(" and "), sorted(words))

    @property
    def sentence(self) -> str:
        """Such as "2 of finance, not who started the run"."""
        first = self._barred
        if first:
            return _("{n} of {asked}, not {first}", n=self.quorum, asked=self.asked, first=first)
        return _("{n} of {asked}", n=self.quorum, asked=self.asked)

    @property
    def terms(self) -> str:
        """The same where the groups are named beside it: "2 people, not who started the run".

        Empty where any one of them may decide.
        """
        first = self._barred
        if self.quorum == 1:
            return _("not {first}", first=first) if first else ""
        if first:
            return _("{n} people, not {first}", n=self.quorum, first=first)
        return _("{n} people", n=self.quorum)

    @property
    def _barred(self) -> str:
        """The first of those who may not decide; empty: everybody may."""
        named = {Excluded.REQUESTER: _("who started the run"), Excluded.EDITOR: _("who edits it")}
        named[Excluded.HANDS] = _("who sent the run on")
        return next((named[each] for each in Excluded if each in self.excluded), "")


def together(*rules: Policy, joined: Iterable[str] = ()) -> Gate:
    """The strictest of these policies in every respect.

    The answers are those of the first, which was in force then. `joined` are the groups that were
    asked later; they have a say as far as each policy lets them join.
    """
    if not rules:
        raise ValueError("A gate needs a policy.")
    wider = frozenset(joined)
    reasons = [each.reject_reasons for each in rules if each.reject_reasons]
    within = [each.reauthenticate_within for each in rules if each.reauthenticate_within]
    return Gate(
        who=tuple(dict.fromkeys(_who(each, wider) for each in rules)),
        excluded=frozenset().union(*(each.excluded for each in rules if each.four_eyes)),
        quorum=max(each.quorum for each in rules),
        risk=max((each.risk for each in rules), key=Risk.values.index),
        bulk=all(each.bulk and each.risk == Risk.LOW for each in rules),
        comment_required_to_reject=any(each.comment_required_to_reject for each in rules),
        comment_required_to_approve=any(each.comment_required_to_approve for each in rules),
        reject_reasons=_common(reasons),
        reauthenticate_within=min(within, default=None),
        passkey=any(each.passkey for each in rules),
        answers=rules[0].answers,
        editable=tuple(each.editable for each in rules),
        masked=tuple(dict.fromkeys(mask for each in rules for mask in each.masked)),
    )


def _who(rule: Policy, joined: frozenset[str]) -> Who:
    groups = {rule.group, *rule.groups} | (joined & {step.group for step in rule.escalation})
    return Who(groups=frozenset(groups - {""}), people=frozenset(rule.people))


def _common(reasons: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The reasons that all know; where they have none in common, those of the last, of now."""
    if not reasons:
        return ()
    shared = set(reasons[-1]).intersection(*reasons)
    return tuple(each for each in reasons[-1] if each in shared) or reasons[-1]
