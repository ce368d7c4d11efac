"""What the agent gets."""

from __future__ import annotations

from approvals.shapes import ours
from approvals.shapes.base import Asked, Said, Shape
from approvals.shapes.kinds import KINDS, with_args
from approvals.shapes.meanings import mapped
from approvals.shapes.replies import Given
from approvals.status import Verdict


def answer(given: Given, *, comment: str, by: str) -> object:
    """What the interrupted node receives."""
    if not given.picks:
        return mapped(given.asked, given.verdict)
    return KINDS[Shape(given.asked.shape)].answer(
        given.asked, given.verdict, given.picks, Said(comment=comment, by=by)
    )


def expired(asked: Asked, *, by: str) -> object:
    """What the node receives when nobody decided in time; NOTHING if it can receive nothing."""
    if asked.shape == Shape.OURS:
        said = Said(comment="", by=by)
        return ours.answer(asked, Verdict.EXPIRED, (), said)
    return mapped(asked, Verdict.EXPIRED)


def changed(given: Given) -> object:
    """The payload, with the arguments as changed."""
    args = [pick.args for _, pick in given.picks]
    return with_args(given.asked.shape, given.asked.payload, args)
