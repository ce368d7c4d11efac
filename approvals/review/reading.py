"""One request as the page shows it on which it is decided.

1. What will happen is told from the arguments that the permit binds, never from the agent's words.
   Where the words name another amount than the arguments, the page says so.
2. Everything that is approved can be read: a text is cut nowhere, and where a payload is too long
   for a page, approving needs the reader's word that they have read it elsewhere.
3. Values of people are hidden from everybody who could not decide the request if it were open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from accounts import clock, proof
from accounts.actors import Actor
from accounts.models import User
from accounts.proof import Missing
from accounts.speech import later as _
from approvals import amounts, claims, eligibility, persons, queries, shapes, urgency
from approvals.amounts import Amount
from approvals.claims import Looker
from approvals.details import Detail
from approvals.electorate import Electorate, Tally
from approvals.inbox import lines
from approvals.models import Request, Vote
from approvals.policies.plan import Nudge
from approvals.review.shown import Fact, Shown, facts
from approvals.status import DELIVERIES, Delivery, Status, Verdict
from ledger import status as effects
from ledger.models import Effect
from ledger.preview import ahead as preview
from runs.status import State
from runs.story import Ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Everything on the page besides the form."""

    detail: Detail
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
    earlier: Request | None = None
    """The one before it in the reader's inbox."""
    later: Request | None = None
    """The one after it."""
    following: Request | None = None
    """What waits for the reader besides, the most urgent first."""
    lookers: tuple[Looker, ...] = ()
    """Who looks at it now, besides the reader."""
    i_look: bool = False
    """The reader has said that they look at it."""

    @property
    def label(self) -> str:
        """What the badge says."""
        return lines.label_of(self.state, self.detail.gate)

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


def of(detail: Detail, user: User, actor: Actor, *, reveal: bool = False) -> Review:
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
    position = next((n for n, each in enumerate(waiting, 1) if each.pk == request.pk), 0)
    before, after = _difference(detail, unmasked=unmasked)
    effect = _effect(detail)
    return Review(
        detail=detail,
        state=lines.state_of(detail.state, request, tally, now),
        urgent=urgency.is_near(request, now),
        tally=tally,
        relief=electorate.relief(request) if stuck else None,
        amount=amount,
        other_amounts=amounts.others(amount, question),
        facts=tuple(facts(shown.value, amount)) if question.tool else (),
        exact=shown,
        agent_facts=tuple(facts(Shown.of(question.facts, unmasked=unmasked).value, None)),
        target=tuple(facts(Shown.of(question.state, unmasked=unmasked).value, None)),
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
        position=position,
        count=len(waiting),
        earlier=waiting[position - 2] if position > 1 else None,
        later=waiting[position] if 0 < position < len(waiting) else None,
        following=next((each for each in waiting if each.pk != request.pk), None),
        lookers=tuple(each for each in lookers if each.user_id != user.pk),
        i_look=any(each.user_id == user.pk for each in lookers),
    )


def ahead(detail: Detail, user: User) -> Ahead | None:
    """What approving would touch outside; None once it is closed."""
    request = detail.request
    if request.status != Status.PENDING:
        return None
    binds = request.tool and request.args_hash
    permit = preview.Permit(tool=request.tool, args_hash=request.args_hash) if binds else None
    return preview.of(detail.run, user, permit=permit)


def sees_all(detail: Detail, user: User) -> bool:
    """Whether nothing is hidden from this person, because it is for them to decide."""
    person = persons.reader(user)
    nobody = eligibility.Involved(requester_id=None)
    return eligibility.why_not(person, detail.gate, nobody, Verdict.REJECTED) is None


def _difference(detail: Detail, *, unmasked: bool) -> tuple[object, object]:
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


def _steps(detail: Detail) -> tuple[State, ...]:
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
    label = _("Delivered") if state.value == Delivery.DELIVERING else state.label
    return replace(state, label=label, tone="ok", icon="check")


def _ahead(state: State) -> State:
    label = _("Takes effect") if state.value == Delivery.TOOK_EFFECT else state.label
    return replace(state, label=label, tone="neutral", icon="dot", sentence=_("Not yet."))


def _effect(detail: Detail) -> Effect | None:
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
