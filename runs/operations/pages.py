"""The pages of operations: what would be done to which runs, how far it has come, and all of them.

GET shows, POST orders or stops. All works without a script; the address of what is asked before
can be sent to somebody else.
"""

from __future__ import annotations

import secrets
from collections import Counter
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import (
    conditional_page,
    require_http_methods,
    require_POST,
    require_safe,
)

from accounts import actors, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from runs import controls, errors, web
from runs.listing import forms as filters
from runs.listing.forms import FilterForm
from runs.models import Operation
from runs.operations import ordering, progress, selection
from runs.operations.forms import OrderForm
from runs.operations.ordering import Order
from runs.operations.progress import Progress
from runs.operations.selection import Selection
from runs.operations.states import OUTCOMES

SEE = "runs.view_operation"
SHOWN = 200
"""Runs that are listed before an operation; more are counted, and listed by their filters."""
SIZE = 100
"""Runs of an operation on one page."""
EVERY = 2
"""Seconds between two looks at one that is at work."""
LISTED = 50
"""Operations on one page."""
FINAL = 286
"""The status of a fragment that does not change any more."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Exactly which runs, what would be done, and the one reason; or doing it."""
    user = web.reader(request, ordering.PERMISSION)
    kept = proof.kept(request) if "kind" not in request.GET else None
    asked = QueryDict(request.POST.get("asked") or (kept or {}).get("asked", ""))
    asked = asked if asked else request.GET
    kind = selection.kind_of(asked)
    if kind is None:
        messages.error(request, _("Choose some runs first, and what is to be done to them."))
        return HttpResponseRedirect(reverse("runs:list"))
    web.reader(request, kind.control.permission)
    page = _Asking(request=request, user=user, asked=asked)
    if request.method != "POST":
        return page.show(
            selection.of(asked, kind, user),
            reason=(kept or {}).get("reason", ""),
            confirmed=kept is not None,
        )
    return page.order(OrderForm(request.POST, kind=kind), selection.of(asked, kind, user))


class _Asking:
    """The page before an operation, for one reader."""

    def __init__(self, *, request: HttpRequest, user: User, asked: QueryDict) -> None:
        self.request, self.user, self.asked = request, user, asked
        self.actor = Actor.of(request, entry="bulk")

    def show(
        self,
        chosen: Selection,
        *,
        form: OrderForm | None = None,
        reason: str = "",
        confirmed: bool = False,
        status: int = 200,
    ) -> HttpResponse:
        count = len(chosen.rows)
        initial = {
            "asked": self.asked.urlencode(),
            "meant": chosen.meant,
            "token": secrets.token_urlsafe(12),
            "reason": reason,
        }
        states = Counter((row.standing.main.state, row.standing.main.label) for row in chosen.rows)
        context = {
            "form": form or OrderForm(kind=chosen.kind, count=count, initial=initial),
            "chosen": chosen,
            "kind": chosen.kind,
            "count": count,
            "shown": chosen.rows[:SHOWN],
            "more": max(count - SHOWN, 0),
            "states": [(state, label, many) for (state, label), many in states.most_common()],
            "confirmed": confirmed,
            "proof": chosen.kind.fresh and not actors.fresh(self.actor, controls.FRESH),
            "list_url": f"{reverse('runs:list')}?{chosen.query}",
        }
        return render(self.request, "runs/operations/new.html", context, status=status)

    def order(self, form: OrderForm, chosen: Selection) -> HttpResponse:
        if not form.is_valid():
            return self.show(chosen, form=form, status=422)
        wanted = Order(
            kind=chosen.kind.value,
            runs=form.runs,
            reason=form.cleaned_data["reason"],
            token=form.cleaned_data["token"],
            query=selection.filters(self.asked, self.user).urlencode()
            if self.asked.get("all")
            else "",
            matched=selection.matched(self.asked, chosen.kind, self.user),
        )
        try:
            made = ordering.order(wanted, actor=self.actor)
        except people.ReauthenticationNeeded:
            typed = {"asked": self.asked.urlencode(), "reason": wanted.reason}
            return proof.ask(self.request, typed)
        except errors.RunsError as refusal:
            form.add_error(None, str(refusal))
            return self.show(chosen, form=form, status=refusal.http_status)
        proof.forget(self.request)
        return HttpResponseRedirect(reverse("runs:operation", args=[made.pk]))


@conditional_page
@require_safe
def operation(request: HttpRequest, operation_id: UUID) -> HttpResponse:
    """How far it has come, and what became of each run."""
    user = web.reader(request, SEE)
    found = progress.one(operation_id)
    made = found.operation
    outcome = request.GET.get("outcome", "")
    outcome = outcome if outcome in OUTCOMES else ""
    after = request.GET.get("after", "")
    place = int(after) if after.isdecimal() and len(after) < 6 else 0
    shown = progress.items(made, user, outcome=outcome, after=place, limit=SIZE + 1)
    working = made.status == Operation.Status.WORKING
    met = _filters(found, user)
    context = {
        "found": found,
        "operation": made,
        "shown": shown[:SIZE],
        "outcome": outcome,
        "older": _page(outcome, shown[SIZE - 1].item.position) if len(shown) > SIZE else "",
        "newer": _page(outcome, 0) if place else "",
        "filters": met,
        "list_url": f"{reverse('runs:list')}?{made.query}" if met else "",
        "working": working,
        "may_stop": working and user.has_perm(ordering.PERMISSION),
        "live_url": request.get_full_path(),
        "every": EVERY,
    }
    answer = web.answer(request, "runs/operations/operation.html", "progress", context)
    if not working and request.headers.get("HX-Request") == "true":
        answer.status_code = FINAL
    return answer


def _page(outcome: str, after: int) -> str:
    query = QueryDict(mutable=True)
    query.update(
        {name: str(value) for name, value in (("outcome", outcome), ("after", after)) if value}
    )
    return f"?{query.urlencode()}"


def _filters(found: Progress, user: User) -> list[filters.On]:
    """None of them if the reader may not read what was typed into them: their address has that."""
    query = QueryDict(found.operation.query)
    if found.operation.asked_by_id != user.pk and not filters.reads(user)(query):
        return []
    form = FilterForm(query, user=user)
    return list(filters.on(form, query)) if form.is_valid() else []


@never_cache
@require_POST
def stop(request: HttpRequest, operation_id: UUID) -> HttpResponse:
    """Leave the rest of the runs as they are."""
    try:
        ordering.stop(operation_id, actor=Actor.of(request, entry="bulk"))
    except errors.OperationEnded as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Stopped. The runs that were not reached are left alone."))
    return HttpResponseRedirect(reverse("runs:operation", args=[operation_id]))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Operations, newest first, a page at a time."""
    web.reader(request, SEE)
    after, before = (_named(request.GET.get(name, "")) for name in ("after", "before"))
    found = progress.newest(after=after, before=before, limit=LISTED + 1)
    more = len(found) > LISTED
    if before is not None:
        shown, newer, older = found[-LISTED:], more, True
    else:
        shown, newer, older = found[:LISTED], after is not None, more
    context = {
        "operations": progress.of(shown),
        "newer": f"?before={shown[0].pk}" if shown and newer else "",
        "older": f"?after={shown[-1].pk}" if shown and older else "",
    }
    return render(request, "runs/operations/list.html", context)


def _named(text: str) -> Operation | None:
    """The operation with this id, which stands in an address; None of anything else."""
    try:
        return Operation.objects.filter(pk=UUID(text)).first()
    except ValueError:
        return None
