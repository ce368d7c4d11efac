"""One request as the page shows it on which it is decided.

1. What will happen is told from the arguments that the permit binds, never from the agent's words.
   Where the words name another amount than the arguments, the page says so.
2. Everything that is approved can be read: a text is cut nowhere, and where a payload is too long
   for a page, approving needs the reader's word that they have read it elsewhere.
3. Values of people are hidden from everybody who could not decide the request if it were open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from accounts import proof
from accounts.actors import Actor
from accounts.models import User
from accounts.proof import Missing
from approvals import amounts, claims, clock, eligibility, inbox, queries, shapes, urgency
from approvals.amounts import MINOR, Amount
from approvals.claims import Looker
from approvals.electorate import Electorate, Tally
from approvals.models import Request, Vote
from approvals.policies.plan import Nudge
from approvals.status import DELIVERIES, Delivery, Status, Verdict
from ledger import status as effects
from ledger.models import Effect
from ledger.preview import ahead as preview
from runs import masking
from runs.status import State
from runs.story import Ahead

MOST_FACTS = 12
LONGEST = 60_000
"""Characters of JSON that are shown on the page."""
SHORT = 280
"""Characters of a text that the tree of values shows without cutting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One argument, to be read at a glance."""

    label: str
    value: str = ""
    amount: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Values as this reader may see them."""

    value: object
    text: str = ""
    """The whole as indented JSON, where a tree of values would cut or fold something."""
    too_long: int = 0
    """Characters, where there are too many for the page."""
    hidden: int = 0
    """Values hidden from this reader."""

    @classmethod
    def of(cls, value: object, *, unmasked: bool) -> Shown:
        masked = masking.Masked(value=value, hidden=0) if unmasked else masking.mask(value)
        # Tabs: many blanks in a row would be marked as something that hides.
        text = json.dumps(masked.value, indent="\t", ensure_ascii=False)
        if len(text) > LONGEST:
            return cls(value=None, too_long=len(text), hidden=masked.hidden)
        whole = "" if _is_plain(masked.value) else text
        return cls(value=masked.value, text=whole, hidden=masked.hidden)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Everything on the page besides the form."""

    detail: queries.Detail
    state: State
    urgent: bool
    tally: Tally | None
    """None once it is closed."""
    relief: Nudge | None
    """Where nobody can approve it now: who joins when, so that somebody can."""
    amount: Amount | None
    other_amounts: tuple[str, ...]
    """Amounts that the agent's words name and the arguments do not."""
    facts: tuple[Fact, ...]
    exact: Shown
    """The arguments, or the payload of a question that names no tool."""
    agent_facts: tuple[Fact, ...]
    target: tuple[Fact, ...] = ()
    """What is known about what the action is about, as of when this was asked."""
    unmasked: bool = False
    """Nothing is hidden from this reader."""
    before: object = None
    """The question of the former round, where this one differs from it."""
    after: object = None
    mine: Vote | None = None
    steps: tuple[State, ...] = ()
    """The way of the decision into the run."""
    effect: Effect | None = None
    """What was done on the ground of this decision, or what had been done before it."""
    missing: Missing = Missing.NOTHING
    """How the reader has still to prove that it is really them."""
    position: int = 0
    """Place in the reader's inbox, from 1; 0: not in it."""
    count: int = 0
    following: Request | None = None
    """What waits for the reader besides."""
    lookers: tuple[Looker, ...] = ()
    """Who looks at it now, besides the reader."""
    i_look: bool = False
    """The reader has said that they look at it."""

    @property
    def label(self) -> str:
        """What the badge says."""
        return inbox.label_of(self.state, self.detail.gate)

    @property
    def effect_state(self) -> State | None:
        return effects.STATES[self.effect.status] if self.effect else None

    @property
    def settled(self) -> bool:
        """Nothing on the page will change any more."""
        delivery = self.detail.decision and self.detail.decision.delivery
        return self.detail.request.status != Status.PENDING and delivery not in (
            Delivery.RECORDED,
            Delivery.DELIVERING,
        )

    @property
    def stamp(self) -> str:
        """Changes whenever the page should say something else."""
        decision = self.detail.decision
        parts = (self.detail.request.status, self.detail.digest, len(self.detail.votes))
        return ".".join(map(str, (*parts, decision.delivery if decision else "")))


