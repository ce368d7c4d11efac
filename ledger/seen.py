"""What the rows of a pending effect show at one moment of the database's clock.

It turns columns and times into what `ledger.rules` decides on, and knows when a "no" counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from ledger import rules, status
from ledger.models import Effect, EffectAttempt, Idempotency
from ledger.registry import Tool

OPEN_ENDED = (status.Outcome.OPEN, status.Outcome.UNKNOWN)
"""Attempts that may have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    tool: Tool
    provider_key: str
    number: int
    """Of the last attempt: the answer says nothing about later ones."""
    quarantine: float
    """Seconds until a "no" counts; zero or less: it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A pending effect with its calls, at one moment of the database's clock."""

    effect: Effect
    calls: list[EffectAttempt]
    tool: Tool | None
    now: datetime

    def found(self, fence: int) -> rules.Found:
        effect, tool, tries = self.effect, self.tool, settings.LEDGER_TRIES
        last = self.calls[-1] if self.calls else None
        streak = self._streak()
        looks = [look for look in effect.looks.all() if look.attempt == effect.attempts]
        silent = [look for look in looks if look.counts and look.answer == status.Answer.SILENT]
        return rules.Found(
            guard=rules.guard_of(Idempotency(effect.idempotency), tool),
            retry_allowed=effect.retry_allowed,
            wait=_seconds(effect.retry_at - self.now) if effect.retry_at else 0.0,
            last=status.Outcome(last.outcome) if last else None,
            mine=last is not None and last.fence == fence,
            overdue=last is not None and last.timeout_at <= self.now,
            unresolved=bool(self.open_ended),
            streak=len(streak),
            same_again=_repeats(streak, tries),
            in_window=self._in_window(),
            can_ask=tool is not None and tool.lookup is not None,
            asked=len(looks),
            silent=len(silent),
            tries=tries,
        )

    @property
    def left(self) -> float:
        """Seconds until the last call's time is up."""
        return _seconds(self.calls[-1].timeout_at - self.now)

    def ask(self) -> Ask:
        if self.tool is None:
            raise AssertionError("only a known tool can ask")
        latest = max(attempt.timeout_at for attempt in self.open_ended)
        until = latest + settings.RUNS_LEASE + self.tool.visibility
        return Ask(
            tool=self.tool,
            provider_key=self.effect.provider_key,
            number=self.effect.attempts,
            quarantine=_seconds(until - self.now),
        )

    @property
    def open_ended(self) -> list[EffectAttempt]:
        return [attempt for attempt in self.calls if attempt.outcome in OPEN_ENDED]

    def _streak(self) -> list[EffectAttempt]:
        """The attempts at the end whose end is not known, latest first."""
        streak = []
        for attempt in reversed(self.calls):
            if attempt.outcome not in OPEN_ENDED:
                break
            streak.append(attempt)
        return streak

    def _in_window(self) -> bool:
        first, tool = self.effect.first_started_at, self.tool
        if tool is None or tool.window is None or first is None:
            return False
        return self.now + tool.call_timeout <= first + tool.window


def _repeats(streak: list[EffectAttempt], tries: int) -> bool:
    """Whether the provider only repeats itself: it says so, or answers 500 time and again."""
    if streak and streak[0].replayed:
        return True
    last_two = [attempt.http_status for attempt in streak[:2]]
    return len(streak) >= tries and last_two == [500, 500]


def _seconds(left: timedelta) -> float:
    return left.total_seconds()
