"""Everything nobody knows: approve and reject mean True and False unless the policy maps them.

Who may answer freely can give any other JSON value instead, which then is what the node receives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accounts.speech import later as _
from approvals.jsonforms.schemas import Schema
from approvals.policies.plain import deliverable
from approvals.shapes import base
from approvals.shapes.base import (
    APPROVE,
    NOTHING,
    REJECT,
    Action,
    Asked,
    BadReply,
    Choice,
    Pick,
    Picks,
    Question,
    Said,
)
from approvals.status import Verdict

ANSWER = Choice(key="answer", label=_("Answer with this value"), answers=True)
ANYTHING: Schema = {}
"""The schema of a value of which nothing is known."""
MEANS: Mapping[str, object] = {Verdict.APPROVED: True, Verdict.REJECTED: False}


def detects(payload: object, schema: Schema | None) -> bool:
    return True


def describe(payload: object) -> Question:
    return Question(title=base.line(base.words_of(payload)))


def actions(asked: Asked) -> tuple[Action, ...]:
    return (
        Action(
            token=asked.token(0, asked.payload),
            choices=(APPROVE, ANSWER, REJECT) if asked.free else (APPROVE, REJECT),
            schema=ANYTHING if asked.free else None,
        ),
    )


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    return None if choice.answers else Pick(choice=choice.key)


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return picks[actions[0].token].value


def read(
    actions: tuple[Action, ...], verdict: str, value: object, args: Mapping[str, object] | None
) -> dict[str, Pick]:
    if args is not None or (value is not None and verdict != Verdict.APPROVED):
        raise BadReply(_("This question takes a verdict, or an approval with a value."))
    if value is not None:
        if not deliverable(value):
            raise BadReply(
                _("LangGraph would read this object as a map of interrupts. Add a field.")
            )
        return {actions[0].token: Pick(choice=ANSWER.key, value=value)}
    choice = APPROVE if verdict == Verdict.APPROVED else REJECT
    return {actions[0].token: Pick(choice=choice.key)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    del args
    return payload


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    if picks and picks[0][1].choice == ANSWER.key:
        return picks[0][1].value
    return MEANS.get(verdict, NOTHING)
