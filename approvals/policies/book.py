"""The policies in force: the newest version that was stored, or those of the settings.

1. First match wins. A policy whose conditions are in doubt holds together with whatever would hold
   without it, so doubt closes and never opens.
2. Nothing matches: the last one, the default, which has no conditions.
3. Who decides holds the book still, so that after a change is saved nothing is decided by the old.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from accounts import once
from approvals.models import PolicyVersion
from approvals.policies import declared
from approvals.policies.rule import Gate, Policy
from approvals.policies.subjects import Subject
from runs import statements

LOCK = 0x51B0_0002
"""Of advisory locks: the policies in force."""
SEED = 0
"""The version of policies that nobody has edited yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One policy that was tried on one action."""

    policy: Policy
    fits: bool | None
    """None: in doubt."""
    default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """Policies in the order in which they are tried, the default last."""

    version: int
    policies: tuple[Policy, ...]
    gates: dict[Hashable, Gate] = field(default_factory=dict, compare=False, repr=False)
    """Made with these policies, by what they were made of: see `approvals.gates.of`."""

    def find(self, *subjects: Subject) -> tuple[Policy, ...]:
        """What holds for these actions, asked about together: all of it, in order."""
        held = {
            step.policy.name
            for subject in subjects
            for step in self.tried(subject)
            if step.fits is not False
        }
        return tuple(each for each in self.policies if each.name in held)

    def tried(self, subject: Subject) -> list[Step]:
        """Each policy up to the first that is met beyond doubt."""
        tried = []
        for policy in self.policies:
            default = policy is self.policies[-1]
            step = Step(policy=policy, fits=default or policy.fits(subject), default=default)
            tried.append(step)
            if step.fits:
                break
        return tried

    def get(self, name: str) -> Policy | None:
        return next((each for each in self.policies if each.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Last:
    given: list[Any]  # Any: policies as they are written in the settings, or stored
    book: Book


_last: _Last | None = None


@once.a_page
def in_force() -> Book:
    """Raises ImproperlyConfigured if the settings are in force and cannot be read."""
    return _newest()


def hold() -> Book:
    """The book in force; it stays so until this transaction ends. Read after it is held, whatever
    was found before."""
    with connection.cursor() as cursor:
        cursor.execute(statements.read("approvals", "hold_policies"), {"key": LOCK})
    return _newest()


def _newest() -> Book:
    newest = PolicyVersion.objects.order_by("-number").first()
    return seed() if newest is None else of(newest)


def seed() -> Book:
    """What the settings say."""
    return _made(SEED, [*settings.APPROVALS_POLICIES, settings.APPROVALS_DEFAULT], _parse)


def of(stored: PolicyVersion) -> Book:
    return _made(stored.number, stored.policies, Policy.read)


def _made(version: int, given: list[Any], read: Callable[[Any], Policy]) -> Book:
    """The book of these policies, as they are written there. A process keeps the last one, so that
    the gates made of it, and what was found out with it, are there for the next page."""
    global _last
    last = _last
    if last is None or (last.book.version, last.given) != (version, given):
        book = Book(version=version, policies=tuple(map(read, given)))
        last = _last = _Last(given=copy.deepcopy(given), book=book)
    return last.book


def _parse(given: Mapping[str, Any]) -> Policy:  # Any: a setting, of whatever type
    wrong = declared.problems(given)
    if wrong:
        raise ImproperlyConfigured(f"Approval policy {declared.named(given)}: {' '.join(wrong)}")
    return Policy.of(given)
