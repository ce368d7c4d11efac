"""The dry run: which policy an action would meet, why, who could decide it, and until when.

It asks the same functions that open and decide requests, and changes nothing.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from datetime import datetime

from accounts import clock
from accounts.models import User
from accounts.speech import later as _
from approvals import eligibility, policy
from approvals.electorate import deciders
from approvals.eligibility import Involved, Standing
from approvals.policies import plan, wording
from approvals.policies.plan import Nudge
from approvals.policy import Book, Gate, OnDeadline, Policy, Subject
from runs.status import State

FITS = {
    True: State(
        value="fits", label=_("Fits"), tone="ok", icon="check", sentence=_("This policy holds.")
    ),
    False: State(
        value="not",
        label=_("Does not fit"),
        tone="neutral",
        icon="slash",
        sentence=_("This policy is about something else."),
    ),
    None: State(
        value="doubt",
        label=_("In doubt"),
        tone="warn",
        icon="triangle",
        sentence=_("A field is missing or of another type, so this policy holds besides the next."),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a policy asks of an action."""

    words: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One policy that was tried."""

    policy: Policy
    default: bool
    state: State
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Able:
    """Somebody who could approve, or a person who could not and why."""

    label: str
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What would happen if this were asked now."""

    version: int
    tried: tuple[Tried, ...]
    holds: tuple[Policy, ...]
    gate: Gate
    deadline: datetime
    lapse: str
    nudges: tuple[Nudge, ...]
    summary: str
    able: tuple[Able, ...]
    unable: tuple[Able, ...]
    """Members who could not approve, each with the reason."""
    voices: int

    @property
    def possible(self) -> bool:
        return self.voices >= self.gate.quorum


def of(subject: Subject, *, requester: User | None = None, book: Book | None = None) -> DryRun:
    """What would hold if an agent asked leave for this now, in a run that `requester` started."""
    used = book or policy.in_force()
    holds = used.find(subject)
    gate = policy.together(*holds)
    now = clock.now()
    deadline = min(each.due(now) for each in holds)
    involved = Involved(requester_id=requester.pk if requester else None, agent=subject.agent)
    able, unable = _people(gate, involved)
    return DryRun(
        version=used.version,
        tried=tuple(
            Tried(
                policy=step.policy,
                default=step.default,
                state=FITS[step.fits],
                checks=() if step.default else _checks(step.policy, subject),
            )
            for step in used.tried(subject)
        ),
        holds=holds,
        gate=gate,
        deadline=deadline,
        lapse=OnDeadline(holds[0].on_deadline).label,
        nudges=plan.plan(holds[0], now, deadline),
        summary=wording.summary(holds[0].summary, subject),
        able=tuple(Able(label=each.label) for each in able),
        unable=tuple(unable),
        voices=_voices(able, subject.agent),
    )


def _checks(rule: Policy, subject: Subject) -> tuple[Check, ...]:
    patterns = [
        (
            _("{name} looks like {pattern}", name=name, pattern=pattern),
            fnmatch.fnmatchcase(value, pattern),
        )
        for name, value, pattern in (
            (_("agent"), subject.agent, rule.agent),
            (_("step"), subject.node, rule.node),
            (_("tool"), subject.tool, rule.tool),
        )
        if pattern != "*"
    ]
    met = [(each.sentence, each.met_by(subject)) for each in rule.when]
    return tuple(Check(words=words, state=CHECKS[fits]) for words, fits in (*patterns, *met))


CHECKS = {
    True: State(value="yes", label=_("Yes"), tone="ok", icon="check", sentence=_("It is so.")),
    False: State(
        value="no", label=_("No"), tone="neutral", icon="slash", sentence=_("It is not so.")
    ),
    None: State(
        value="doubt",
        label=_("In doubt"),
        tone="warn",
        icon="triangle",
        sentence=_("The field is missing or of another type."),
    ),
}


WHY_NOT = {
    "requester": _("started the run"),
    "stand_in": _("stands in for whoever started the run"),
}


def _people(gate: Gate, involved: Involved) -> tuple[list[Standing], list[Able]]:
    able: list[Standing] = []
    unable: list[Able] = []
    for person in sorted(deciders(), key=lambda each: each.label):
        found = eligibility.standing(person, gate, involved)
        if isinstance(found, Standing):
            able.append(found)
        elif found.why != "group":
            unable.append(Able(label=person.label, why_not=WHY_NOT[found.why]))
    return able, unable


def _voices(able: list[Standing], agent: str) -> int:
    heard: list[Standing] = []
    for each in able:
        if not any(eligibility.one_voice(each, other, agent) for other in heard):
            heard.append(each)
    return len(heard)
