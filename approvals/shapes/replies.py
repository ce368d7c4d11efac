"""A person's reply: what it means, and whether it fits the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accounts.speech import later as _
from approvals import errors
from approvals.jsonforms import schemas
from approvals.jsonforms.schemas import Problem, Schema
from approvals.policies import plain as plain_values
from approvals.shapes import base, edits, langchain_call
from approvals.shapes.base import NOTHING, Action, Asked, Choice, Kind, Pick, Shape
from approvals.shapes.kinds import KINDS, Call, actions
from approvals.shapes.meanings import mapped, why_not
from approvals.status import Verdict
from audit import canonical

LONGEST_VALUE = 64 * 1024
"""Bytes of JSON that a person may add to an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A reply that fits the question."""

    asked: Asked
    verdict: Verdict
    picks: tuple[tuple[Action, Pick], ...] = ()
    """Empty where the policy says what the verdict means."""
    value: object = None
    """To be kept with the vote."""

    @property
    def edited(self) -> bool:
        return any(pick.args is not None for _, pick in self.picks)

    @property
    def calls(self) -> tuple[Call, ...]:
        """What is called after this reply, with the arguments as changed. Refused ones are not."""
        return tuple(
            Call(tool=action.tool, args=action.args if pick.args is None else pick.args)
            for action, pick in self.picks
            if action.tool and not _choice(action, pick).refuses
        )

    @property
    def changed(self) -> Mapping[str, object] | None:
        """The arguments of a question of ours, where they were changed."""
        if self.asked.shape != Shape.OURS or not self.edited:
            return None
        return self.picks[0][1].args

    def unexplained(self, said: str) -> bool:
        """Whether something is refused without words of its own. `said` is about the whole."""
        if not self.picks:
            return self.verdict == Verdict.REJECTED
        return any(
            _choice(action, pick).refuses and pick.text.strip() in ("", said.strip())
            for action, pick in self.picks
        )


def give(
    asked: Asked,
    verdict: str,
    *,
    value: object = None,
    args: Mapping[str, object] | None = None,
    comment: str = "",
) -> Given:
    """What a person's reply means. `args`: those of a question of ours, as changed.

    Without `value` and `args` the verdict speaks for itself: by the policy where it maps it, else
    every action is approved, or rejected with `comment` as the reason.

    Raises NotAnswerable if this verdict means nothing to this question, and BadValue, with a
    problem for each part, if the reply does not fit it.
    """
    why = why_not(asked, verdict)
    if why:
        raise errors.NotAnswerable(why)
    bare = value is None and args is None
    if bare and mapped(asked, verdict) is not NOTHING:
        return Given(asked=asked, verdict=Verdict(verdict))
    _require_storable(value, args, asked)
    kind = KINDS[Shape(asked.shape)]
    found = actions(asked)
    picks = _default(kind, found, verdict, comment) if bare else None
    try:
        picks = picks or kind.read(found, verdict, value, args)
    except base.BadReply as exc:
        raise errors.BadValue(str(exc)) from exc
    given = Given(
        asked=asked,
        verdict=Verdict(verdict),
        picks=tuple((each, _with_reason(each, picks[each.token], comment)) for each in found),
        value=kind.write(found, picks),
    )
    _require_fit(given)
    return given


def _default(
    kind: Kind, found: tuple[Action, ...], verdict: str, comment: str
) -> dict[str, Pick] | None:
    """The picks that a bare verdict stands for; None if it takes more to decide some action."""
    refuses = verdict == Verdict.REJECTED
    picks: dict[str, Pick] = {}
    for action in found:
        possible = (
            kind.default(action, choice, comment)
            for choice in action.choices
            if choice.refuses is refuses
        )
        pick = next((each for each in possible if each is not None), None)
        if pick is None:
            return None
        picks[action.token] = pick
    return picks


def _with_reason(action: Action, pick: Pick, comment: str) -> Pick:
    """A refusal without words of its own says what the comment says."""
    choice = action.choice(pick.choice)
    if choice is None or not choice.refuses or not choice.text or pick.text.strip():
        return pick
    return Pick(choice=pick.choice, text=comment)


def _require_storable(value: object, args: object, asked: Asked) -> None:
    for part in (value, args):
        if part is None:
            continue
        if not plain_values.storable(part):
            raise errors.BadValue(
                _(
                    "The value is not JSON that can be kept unchanged: no NUL characters, no"
                    " broken characters, no numbers beyond 2**53."
                )
            )
        # Arguments that were not changed come back within the reply, however long they are.
        length = len(canonical.dumps(part)) - len(canonical.dumps(canonical.visible(asked.payload)))
        if length > LONGEST_VALUE:
            raise errors.BadValue(
                _("The value is longer than {value} KiB.", value=LONGEST_VALUE // 1024)
            )


def _require_fit(given: Given) -> None:
    """Raise BadValue unless every pick is allowed and complete, and all make up the verdict."""
    for action, pick in given.picks:
        found = _problems(given.asked, action, pick)
        if found:
            raise errors.BadValue(found[0].sentence, problems={action.token: tuple(found)})
    refused = all(_choice(action, pick).refuses for action, pick in given.picks)
    if refused is not (given.verdict == Verdict.REJECTED):
        raise errors.BadValue(
            _(
                "The verdict and what was chosen disagree: rejected means that everything is"
                " refused."
            )
        )


def _problems(asked: Asked, action: Action, pick: Pick) -> list[Problem]:
    choice = action.choice(pick.choice)
    if choice is None:
        allowed = ", ".join(each.key for each in action.choices)
        return [
            _whole(
                _(
                    "{choice!r} is not allowed here. Allowed: {allowed}.",
                    choice=pick.choice,
                    allowed=allowed,
                )
            )
        ]
    if choice.text_needed and not pick.text.strip():
        return [_whole(_("{text}: this is required.", text=choice.text))]
    if (pick.args is not None) is not choice.changes:
        return [_whole(_("Changed arguments belong to a change, and to nothing else."))]
    if pick.args is not None:
        found = edits.problems(action.args, pick.args, action.schema)
        if found:
            return found
    if choice.answers:
        return _unfit(pick.value, action.schema)
    if asked.shape == Shape.LANGCHAIN_CALL and asked.schema is not None:
        decision = langchain_call.write((action,), {action.token: pick})
        return schemas.problems(asked.schema, decision)
    return []


def _unfit(value: object, schema: Schema | None) -> list[Problem]:
    if value is None:
        return [_whole(_("An answer is required, and null is none."))]
    return schemas.problems(schemas.ALLOWS_NOTHING if schema is None else schema, value)


def _whole(message: str) -> Problem:
    return Problem(path=(), message=message)


def _choice(action: Action, pick: Pick) -> Choice:
    found = action.choice(pick.choice)
    if found is None:
        raise LookupError(pick.choice)
    return found
