"""What a run that waits for an answer tells whoever looks at it: whom it waits for, and what to do.

Who may decide is asked of the electorate, so nobody is called who would be refused.
"""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from approvals import deadlines, gates, queries
from approvals.electorate import Electorate
from approvals.models import Request
from approvals.policy import OnDeadline, Policy
from approvals.status import Status
from runs.advice import telling as advice
from runs.models import Run
from runs.status import Status as RunStatus
from runs.story import Notice, phrase

MOST = 3
"""People who are named."""


def notice(run: Run, user: User) -> Notice | None:
    """About the open question whose deadline is nearest; None if this person may see none."""
    open_ = queries.visible_to(user).filter(run=run, status=Status.PENDING)
    request = open_.select_related("run").order_by("deadline").first()
    if request is None:
        return _answered(run, user)
    more = open_.count() - 1
    people = Electorate.of([request])
    gate = gates.of(request)
    called = people.called(request, gate)
    able = [each for each in people.people if each.user_id in called]
    told = phrase(
        _("Waits for %(group)s: %(title)s Asked ")
        % {"group": request.asked_of, "title": _sentence(request.title)},
        request.created_at,
        _("; the deadline is "),
        request.deadline,
        f", {_lapse(request)}.",
        _more(more),
    )
    lost = not people.tally(request, gate).possible and people.relief(request) is None
    url = reverse("approvals:review", args=[request.pk])
    if lost:
        return advice.notice(
            "waiting.nobody",
            run,
            user,
            told=told + phrase(" ", _("Too few people may decide it.")),
            url=reverse("approvals:policy_try"),
            look_url=url,
        )
    mine = user.pk in called
    return Notice(
        key="waiting",
        tone="human",
        text=told if mine else told + phrase(" ", _ask([each.label for each in able])),
        url=url,
        action=_("Review request") if mine else _("See request"),
    )


def _answered(run: Run, user: User) -> Notice | None:
    """Nothing is open that anybody could decide: an answer is on its way."""
    if run.status != RunStatus.WAITING:
        return None
    if Request.objects.filter(run=run, status=Status.PENDING).exists():
        return None
    return advice.notice("waiting.answered", run, user)


def _ask(people: list[str]) -> str:
    if not people:
        return ""
    named = {"people": ", ".join(people[:MOST])}
    if len(people) > MOST:
        return _("It can be decided by %(people)s and others.") % named
    return _("It can be decided by %(people)s.") % named


def _more(count: int) -> str:
    if not count:
        return ""
    return " " + ngettext(
        "%(count)s more question of this run is open.",
        "%(count)s more questions of this run are open.",
        count,
    ) % {"count": count}


def _lapse(request: Request) -> str:
    rule = Policy.read(request.policy)
    follows = deadlines.outcome(request, rule).outcome
    return str(OnDeadline(follows).label)


def _sentence(title: str) -> str:
    """The title with a full stop, unless it ends a sentence by itself."""
    return title if title.endswith((".", "?", "!", "…")) else f"{title}."
