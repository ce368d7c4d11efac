"""Pages that ask before a person intervenes in a run: facts first, then a reason, then the button.

GET confirms, POST acts. They work without a script, can be linked, and keep what was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import actors, clock, drafts, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from accounts.speech import later as _
from runs import chain, controls, errors, offers, ports, queries, standing, takeovers, web
from runs.forms import ReasonForm, TypedReasonForm
from runs.models import Run
from runs.queries import Row
from runs.story import Ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One kind of confirmation."""

    act: Callable[..., Run]
    heading: str
    verb: str
    keep: str
    done: str
    template: str
    form: type[ReasonForm] = ReasonForm
    fresh: bool = False
    """Needs a recent sign-in."""
    ends: bool = False
    """The run does not go on afterwards."""


ASKS = {
    "cancel": Ask(
        act=controls.cancel,
        heading=_("Cancel this run?"),
        verb=_("Cancel the run"),
        keep=_("Keep the run"),
        done=_("Asked to cancel. The run ends at its next step."),
        template="runs/cancel.html",
        ends=True,
    ),
    "retry": Ask(
        act=controls.retry,
        heading=_("Retry this run now?"),
        verb=_("Retry now"),
        keep=_("Leave it as it is"),
        done=_("A worker was asked to try again."),
        template="runs/retry.html",
    ),
    "ask_again": Ask(
        act=controls.ask_again,
        heading=_("Have the question asked again?"),
        verb=_("Ask again"),
        keep=_("Leave it as it is"),
        done=_("The next worker takes the answer back and asks again."),
        template="runs/ask_again.html",
    ),
    "resume": Ask(
        act=controls.force_resume,
        heading=_("Force this run to resume?"),
        verb=_("Force resume"),
        keep=_("Keep waiting"),
        done=_("Resumed by hand. A worker was asked to take the run; others are told by mail."),
        template="runs/resume.html",
        form=TypedReasonForm,
        fresh=True,
    ),
}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def confirm(request: HttpRequest, run_id: UUID, name: str) -> HttpResponse:
    """Show what is known before it is done; do it when a reason is given."""
    ask, control = ASKS[name], next(each for each in offers.CONTROLS if each.name == name)
    user = web.reader(request, control.permission)
    row = queries.one(run_id, user)
    page = _Page(request=request, user=user, row=row, ask=ask)
    if request.method != "POST":
        kept = proof.kept(request)
        return page.show(ask.form(run=row.run, initial=kept), confirmed=kept is not None)
    form = ask.form(request.POST, run=row.run)
    if not form.is_valid():
        return page.show(form, status=422)
    reason = form.cleaned_data["reason"]
    seen = {"seen": request.POST.get("seen", "")} if ask.fresh else {}
    try:
        ask.act(run_id, actor=Actor.of(request), reason=reason, **seen)
    except people.ReauthenticationNeeded:
        return proof.ask(request, {"reason": reason})
    except errors.RunsError as refusal:
        form.add_error(None, refusal.shown)
        page = _Page(request=request, user=user, row=queries.one(run_id, user), ask=ask)
        return page.show(form, status=refusal.http_status)
    proof.forget(request)
    messages.success(request, ask.done)
    return HttpResponseRedirect(reverse("runs:run", args=[run_id]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The page, for one reader and one run."""

    request: HttpRequest
    user: User
    row: Row
    ask: Ask

    def show(self, form: ReasonForm, *, status: int = 200, confirmed: bool = False) -> HttpResponse:
        run, now = self.row.run, clock.page()
        context = {
            "form": form,
            "ask": self.ask,
            "verb": self.ask.verb,
            "keep": self.ask.keep,
            "keep_url": reverse("runs:run", args=[run.pk]),
            "run": run,
            "row": self.row,
            "confirmed": confirmed,
            "proof": self.ask.fresh and not self._fresh(),
            "next_fence": run.lease.fence + 1,
            "live": standing.is_live(run.lease, now),
            "tip": chain.tips([run.pk]).get(run.pk),
            "ahead": [told for each in ports.stories() if (told := self._ahead(each))],
            "past": takeovers.of(run.pk),
            "mark": controls.mark(run),
            "facts": [fact for story in ports.stories() for fact in story.facts(run.pk)],
        }
        return render(self.request, self.ask.template, context, status=status)

    def _ahead(self, story: ports.Story) -> Ahead | None:
        return story.ahead(self.row.run, self.user, ends=self.ask.ends)

    def _fresh(self) -> bool:
        return actors.fresh(Actor.of(self.request), controls.FRESH)
