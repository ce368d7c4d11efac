"""The page on which a person sees what of a run can be taken back, and has it done."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import actors, drafts, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from ledger import errors
from ledger.status import UNDOING, UndoStatus
from ledger.undo import ordering, plan
from ledger.undo.forms import UndoForm
from runs import ports, web
from runs import queries as runs

SEE = "ledger.view_effect"
EVERY = 5
"""Seconds between two looks at a plan under way."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def undo(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What can be taken back, how far an order has come, and ordering it."""
    user = web.reader(request, SEE)
    if request.method != "POST":
        kept = proof.kept(request)
        steps = plan.steps(run_id)
        initial = {**(kept or {}), "seen": plan.seen(plan.willing(steps))}
        form = UndoForm(run_id=run_id, initial=initial)
        return _page(request, user, run_id, form, confirmed=kept is not None)
    web.reader(request, ordering.PERMISSION)
    form = UndoForm(request.POST, run_id=run_id)
    if not form.is_valid():
        return _page(request, user, run_id, form, code=422)
    sent = form.cleaned_data
    try:
        ordering.order(run_id, sent["seen"], actor=Actor.of(request), reason=sent["reason"])
    except people.ReauthenticationNeeded:
        return proof.ask(request, {"reason": sent["reason"]})
    except errors.LedgerError as refusal:
        form.add_error(None, refusal.shown)
        return _page(request, user, run_id, form, code=refusal.http_status)
    proof.forget(request)
    messages.success(request, _("It is taken back now, the last effect first."))
    return HttpResponseRedirect(reverse("ledger:undo", args=[run_id]))


def _page(  # noqa: PLR0913 (a page with a form has that many sides)
    request: HttpRequest,
    user: User,
    run_id: UUID,
    form: UndoForm,
    *,
    confirmed: bool = False,
    code: int = 200,
) -> HttpResponse:
    run = runs.one(run_id, user).run
    made, steps = plan.latest(run_id), plan.steps(run_id, ports.cloak(run_id, user))
    working = made is not None and made.status == UndoStatus.WORKING
    will = plan.willing(steps)
    doubtful = any(step.doubtful for step in steps)
    context: dict[str, object] = {
        "run": run,
        "made": made,
        "made_state": UNDOING[made.status] if made else None,
        "steps": steps,
        "will": will,
        "doubtful": doubtful,
        "working": working,
        "offered": bool(
            will
            and not doubtful
            and not working
            and run.ended
            and user.has_perm(ordering.PERMISSION)
        ),
        "form": form,
        "confirmed": confirmed,
        "proof": not actors.fresh(Actor.of(request), ordering.FRESH),
        "verb": ngettext("Undo {count} effect", "Undo {count} effects", len(will)).format(
            count=len(will)
        ),
        "keep": _("Leave them as they are"),
        "keep_url": reverse("runs:run", args=[run_id]),
        "reconcile_url": reverse("ledger:reconcile"),
        "live_url": request.path,
        "every": EVERY,
    }
    if request.method == "GET":
        return web.answer(request, "ledger/undo.html", "standing", context)
    return render(request, "ledger/undo.html", context, status=code)
