"""What can be judged at a glance, in a row of a list; the rest is opened before it is approved.

A row shows one action, its title and its values. Whatever a row would cut, fold, hide or tell
wrongly makes the request one that has to be opened. Pure; asked by the page that lists the rows and
by the decision itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from accounts.speech import later
from approvals import amounts, replies, shapes
from approvals.models import Request
from approvals.policies import masks
from approvals.policy import Gate, Risk
from approvals.shapes import Question, Shape
from approvals.shapes.base import LONGEST_TITLE
from approvals.status import Verdict
from runs import deceiving

MOST = 12
"""Values in a row."""
LONGEST = 120
"""Characters of one of them."""


def why_open(request: Request, gate: Gate, groups: Iterable[str]) -> str:
    """Why a member of `groups` cannot approve this request, which has its run, from a list.

    One sentence; empty if they can.
    """
    question = shapes.describe(request.shape, request.payload)
    return (
        _by_policy(gate)
        or _unanswerable(request, gate)
        or _hidden(request, gate, groups)
        or _unclear(request, question)
    )


def values(request: Request, payload: object) -> dict[str, object] | None:
    """What a row shows besides the title, by name; None if it is more than a row can show.

    `payload`: the question as its reader may see it.
    """
    question = shapes.describe(request.shape, payload)
    held: object = question.facts if request.shape == Shape.OURS else payload
    held = question.args if question.tool else held
    if held is None or (isinstance(held, str) and _is_short(held)):
        held = {}
    about = _about(question)
    if not isinstance(held, Mapping) or held.keys() & about.keys():
        return None
    shown = {**about, **held}
    if len(shown) > MOST or not all(map(_is_short, (*shown, *shown.values()))):
        return None
    return shown


def _about(question: Question) -> dict[str, object]:
    """What the action is about, and how that stood when it was asked."""
    name = {"target": question.target} if question.target else {}
    return {**name, **{f"target {key}": value for key, value in question.state.items()}}


def _by_policy(gate: Gate) -> str:
    if not gate.bulk or gate.risk != Risk.LOW:
        return later("The policies do not let this be approved together with others.")
    return ""


def _unanswerable(request: Request, gate: Gate) -> str:
    asked = replies.asked(request, gate)
    why = shapes.why_not(asked, Verdict.APPROVED)
    if not why and len(shapes.actions(asked)) > 1:
        why = later("It asks for several actions at once.")
    return why


def _hidden(request: Request, gate: Gate, groups: Iterable[str]) -> str:
    covered = masks.cover(request.payload, masks.for_reader(gate.masked, groups), root="payload")
    return later("The policy hides values of it from you.") if covered.hidden else ""


def _unclear(request: Request, question: Question) -> str:
    if request.round > 1:
        return later("It is asked again, so what has changed must be read.")
    if deceiving.deceives([request.title, request.payload]):
        return later("Its text has hidden or deceiving characters.")
    if values(request, request.payload) is None or len(question.title) >= LONGEST_TITLE:
        return later("It is too long for a row of a list.")
    if amounts.others(amounts.of(question.args), question):
        return later("Its words name another amount than its arguments.")
    return ""


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and "\n" not in value
    return value is None or isinstance(value, bool | int | float)
