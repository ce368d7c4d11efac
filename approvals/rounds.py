"""How a pending interrupt and the last request about it fit together. Pure: no I/O, no clock.

`judge` is read by everybody who has to know: by the driver before it moves, and by whoever opens
the requests afterwards. So what one of them sees, the other acts on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto

from django.conf import settings

from approvals import shapes
from approvals.jsonforms import schemas
from approvals.models import Decision, Request
from approvals.status import Delivery, Status
from runs.askers import Asker, Pending
from runs.heads import Head

UNDER_WAY = (Delivery.RECORDED, Delivery.DELIVERING)


class Fit(Enum):
    NEW = auto()
    """Nobody was asked this yet. A request is to be opened."""
    OPEN = auto()
    """Its request is open and shows what is asked."""
    READY = auto()
    """It was decided as it is asked now, and LangGraph does not have the answer yet."""
    CONSUMED = auto()
    """LangGraph has the answer, though it still lists the interrupt."""
    CHANGED = auto()
    """Something else is asked now than the request shows. The next round is to be opened."""
    UNSTABLE = auto()
    """The same, and once more would be too often."""
    AGAIN = auto()
    """An operator wants it asked again. A request is to be opened, with a deadline of its own."""
    OUTDATED = auto()
    """Its approval was refused by the node, and has not been cut yet."""
    LAPSED = auto()
    """Nobody decided in time, and no answer follows from that."""


def judge(pending: Pending, last: Request | None, head: Head, *, forgiven: int) -> Fit:
    """How `pending` stands. `last` is the newest request about this interrupt.

    `forgiven` is the run's forgiven fence: changes before it no longer count.
    """
    if last is None:
        return Fit.NEW
    decision = decision_of(last)
    under_way = decision is not None and decision.delivery in UNDER_WAY
    if last.outdated and not last.asked_again:
        return Fit.OUTDATED
    # Asked again and still consumed: the answer has not been cut. Asking now would hand the next
    # answer to the task's next question.
    answered = under_way or (decision is not None and last.asked_again)
    if answered and head.consumed(askers_of(last)):
        return Fit.CONSUMED
    if last.asked_again and not last.outdated:
        return Fit.AGAIN
    if decision is not None and decision.delivery == Delivery.TOOK_EFFECT:
        return Fit.NEW
    if last.status == Status.EXPIRED and decision is None:
        return Fit.LAPSED
    if (under_way or last.status == Status.PENDING) and shows(last, pending):
        return Fit.READY if under_way else Fit.OPEN
    return Fit.UNSTABLE if too_often(last, forgiven) else Fit.CHANGED


def shows(request: Request, pending: Pending) -> bool:
    """Whether the request shows what is asked now, for the same asker."""
    return (
        stored(pending.askers) == sorted(request.askers)
        and shapes.fingerprint(pending.value) == request.digest
        and schemas.same(schemas.of(pending.schema), request.answer_schema)
    )


def too_often(last: Request, forgiven: int) -> bool:
    """Whether another round after `last` would be more than APPROVALS_ROUNDS in a row."""
    most: int = settings.APPROVALS_ROUNDS
    return changes_after(last, forgiven) >= most


def changes_after(last: Request, forgiven: int) -> int:
    """`changes` of the round that follows `last`. An operator who sends the run on starts anew."""
    return 0 if last.fence <= forgiven else last.changes + 1


def decision_of(request: Request) -> Decision | None:
    """The decision, which must have been selected along with the request."""
    return getattr(request, "decision", None)


def newest(requests: Iterable[Request]) -> dict[str, Request]:
    """The last request of each interrupt."""
    found: dict[str, Request] = {}
    for request in sorted(requests, key=lambda each: each.round):
        found[request.interrupt_id] = request
    return found


def stored(askers: Iterable[Asker]) -> list[list[object]]:
    """Askers as they are kept with a request. Their order means nothing."""
    return sorted(list(asker) for asker in askers)


def askers_of(request: Request) -> list[Asker]:
    return [_asker(each) for each in request.askers]


def _asker(parts: Sequence[object]) -> Asker:
    ns, checkpoint_id, task_id, held = parts
    return Asker(str(ns), str(checkpoint_id), str(task_id), int(str(held)))
