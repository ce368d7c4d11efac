"""What can be done to many runs: one table for buttons, confirmations and the work itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from accounts.speech import later as _
from runs import controls, offers
from runs.models import Operation, Run
from runs.offers import Control
from runs.status import LIVE, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One thing that can be done to many runs."""

    value: str
    act: Callable[..., Run]
    control: Control
    """The same for one run."""
    states: tuple[str, ...]
    """Of runs to which it may be done at all."""
    verb: str
    past: str
    consequence: str
    keep: str
    fresh: bool = False
    """Breaks a safety rule: needs a recent sign-in, and the number of runs typed."""


def _control(name: str) -> Control:
    return next(each for each in offers.CONTROLS if each.name == name)


KINDS: dict[str, Kind] = {
    Operation.Kind.CANCEL: Kind(
        value=Operation.Kind.CANCEL,
        act=controls.cancel,
        control=_control("cancel"),
        states=LIVE,
        verb=_("Cancel"),
        past=_("Cancelled"),
        consequence=_(
            "Each run ends at its next step and cannot be started again. Open questions are"
            " withdrawn. What was already done to the outside world stays done; nothing is"
            " undone."
        ),
        keep=_("Keep them all"),
    ),
    Operation.Kind.RESUME: Kind(
        value=Operation.Kind.RESUME,
        act=controls.force_resume,
        control=_control("resume"),
        states=(Status.RUNNING, Status.WAITING, Status.PARKED),
        verb=_("Force resume"),
        past=_("Resumed by hand"),
        consequence=_(
            "A worker takes each run with a higher fence, and its errors and lost workers so"
            " far no longer count. It decides nothing: open questions stay open, and effects"
            " in doubt stay so until somebody settles them. A run that a live worker holds is"
            " left alone."
        ),
        keep=_("Leave them as they are"),
        fresh=True,
    ),
}
