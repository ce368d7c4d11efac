"""Effects as several pages show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils.translation import gettext as _

from ledger import status
from ledger.models import Effect, EffectAttempt, Look
from ledger.timeline import calls
from runs import masking
from runs.status import State

PREVIEW = 3
"""Arguments that a line shows of an effect."""
LONGEST = 40
"""Characters of each."""


def state_of(effect: Effect, state: State) -> State:
    """Its state; with a hand where a person said so."""
    if not effect.settled_by or effect.status not in status.DONE:
        return state
    said = _("Settled by {person}: {reason}").format(
        person=effect.settled_by, reason=effect.settle_reason
    )
    return replace(state, icon="hand", sentence=said)


def preview(args: object, cloak: masking.Cloak = masking.BARE) -> str:
    """The first arguments on one line, what is sensitive hidden."""
    shown = masking.arguments(args, lambda each: masking.mask(each, cloak).value)
    if not isinstance(shown, Mapping):
        return ""
    plain = [
        f"{name} {_cut(str(value))}"
        for name, value in shown.items()
        if isinstance(value, str | int | float)
    ]
    return " · ".join(plain[:PREVIEW])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One row of the table of calls."""

    call: EffectAttempt
    state: State
    took: timedelta | None
    response: masking.Masked
    """What the provider answered."""

    @classmethod
    def of(cls, call: EffectAttempt, *, response: masking.Masked) -> Call:
        took = call.ended_at - call.started_at if call.ended_at else None
        return cls(call=call, state=calls.state(call), took=took, response=response)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One row of the table of look-ups."""

    look: Look
    state: State

    @classmethod
    def of(cls, look: Look) -> Asked:
        return cls(look=look, state=status.ANSWERS[look.answer])
