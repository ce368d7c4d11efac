"""The shapes of questions: how a payload is recognised, what a person reads, what the agent gets.

Pure functions. Each shape has a file of its own with the functions of `base.Kind`; this module is
what everybody else uses.

1. `ours` is raised by `approvals.ask`. Only it names the effect that an approval permits.
2. `plain` is everything nobody knows: approve and reject mean True and False unless the policy maps
   them to something else.
3. All others get an answer of exactly their own form, or none: a wrong one is stored by LangGraph
   before it is refused, and then it is stuck.
4. A reply decides exactly the actions that were asked, each by a choice that is allowed for it.
5. No answer is None. Whatever is answered is JSON that the database keeps as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from approvals import errors
from approvals.jsonforms import schemas
from approvals.jsonforms.schemas import Problem, Schema
from approvals.policies import plain as plain_values
from approvals.shapes import (
    agent_inbox,
    base,
    edits,
    langchain_batched,
    langchain_call,
    ours,
    plain,
    typed,
)
from approvals.shapes.base import (
    INCOMPARABLE,
    LONGEST_TITLE,
    LONGEST_TOOL,
    NOTHING,
    Action,
    Asked,
    Choice,
    Kind,
    Nothing,
    Pick,
    Question,
    Said,
    Shape,
    fingerprint,
    usable_tool,
)
from approvals.status import Verdict
from audit import canonical

__all__ = [
    "INCOMPARABLE",
    "LONGEST_TITLE",
    "LONGEST_TOOL",
    "LONGEST_VALUE",
    "MARK",
    "NOTHING",
    "OURS",
    "Action",
    "Asked",
    "Call",
    "Choice",
    "Given",
    "Nothing",
    "Pick",
    "Question",
    "Shape",
    "actions",
    "answer",
    "calls",
    "changed",
    "describe",
    "detect",
    "expired",
    "fingerprint",
    "give",
    "picks_of",
    "speaks",
    "usable_tool",
    "why_not",
    "write",
]

MARK = ours.MARK
OURS = ours.KEYS
LONGEST_VALUE = 64 * 1024
"""Bytes of JSON that a person may add to an answer."""

KINDS: Mapping[Shape, Kind] = MappingProxyType(
    {
        Shape.OURS: ours,
        Shape.LANGCHAIN_BATCHED: langchain_batched,
        Shape.LANGCHAIN_CALL: langchain_call,
        Shape.AGENT_INBOX: agent_inbox,
        Shape.TYPED: typed,
        Shape.PLAIN: plain,
    }
)
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that is called if the question is approved, as far as the payload says."""

    tool: str
    args: object


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


def detect(payload: object, schema: object = None) -> Shape:
    """Which shape the payload of an interrupt has. `schema` is the interrupt's response schema."""
    known = schemas.of(schema)
    return next(shape for shape, kind in KINDS.items() if kind.detects(payload, known))


def describe(shape: str, payload: object) -> Question:
    """The question in `payload`, which may be the stored form that `canonical.visible` made."""
    return KINDS[Shape(shape)].describe(payload)


def calls(shape: str, payload: object) -> tuple[Call, ...]:
    """The tools that `payload` asks leave to call, in its order; empty if it names none."""
    if shape == Shape.LANGCHAIN_BATCHED and isinstance(payload, Mapping):
        return tuple(
            Call(tool=str(each.get("name") or ""), args=each.get("args"))
            for each in payload["action_requests"]
            if isinstance(each, Mapping)
        )
    question = describe(shape, payload)
    return (Call(tool=question.tool, args=question.args),) if question.tool else ()


def actions(asked: Asked) -> tuple[Action, ...]:
    """What is to be decided, and how each may be; empty if the question is malformed."""
    try:
        return KINDS[Shape(asked.shape)].actions(asked)
    except base.Malformed:
        return ()


# --- whether it can be answered -------------------------------------------------------------------


def why_not(asked: Asked, verdict: str) -> str:
    """Why this verdict cannot be given to this question; empty if it can."""
    if verdict == Verdict.APPROVED and asked.digest == INCOMPARABLE:
        return (
            "This payload cannot be compared with what the agent will ask when it goes on, so it"
            " cannot be approved. The agent must ask in plain JSON."
        )
    if asked.shape == Shape.OURS or _mapped(asked, verdict) is not NOTHING:
        return ""
    label = Shape(asked.shape).label
    try:
        found = KINDS[Shape(asked.shape)].actions(asked)
    except base.Malformed as exc:
        return f"This is a {label}, but not a sound one. {exc}"
    refusing = [[each.refuses for each in action.choices] for action in found]
    if verdict == Verdict.REJECTED:
        possible = all(any(each) for each in refusing)
    else:
        possible = all(refusing) and any(not all(each) for each in refusing)
    if possible:
        return ""
    word = "rejected" if verdict == Verdict.REJECTED else "approved"
    return f"This is a {label}, which the agent does not allow to be {word} here."


