"""What is to be decided action by action, and what people have chosen, for the review page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from accounts.speech import later as _
from approvals import reply_forms, shapes
from approvals.details import Detail
from approvals.models import Decision, Vote
from approvals.reply_forms import ReplyForm
from approvals.review.shown import Shown
from approvals.shapes import Pick
from approvals.status import Status, Verdict

DONE = {
    "approve": _("Approved"),
    "edit": _("Approved with changes"),
    "reject": _("Rejected"),
    "respond": _("Answered in its place"),
    "accept": _("Accepted"),
    "response": _("Responded"),
    "ignore": _("Ignored"),
    "answer": _("Answered"),
}
TONES = {"reject": "bad", "ignore": "neutral", "respond": "info", "response": "info"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One action of several, as this reader may see it."""

    number: int
    token: str
    tool: str
    why: str
    args: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was chosen for one action."""

    tool: str
    label: str
    tone: str
    text: str = ""
    value: Shown | None = None
    before: object = None
    after: object = None
    """The arguments, where they were changed."""

    @property
    def plain(self) -> bool:
        """The verdict says as much."""
        return not self.text and self.value is None and self.before is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Changed arguments that wait for somebody else to approve them."""

    vote: Vote
    outcomes: tuple[Outcome, ...]


def form(detail: Detail, posted: QueryDict | None = None) -> ReplyForm:
    """The form for the actions, starting from what somebody has chosen before, if anybody has."""
    approvals = [vote for vote in detail.votes if vote.verdict == Verdict.APPROVED]
    before = _picks(detail, approvals[0]) if approvals else {}
    return reply_forms.make(detail.shape, detail.actions, posted=posted, before=before)


def calls(detail: Detail, *, unmasked: bool) -> tuple[Call, ...]:
    """The actions, where there are several."""
    return numbered(detail.actions, unmasked=unmasked)


def numbered(actions: tuple[shapes.Action, ...], *, unmasked: bool) -> tuple[Call, ...]:
    """Several actions to be shown one by one; none for a single one: the page shows it itself."""
    if len(actions) < 2:
        return ()
    return tuple(
        Call(
            number=number,
            token=action.token,
            tool=action.tool,
            why=action.why,
            args=Shown.of(action.args, unmasked=unmasked),
        )
        for number, action in enumerate(actions, 1)
    )


def words(form: ReplyForm) -> dict[str, object]:
    """The form and the words on its buttons; empty words where there is no such button."""
    return {
        "reply": form,
        "approvable": form.label(Verdict.APPROVED) or ("" if form.parts else _("Approve")),
        "rejectable": form.label(Verdict.REJECTED) or ("" if form.parts else _("Reject")),
    }


def outcomes(detail: Detail, *, unmasked: bool) -> tuple[Outcome, ...]:
    """What was decided about each action; empty where the verdict says it all."""
    decision = detail.decision
    if decision is None:
        return ()
    return _shown(detail, _picks(detail, decision), unmasked=unmasked)


def proposals(detail: Detail, *, unmasked: bool) -> tuple[Proposal, ...]:
    """Changes that people have proposed while nothing is decided."""
    if detail.request.status != Status.PENDING:
        return ()
    return tuple(
        Proposal(vote=vote, outcomes=_shown(detail, _picks(detail, vote), unmasked=unmasked))
        for vote in detail.votes
        if vote.edited_by_id == vote.user_id
    )


def _picks(detail: Detail, kept: Vote | Decision) -> dict[str, Pick]:
    return shapes.picks_of(
        detail.shape, detail.actions, kept.verdict, value=kept.value, args=kept.args
    )


def _shown(detail: Detail, picks: Mapping[str, Pick], *, unmasked: bool) -> tuple[Outcome, ...]:
    found = tuple(
        _outcome(action, picks[action.token], unmasked=unmasked)
        for action in detail.actions
        if action.token in picks
    )
    return () if len(found) == 1 and found[0].plain else found


def _outcome(action: shapes.Action, pick: Pick, *, unmasked: bool) -> Outcome:
    before = after = None
    if pick.args is not None:
        before = Shown.of(action.args, unmasked=unmasked).value
        after = Shown.of(dict(pick.args), unmasked=unmasked).value
    answered = pick.choice == "answer"
    return Outcome(
        tool=action.tool,
        label=DONE.get(pick.choice, pick.choice),
        tone=TONES.get(pick.choice, "ok"),
        text=pick.text,
        value=Shown.of(pick.value, unmasked=unmasked) if answered else None,
        before=before,
        after=after,
    )
