"""What may be written in a policy, in the settings or in the form: one rule per key."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.checks import CheckMessage, Error

from approvals.policies import conditions, wording
from approvals.policies.calendars import At, Hours
from approvals.policies.conditions import Condition
from approvals.policies.lengths import LONGEST, SHORTEST
from approvals.policies.plain import deliverable
from approvals.policies.rule import NAMES, Excluded, OnDeadline, Policy, Risk
from approvals.policies.steps import Mask, Step, is_group
from approvals.policies.subjects import is_path
from audit import canonical

ANSWERS = ("approve", "reject", "expired")
MOST = 50
"""Entries of one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with a policy as it is written."""

    key: str
    """Beside which it is shown; empty: the policy as a whole."""
    sentence: str


def faults(declared: object) -> list[Fault]:
    """Everything that is wrong with one policy."""
    if not isinstance(declared, Mapping):
        return [Fault(key="", sentence="must be a mapping.")]
    found = [
        Fault(key="", sentence=f"unknown key {key!r}{_meant(str(key))}")
        for key in declared
        if key not in NAMES
    ]
    found += [Fault(key=key, sentence=f"lacks {key!r}.") for key in _lacking(declared)]
    for key, (fits, rule) in RULES.items():
        if key in declared and not fits(declared[key]):
            found.append(Fault(key=key, sentence=f"{key} must be {rule}."))
    for key, parse in PARSED.items():
        if key in declared:
            found += [Fault(key=key, sentence=each) for each in _unread(key, declared[key], parse)]
    found += [Fault(key="answers", sentence=each) for each in _answers(declared.get("answers"))]
    return found or _across(Policy.of(declared))


def problems(declared: object) -> list[str]:
    """What is wrong with one policy; one sentence each."""
    return [fault.sentence for fault in faults(declared)]


def _lacking(declared: Mapping[str, object]) -> list[str]:
    lacking = [] if "name" in declared else ["name"]
    if not any(key in declared for key in ("group", "groups", "people")):
        lacking.append("group")
    return lacking


def _unread(key: str, given: object, parse: Callable[[object], object]) -> list[str]:
    """What is wrong with a list of parts, or with one part, that have a form of their own."""
    several = key in ("when", "escalation", "masked")
    if given is None and not several:
        return []
    if several and (isinstance(given, str) or not isinstance(given, Collection)):
        return [f"{key} must be a list."]
    parts = given if several and isinstance(given, Collection) else [given]
    if len(parts) > conditions.MOST:
        return [f"{key} must be at most {conditions.MOST}."]
    wrong = []
    for part in parts:
        try:
            parse(part)
        except ValueError as exc:
            wrong.append(f"{key}: {exc}")
    return wrong


def _answers(answers: object) -> list[str]:
    if not isinstance(answers, Mapping):
        return []
    wrong = [
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


def _across(policy: Policy) -> list[Fault]:
    """What is wrong with parts that are right by themselves."""
    found: list[tuple[str, str]] = []
    if not (policy.group or policy.groups or policy.people):
        found.append(("group", "group: name a group, more groups or people."))
    if policy.passkey and policy.reauthenticate_within is None:
        found.append(
            ("reauthenticate_within", "passkey needs reauthenticate_within: how old may it be?")
        )
    if policy.bulk and policy.risk != Risk.LOW:
        found.append(("bulk", "bulk needs risk low: what may do harm is approved one by one."))
    waits = [step.after for step in policy.escalation]
    if waits != sorted(set(waits)):
        found.append(("escalation", "escalation: each step must come later than the one before."))
    fixed = policy.deadline_at is None
    if fixed and any(wait >= policy.deadline for wait in waits):
        found.append(("escalation", "escalation: every step must come before the deadline."))
    if fixed and any(each >= policy.deadline for each in policy.reminders):
        found.append(("reminders", "reminders must be shorter than the deadline."))
    wrong = wording.problem(policy.summary)
    if wrong:
        found.append(("summary", f"summary: {wrong}"))
    return [Fault(key=key, sentence=sentence) for key, sentence in found]


# --- the settings ---------------------------------------------------------------------------------


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
    names = [named(each) for _, each in policies]
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


def named(declared: object) -> str:
    return repr(declared.get("name")) if isinstance(declared, Mapping) else repr(declared)


def _meant(key: str, known: Collection[str] = NAMES) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f", did you mean {near[0]!r}?" if near else f". Known: {', '.join(known)}."


# --- one rule per key -----------------------------------------------------------------------------


def _word(most: int) -> Callable[[object], bool]:
    return lambda value: _text(most)(value) and bool(str(value).strip())


def _text(most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and len(value.strip()) <= most and canonical.text(value) == value
    )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


def _length(value: object) -> bool:
    return isinstance(value, timedelta) and SHORTEST <= value <= LONGEST


def _one_of(known: Collection[str]) -> tuple[Callable[[object], bool], str]:
    return (
        lambda value: isinstance(value, str) and value in known,
        f"one of {', '.join(known)}",
    )


def _list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, list | tuple) and len(value) <= MOST and all(map(fits, value))
    )


def _address(value: object) -> bool:
    return _word(254)(value) and str(value).count("@") == 1 and not str(value).split()[1:]


RULES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "name": (_word(100), "a word of up to 100 characters"),
    "agent": (_word(200), "a pattern of agent names"),
    "node": (_word(200), "a pattern of node names"),
    "tool": (_word(200), "a pattern of tool names"),
    "group": (
        lambda value: value == "" or (_word(150)(value) and is_group(str(value))),
        "the name of a group",
    ),
    "groups": (_list_of(lambda value: _word(150)(value) and is_group(str(value))), "group names"),
    "people": (_list_of(_address), "a list of e-mail addresses"),
    "four_eyes": (_yes_or_no, "True or False"),
    "excluded": (
        _list_of(lambda value: value in Excluded.values),
        f"a list of {', '.join(Excluded.values)}",
    ),
    "quorum": (_whole, "a whole number from 1"),
    "risk": _one_of(Risk.values),
    "bulk": (_yes_or_no, "True or False"),
    "deadline": (_length, "a timedelta from one second to ten years"),
    "on_deadline": _one_of(OnDeadline.values),
    "reminders": (_list_of(_length), "a list of timedeltas from one second to ten years"),
    "comment_required_to_reject": (_yes_or_no, "True or False"),
    "comment_required_to_approve": (_yes_or_no, "True or False"),
    "reject_reasons": (_list_of(_word(100)), "a list of reasons of up to 100 characters"),
    "reauthenticate_within": (
        lambda value: value is None or (isinstance(value, timedelta) and value >= SHORTEST),
        "None or a timedelta of at least one second",
    ),
    "passkey": (_yes_or_no, "True or False"),
    "answers": (lambda value: isinstance(value, Mapping), "a mapping"),
    "editable": (_list_of(_word(200)), "a list of names of arguments"),
    "summary": (_text(500), "a text of up to 500 characters"),
    "key_facts": (
        _list_of(lambda value: isinstance(value, str) and is_path(value)),
        "a list of fields such as args.order_id",
    ),
}
PARSED: Mapping[str, Callable[[object], object]] = {
    "when": Condition.parse,
    "deadline_at": At.parse,
    "hours": Hours.parse,
    "escalation": Step.parse,
    "masked": Mask.parse,
}
