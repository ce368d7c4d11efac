"""How a run stands as far as an operation is concerned: what must not have changed meanwhile.

For cancelling: whether it is under way (queued or running, which changes by itself), waits, or is
parked, and why. For force-resuming: also the fence, because another may have taken it already.
"""

from __future__ import annotations

from accounts.speech import later as _
from runs.models import Operation, Run
from runs.status import PARKS, STATES, Status

UNDER_WAY = (Status.QUEUED, Status.RUNNING)
MOST = 80
"""Characters."""


def of(kind: str, run: Run, fence: int) -> str:
    """`fence`: of the run's lease."""
    if kind == Operation.Kind.RESUME:
        return f"{run.status}:{run.park_reason}:{fence}"
    if run.status in UNDER_WAY:
        return "under way"
    return f"{run.status}:{run.park_reason}"


def words(footing: str) -> str:
    """As people read it."""
    status, _mark, rest = footing.partition(":")
    park, _mark, _fence = rest.partition(":")
    if park in PARKS:
        return PARKS[park].label
    return STATES[status].label if status in STATES else _("Under way")
