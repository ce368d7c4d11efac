"""What was done to the outside world.

1. One row per idempotency key; the key is the primary key. Same key, other arguments: a conflict.
2. An attempt is committed as started before the call leaves this process. Whatever happens to the
   process, the row says that a call may have gone out.
3. Reserving is an intention and fenced. Recording what happened is a fact and never refused.
4. No timer frees an effect that is in doubt.
5. A message is a row before anything is sent, and goes out at least once: see `ledger.outbox`.
6. What searches look at (`Effect.agent`, `Sought`, `Number`) is written by triggers, once, with the
   effect: see `ledger.browse`.
"""

from __future__ import annotations

from ledger.models.effects import Effect, EffectAttempt, Idempotency
from ledger.models.hooks import HookEvent, HookRefusals
from ledger.models.incidents import Drift, Incident
from ledger.models.looks import Look
from ledger.models.outbox import Message, Pace
from ledger.models.search import Number, Sought
from ledger.models.stops import Stop
from ledger.models.toolboxes import Toolbox
from ledger.models.undo import UndoPlan

__all__ = [
    "Drift",
    "Effect",
    "EffectAttempt",
    "HookEvent",
    "HookRefusals",
    "Idempotency",
    "Incident",
    "Look",
    "Message",
    "Number",
    "Pace",
    "Sought",
    "Stop",
    "Toolbox",
    "UndoPlan",
]