# --- what is given --------------------------------------------------------------------------------


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
    if bare and _mapped(asked, verdict) is not NOTHING:
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
                "The value is not JSON that can be kept unchanged: no NUL characters, no broken"
                " characters, no numbers beyond 2**53."
            )
        # Arguments that were not changed come back within the reply, however long they are.
        length = len(canonical.dumps(part)) - len(canonical.dumps(canonical.visible(asked.payload)))
        if length > LONGEST_VALUE:
            raise errors.BadValue(f"The value is longer than {LONGEST_VALUE // 1024} KiB.")


def _require_fit(given: Given) -> None:
    """Raise BadValue unless every pick is allowed and complete, and all make up the verdict."""
    for action, pick in given.picks:
        found = _problems(given.asked, action, pick)
        if found:
            raise errors.BadValue(found[0].sentence, problems={action.token: tuple(found)})
    refused = all(_choice(action, pick).refuses for action, pick in given.picks)
    if refused is not (given.verdict == Verdict.REJECTED):
        raise errors.BadValue(
            "The verdict and what was chosen disagree: rejected means that everything is refused."
        )


def _problems(asked: Asked, action: Action, pick: Pick) -> list[Problem]:
    choice = action.choice(pick.choice)
    if choice is None:
        allowed = ", ".join(each.key for each in action.choices)
        return [_whole(f"{pick.choice!r} is not allowed here. Allowed: {allowed}.")]
    if choice.text_needed and not pick.text.strip():
        return [_whole(f"{choice.text}: this is required.")]
    if (pick.args is not None) is not choice.changes:
        return [_whole("Changed arguments belong to a change, and to nothing else.")]
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
        return [_whole("An answer is required, and null is none.")]
    return schemas.problems(schemas.ALLOWS_NOTHING if schema is None else schema, value)


def _whole(message: str) -> Problem:
    return Problem(path=(), message=message)


def _choice(action: Action, pick: Pick) -> Choice:
    found = action.choice(pick.choice)
    if found is None:
        raise LookupError(pick.choice)
    return found


# --- what the agent gets --------------------------------------------------------------------------


def answer(given: Given, *, comment: str, by: str) -> object:
    """What the interrupted node receives."""
    if not given.picks:
        return _mapped(given.asked, given.verdict)
    return KINDS[Shape(given.asked.shape)].answer(
        given.asked, given.verdict, given.picks, Said(comment=comment, by=by)
    )


def speaks(asked: Asked, verdict: str) -> bool:
    """Whether the policy gives this verdict a meaning, so that nothing else needs to be chosen."""
    return asked.shape != Shape.PLAIN and _mapped(asked, verdict) is not NOTHING


def expired(asked: Asked, *, by: str) -> object:
    """What the node receives when nobody decided in time; NOTHING if it can receive nothing."""
    if asked.shape == Shape.OURS:
        said = Said(comment="", by=by)
        return ours.answer(asked, Verdict.EXPIRED, (), said)
    return _mapped(asked, Verdict.EXPIRED)


def _mapped(asked: Asked, verdict: str) -> object:
    """What the policy says that a verdict means, or the plain words; NOTHING if it says nothing."""
    if asked.shape == Shape.OURS:
        return NOTHING
    meant: Mapping[str, object] = asked.answers
    if asked.shape == Shape.PLAIN:
        meant = {"approve": True, "reject": False, **meant}
    found = meant.get(KEYS_OF_ANSWERS[Verdict(verdict)], NOTHING)
    if found is NOTHING:
        return NOTHING
    if asked.schema is not None and schemas.problems(asked.schema, found):
        return NOTHING
    # Policies with other values are refused by the system check; this holds if it was skipped.
    return found if plain_values.deliverable(found) else {"value": found}


KEYS_OF_ANSWERS: Mapping[Verdict, str] = MappingProxyType(
    {Verdict.APPROVED: "approve", Verdict.REJECTED: "reject", Verdict.EXPIRED: "expired"}
)
"""A verdict's name in a policy's `answers`."""


def picks_of(
    shape: str,
    found: tuple[Action, ...],
    verdict: str,
    *,
    value: object,
    args: Mapping[str, object] | None,
) -> dict[str, Pick]:
    """The picks for these actions that a vote was kept with; empty where the verdict said all."""
    if not found or (value is None and args is None):
        return {}
    try:
        return KINDS[Shape(shape)].read(found, verdict, value, args)
    except base.BadReply:
        return {}


def changed(given: Given) -> object:
    """The payload, with the arguments as changed."""
    args = [pick.args for _, pick in given.picks]
    return KINDS[Shape(given.asked.shape)].changed(given.asked.payload, args)


def write(shape: str, found: tuple[Action, ...], picks: Mapping[str, Pick]) -> object:
    """Picks for all these actions as the value of a reply."""
    return KINDS[Shape(shape)].write(found, picks)
