"""What may be done about an effect that is found when it is reserved. Pure: no I/O, no clock.

| found, not yet decided | PROVIDER | LOOKUP | LEDGER |
|---|---|---|---|
| a person allowed one attempt | call, new key | call, new key | call, new key |
| its call is alive in this driver | attend | attend | attend |
| every call ended, none happened | call, new key | call, new key | call, new key |
| a call's end is not known | call, same key, in the window; else ask | ask | in doubt |

1. While the end of any call is unknown, a new provider key is never used.
2. Asking decides only by "yes", or by a "no" that came late enough (`ledger.facts`). Where nobody
   can be asked, or keeps not answering, the effect is in doubt: a person settles it.
3. Calling again is pointless, and not done, where the provider only repeats itself: a replayed
   answer, the same 500 again and again, a refusal that says nothing about the earlier call.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext_noop as noop

from ledger import status
from ledger.models import Idempotency
from ledger.registry import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pending effect as its row and attempts show it. Times are the database's."""

    guard: Idempotency
    retry_allowed: bool = False
    wait: float = 0.0
    """Seconds until anything may be called or asked."""
    last: status.Outcome | None = None
    """Of the last attempt; None: there was none."""
    mine: bool = False
    """The last attempt is this driver's."""
    overdue: bool = False
    """The last attempt's time is up."""
    unresolved: bool = False
    """The end of some attempt is not known; an open one counts."""
    streak: int = 0
    """Attempts in a row, up to the last, whose end is not known."""
    same_again: bool = False
    """The provider repeats an answer that decides nothing."""
    in_window: bool = True
    """A call that starts now reaches a provider that still remembers its key."""
    can_ask: bool = False
    asked: int = 0
    """Times it was asked about since the last attempt."""
    silent: int = 0
    """Of these, the times without an answer when one would have counted."""
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    new_key: bool


@dataclass(frozen=True, slots=True)
class Ask:
    pass


@dataclass(frozen=True, slots=True)
class Attend:
    """Wait for the end of the call that is alive in this driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Do nothing yet."""

    seconds: float
    in_place: bool
    """Short waits may be spent in the node; after several tries the run is given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    reason: str


Step = Call | Ask | Attend | Rest | Doubt


def next_step(found: Found) -> Step:
    """The first row that matches."""
    if found.retry_allowed:
        return Call(new_key=True)
    if found.last is status.Outcome.OPEN and found.mine and not found.overdue:
        return Attend()
    if found.unresolved:
        return _resolve(found)
    if found.wait > 0:
        return Rest(seconds=found.wait, in_place=True)
    return Call(new_key=found.last is not None)


def _resolve(found: Found) -> Step:
    """What may be done where the end of a call is not known."""
    if found.guard is Idempotency.LEDGER:
        return Doubt(reason=_unheard(found))
    calling = found.guard is Idempotency.PROVIDER and not _pointless(found)
    in_place = found.streak < found.tries and found.asked < found.tries
    if found.wait > 0 and (calling or found.asked > 0):
        return Rest(seconds=found.wait, in_place=in_place)
    if calling and found.mine and not in_place:
        return Rest(seconds=0.0, in_place=False)  # the next driver may try again
    if calling:
        return Call(new_key=False)
    if not found.can_ask:
        return Doubt(reason=f"{_unheard(found)} {_why_not_again(found)}")
    if found.silent >= found.tries:
        return Doubt(
            reason=f"{_unheard(found)} The provider was asked {found.silent} times without answer."
        )
    return Ask()


def guard_of(stored: Idempotency, tool: Tool | None) -> Idempotency:
    """Who prevents a second performance of an effect reserved under the declaration `stored`.

    A declaration that has changed since promises nothing about calls made before: those can only be
    asked about, if they were made with a key that the provider was said to know.
    """
    if tool is None or stored == Idempotency.LEDGER:
        return Idempotency.LEDGER
    if stored == tool.idempotency:
        return tool.idempotency
    return Idempotency.LOOKUP if tool.lookup is not None else Idempotency.LEDGER


def backoff(base: timedelta, cap: timedelta, tried: int) -> float:
    """Seconds to wait after `tried` attempts: doubled each time, capped, and spread by half."""
    longest: float = base.total_seconds() * 2 ** min(max(tried - 1, 0), 20)
    return min(longest, cap.total_seconds()) * random.uniform(0.5, 1.0)  # noqa: S311 (spreads load)


def _pointless(found: Found) -> bool:
    refused = found.last is status.Outcome.REFUSED
    return refused or found.same_again or not found.in_window


def _unheard(found: Found) -> str:
    if found.last is status.Outcome.OPEN and not found.mine:
        return noop("A call was started, and its worker was lost before it could say how it ended.")
    return noop("A call was started, and nobody heard how it ended.")


def _why_not_again(found: Found) -> str:
    if found.guard is not Idempotency.PROVIDER:
        return "The provider cannot be asked."
    if not found.in_window:
        return "The provider may have forgotten its key, so it is not called again."
    if found.last is status.Outcome.REFUSED:
        return "The provider's later refusal does not say whether the earlier call took effect."
    return "The provider gives the same answer again."
