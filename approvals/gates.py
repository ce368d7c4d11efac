"""What a verdict on a request must satisfy: the policies of then and those of now, together.

A question may be about several actions at once; then the policies of all of them hold together.
Conditions read the question as it is kept, so that the same is found whenever it is looked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from approvals import policy, replies, shapes
from approvals.models import Request, Vote
from approvals.policies import plan, wording
from approvals.policies.plan import Nudge
from approvals.policies.steps import Mask
from approvals.policies.subjects import MISSING
from approvals.policy import Book, Gate, Policy, Subject
from approvals.shapes import Call

ALSO = "also"
"""Key of `Request.policy` under which the policies besides the first are kept."""

MOST = 1_000
"""Gates that a book keeps."""


def subjects(agent: str, node: str, shape: str, payload: object) -> tuple[Subject, ...]:
    """The actions that a question, in the form in which it is kept, asks leave for."""
    return _of(agent, node, payload, shapes.calls(shape, payload))


def asked_by(request: Request) -> tuple[Subject, ...]:
    return subjects(request.run.agent, request.node, request.shape, request.payload)


def _of(agent: str, node: str, payload: object, calls: tuple[Call, ...]) -> tuple[Subject, ...]:
    whole = Subject(agent=agent, node=node, payload=payload)
    return tuple(replace(whole, tool=call.tool, args=call.args) for call in calls) or (whole,)


def summary(rules: tuple[Policy, ...], actions: tuple[Subject, ...]) -> str:
    """What will happen, by the first template that can be filled for all actions; or empty."""
    for rule in rules:
        sentences = [wording.summary(rule.summary, action) for action in actions]
        if all(sentences):
            return "; ".join(sentences)
    return ""


def key_facts(
    rules: tuple[Policy, ...], actions: tuple[Subject, ...]
) -> tuple[tuple[str, object], ...]:
    """What the policies want to be read first: path and value, where there is one."""
    paths = dict.fromkeys(path for rule in rules for path in rule.key_facts)
    found = [(path, action.look(path)) for action in actions for path in paths]
    return tuple((path, value) for path, value in found if value is not MISSING)


def kept(rules: tuple[Policy, ...]) -> dict[str, object]:
    """Policies as `Request.policy` keeps them; the first says when the deadline is and what then.

    `then` reads them back.
    """
    first, *others = (rule.stored() for rule in rules)
    return first | {ALSO: others} if others else first


def then(request: Request) -> tuple[Policy, ...]:
    """The policies as of then."""
    return tuple(map(Policy.read, (request.policy, *request.policy.get(ALSO, ()))))


def masked_then(request: Request) -> tuple[Mask, ...]:
    """What the policies as of then mask."""
    kept = (request.policy, *request.policy.get(ALSO, ()))
    return tuple(Mask.parse(text) for each in kept for text in each.get("masked", ()))


def of(
    request: Request,
    book: Book | None = None,
    *,
    also: tuple[Subject, ...] = (),
    joining: Iterable[str] = (),
) -> Gate:
    """What a verdict on this request, which has its run, must satisfy now.

    `book`: the policies in force, where many requests are looked at. `also`: actions that would be
    approved besides, such as the one with the edited arguments. `joining`: as if these groups had
    been asked besides.

    Lists have many requests of few kinds, so a book keeps the gates that were made with it.
    """
    book = book or policy.in_force()
    now = book.find(*asked_by(request), *also)
    joined = (*request.joined, *joining)
    made_of = (json.dumps(request.policy), tuple(each.name for each in now), joined)
    gate = book.gates.get(made_of)
    if gate is None:
        if len(book.gates) >= MOST:
            book.gates.clear()
        gate = book.gates[made_of] = policy.together(*then(request), *now, joined=joined)
    return gate


def steps(request: Request) -> tuple[Nudge, ...]:
    """The escalations that are still to come, as the policy of then plans them."""
    since = request.asked_at or request.created_at
    planned = plan.plan(Policy.read(request.policy), since, request.deadline)
    return tuple(
        each
        for each in planned
        if each.kind == plan.Kind.ESCALATION and each.group not in request.joined
    )


def edited(request: Request, vote: Vote) -> tuple[Subject, ...]:
    """The actions that a vote approves, with the arguments as it has changed them."""
    asked = replies.asked(request, policy.together(*then(request)))
    found = shapes.actions(asked)
    picks = shapes.picks_of(request.shape, found, vote.verdict, value=vote.value, args=vote.args)
    args = [picks[each.token].args if each.token in picks else None for each in found]
    payload = shapes.with_args(request.shape, request.payload, args)
    return subjects(request.run.agent, request.node, request.shape, payload)
