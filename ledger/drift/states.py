"""What has become of drift, as pages show it."""

from __future__ import annotations

from django.db.models import Q

from accounts.speech import later as _
from ledger.models import Drift
from runs.status import State

UNDECIDED = Q(stopped=True, withdrawn_at=None, accepted_at=None)
"""Drift for which a run waits."""
WAITS = State(
    value="waits",
    label=_("Waits for somebody"),
    tone="warn",
    icon="hand",
    sentence=_("It was not started. The run waits until somebody accepts it."),
)
ACCEPTED = State(
    value="accepted",
    label=_("Accepted"),
    tone="ok",
    icon="hand",
    sentence=_("It was not started at first; a person has accepted it."),
)
SHOWN = State(
    value="shown",
    label=_("Went on"),
    tone="warn",
    icon="triangle",
    sentence=_("It was started all the same; both may have happened."),
)


def state_of(drift: Drift) -> State:
    if drift.accepted_at is not None:
        return ACCEPTED
    return WAITS if drift.stopped else SHOWN