def of(detail: queries.Detail, user: User, actor: Actor, *, reveal: bool = False) -> Review:
    """The page of `detail` for `user`, who acts as `actor`.

    `reveal`: show what would be hidden from this person, who may see it and was recorded.
    """
    request, question = detail.request, detail.question
    is_open = request.status == Status.PENDING
    lookers = claims.on([request.pk])[request.pk]
    unmasked = reveal or sees_all(detail, user)
    now = clock.now()
    electorate = Electorate.of([request] if is_open else [])
    tally = electorate.tally(request, detail.gate) if is_open else None
    stuck = tally is not None and not tally.possible
    amount = amounts.of(question.args)
    shown = Shown.of(question.args if question.tool else detail.payload, unmasked=unmasked)
    waiting = [row.request for row in queries.needs(user)]
    before, after = _difference(detail, unmasked=unmasked)
    effect = _effect(detail)
    return Review(
        detail=detail,
        state=inbox.state_of(detail.state, request, tally, now),
        urgent=urgency.is_near(request, now),
        tally=tally,
        relief=electorate.relief(request) if stuck else None,
        amount=amount,
        other_amounts=amounts.others(amount, question),
        facts=tuple(_facts(shown.value, amount)) if question.tool else (),
        exact=shown,
        agent_facts=tuple(_facts(Shown.of(question.facts, unmasked=unmasked).value, None)),
        target=tuple(_facts(Shown.of(question.state, unmasked=unmasked).value, None)),
        unmasked=unmasked,
        before=before,
        after=after,
        mine=next((vote for vote in detail.votes if vote.user_id == user.pk), None),
        steps=_steps(detail),
        effect=effect,
        missing=proof.missing(
            actor,
            user,
            within=detail.gate.reauthenticate_within,
            passkey=detail.gate.passkey,
        ),
        position=next((n for n, each in enumerate(waiting, 1) if each.pk == request.pk), 0),
        count=len(waiting),
        following=next((each for each in waiting if each.pk != request.pk), None),
        lookers=tuple(each for each in lookers if each.user_id != user.pk),
        i_look=any(each.user_id == user.pk for each in lookers),
    )


def ahead(detail: queries.Detail, user: User) -> Ahead | None:
    """What approving would touch outside; None once it is closed."""
    request = detail.request
    if request.status != Status.PENDING:
        return None
    binds = request.tool and request.args_hash
    permit = preview.Permit(tool=request.tool, args_hash=request.args_hash) if binds else None
    return preview.of(detail.run, user, permit=permit)


def sees_all(detail: queries.Detail, user: User) -> bool:
    """Whether nothing is hidden from this person, because it is for them to decide."""
    person = eligibility.person(user)
    nobody = eligibility.Involved(requester_id=None)
    return eligibility.why_not(person, detail.gate, nobody, Verdict.REJECTED) is None


def _facts(values: object, amount: Amount | None) -> list[Fact]:
    """Plain arguments by name; what is nested is left to the tree below."""
    if not isinstance(values, Mapping):
        return []
    found = [Fact(label="Amount", amount=amount)] if amount else []
    for name, value in values.items():
        if amount and name in (*MINOR, "currency"):
            continue
        if isinstance(value, str) and len(value) <= SHORT:
            found.append(Fact(label=_words(name), value=value))
        elif isinstance(value, int | float | Decimal | bool):
            found.append(Fact(label=_words(name), value=json.dumps(value)))
    return found[:MOST_FACTS]


def _words(name: str) -> str:
    """`order_id` as a heading."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether a tree of values shows all of it at once."""
    if isinstance(value, str):
        return len(value) <= SHORT
    if isinstance(value, dict):
        return depth < 2 and all(_is_plain(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return depth < 2 and all(_is_plain(item, depth + 1) for item in value)
    return True


def _difference(detail: queries.Detail, *, unmasked: bool) -> tuple[object, object]:
    """The question of the former round and this one, both None if they do not differ."""
    if detail.previous is None or detail.previous.digest == detail.digest:
        return None, None
    return (
        Shown.of(_asked(detail.previous.payload), unmasked=unmasked).value,
        Shown.of(_asked(detail.payload), unmasked=unmasked).value,
    )


def _asked(payload: object) -> object:
    """A payload without what says nothing to a reader."""
    if isinstance(payload, dict) and shapes.is_ours(payload):
        return {key: payload[key] for key in payload if key not in (shapes.MARK, "digest")}
    return payload


def _steps(detail: queries.Detail) -> tuple[State, ...]:
    """Where the decision has been, is, and will come."""
    if detail.decision is None or detail.delivery is None:
        return ()
    if detail.decision.delivery == Delivery.NOT_DELIVERED:
        return (_passed(DELIVERIES[Delivery.RECORDED]), detail.delivery)
    way = [
        DELIVERIES[each] for each in (Delivery.RECORDED, Delivery.DELIVERING, Delivery.TOOK_EFFECT)
    ]
    here = way.index(detail.delivery)
    return (*map(_passed, way[:here]), detail.delivery, *map(_ahead, way[here + 1 :]))


def _passed(state: State) -> State:
    label = "Delivered" if state.value == Delivery.DELIVERING else state.label
    return replace(state, label=label, tone="ok", icon="check")


def _ahead(state: State) -> State:
    return replace(state, tone="neutral", icon="dot", sentence="Not yet.")


def _effect(detail: queries.Detail) -> Effect | None:
    request = detail.request
    if not request.tool:
        return None
    found = Effect.objects.filter(
        run_id=request.run_id, tool=request.tool, args_hash=request.args_hash
    )
    if detail.decision is not None:
        resting = found.filter(permit=detail.decision.pk).first()
        if resting is not None:
            return resting
    return found.filter(status__in=effects.DONE).first()
