"""The pages of many at once: what waits by kind, what exactly would be decided, what became of it.

GET shows, and so does a POST that only chooses. A POST with a form's name decides; sent again it
has the same outcome. All works without a script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import actors, drafts, proof
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions, details, errors, queries, refusals
from approvals.bulk import acts, forms, offers
from approvals.bulk.acts import Ballot, Result, Sent
from approvals.bulk.forms import BulkForm
from approvals.bulk.offers import Offer
from approvals.bulk.outcomes import OUTCOMES
from approvals.forms import wrong as wrong_in
from approvals.status import Verdict
from audit import trail
from runs import web

SEE = "approvals.view_request"


@never_cache
@require_safe
def kinds(request: HttpRequest) -> HttpResponse:
    """What waits for the reader, by kind."""
    user = web.reader(request, SEE)
    return render(request, "approvals/bulk/kinds.html", {"lots": offers.lots(user)})


def _typed(sent: QueryDict) -> dict[str, str]:
    """What is kept of a form: which were ticked, and what was written about them."""
    picks = " ".join(str(each.request_id) for each in forms.ticked(sent.getlist("item")))
    return {"picks": picks} | drafts.fields(sent, ("comment", "reason"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps(typed=_typed)
def approve(request: HttpRequest) -> HttpResponse:
    return _page(request, Verdict.APPROVED)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps(typed=_typed)
def reject(request: HttpRequest) -> HttpResponse:
    return _page(request, Verdict.REJECTED)


def _page(request: HttpRequest, verdict: Verdict) -> HttpResponse:
    if request.method == "POST" and "batch" in request.POST:
        sent = forms.ticked(request.POST.getlist("item"))
        page = _Page(request=request, user=_voter(request, verdict, sent), verdict=verdict)
        return page.decide(sent)
    page = _Page(request=request, user=web.reader(request, SEE), verdict=verdict)
    if request.method == "POST":
        return page.show(offers.picked(page.user, verdict, _ids(request.POST.getlist("pick"))))
    kept = proof.kept(request)
    if kept is not None:
        ids = _ids(kept.get("picks", "").split())
        return page.show(offers.picked(page.user, verdict, ids), typed=kept, confirmed=True)
    return page.show(offers.of_kind(page.user, verdict, request.GET.get("kind", "")))


def _voter(request: HttpRequest, verdict: str, sent: Collection[Sent]) -> User:
    """Who sends verdicts. Raises NotPermitted; no decision is reached then, so it is kept here."""
    try:
        return web.reader(request, SEE)
    except accounts_errors.NotPermitted as refusal:
        actor = Actor.of(request, entry=decisions.BULK)
        for each in sent:
            refusals.record(each.request_id, refusal, actor=actor, verdict=verdict)
        raise


def _ids(texts: Collection[str]) -> list[UUID]:
    """Ids in the order given, each once, up to one page."""
    found: dict[UUID, None] = {}
    for text in texts:
        try:
            found[UUID(text)] = None
        except ValueError:
            continue
    return list(found)[: offers.MOST]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """One verdict for many requests, for one reader."""

    request: HttpRequest
    user: User
    verdict: Verdict

    def show(  # noqa: PLR0913 (what a page may have to say besides its rows)
        self,
        offer: Offer,
        *,
        form: BulkForm | None = None,
        typed: dict[str, str] | None = None,
        ticks: Collection[UUID] | None = None,
        confirmed: bool = False,
        status: int = 200,
    ) -> HttpResponse:
        """Exactly which, and the one reason. `ticks`: which boxes are ticked; None: all."""
        items = offer.items
        kind = items[0].kind if items else None
        one = kind if len({each.kind for each in items}) == 1 else None
        names = {name: (typed or {}).get(name, "") for name in ("comment", "reason")}
        initial = names | {"batch": details.form_token(), "kind": kind.token if kind else ""}
        gates = [each.gate for each in items]
        return self._answer(
            "approvals/bulk/choose.html",
            {
                "offer": offer,
                "kind": one,
                "form": form or BulkForm(verdict=self.verdict, gates=gates, initial=initial),
                "ticked": [
                    each.request.pk for each in items if ticks is None or each.request.pk in ticks
                ],
                "confirmed": confirmed,
                "proof": any(self._needs_proof(gate.reauthenticate_within) for gate in gates),
            },
            status=status,
        )

    def _needs_proof(self, within: timedelta | None) -> bool:
        return within is not None and not actors.fresh(self._actor, within)

    @property
    def _actor(self) -> Actor:
        return Actor.of(self.request, entry=decisions.BULK)

    def decide(self, sent: list[Sent]) -> HttpResponse:
        ids = [each.request_id for each in sent]
        form = BulkForm(
            self.request.POST, verdict=self.verdict, gates=offers.gates_of(self.user, ids)
        )
        valid = form.is_valid()
        if not sent:
            form.add_error(None, forms.TICK)
        if not valid or not sent:
            return self._again(form, ids)
        data = form.cleaned_data
        ballot = Ballot(
            verdict=self.verdict,
            comment=data["comment"],
            reason=data.get("reason", ""),
            kind=data["kind"],
            batch=data["batch"],
        )
        results = acts.decide(sent, self.user, actor=self._actor, ballot=ballot)
        if any(each.state.value == "proof" for each in results):
            return self._prove(results, ballot)
        proof.forget(self.request)
        return self._tell(results, ballot)

    def _again(self, form: BulkForm, ids: list[UUID]) -> HttpResponse:
        """The same page, with what is missing at its place; kept as a refused attempt."""
        wrong = wrong_in(form)
        trail.record_refused(
            "decision.refused",
            actor=self._actor,
            target=("bulk", self.request.POST.get("batch", "")[: decisions.LONGEST_TOKEN]),
            reason=str(errors.FormIncomplete()),
            data={"verdict": self.verdict, "wrong": wrong, "requests": list(map(str, ids))},
        )
        picks = _ids(self.request.POST.getlist("pick")) or ids
        offer = offers.picked(self.user, self.verdict, picks)
        return self.show(offer, form=form, ticks=ids, status=422)

    def _prove(self, results: list[Result], ballot: Ballot) -> HttpResponse:
        """To the proof of identity, and back to what was not decided before it."""
        left = [each for each in results if each.state.value in ("proof", "unreached")]
        if len(left) < len(results):
            messages.info(
                self.request,
                _(
                    "{value} were dealt with before you were asked to confirm that it is you."
                    " Those below were not."
                ).format(value=len(results) - len(left)),
            )
        typed = {
            "picks": " ".join(str(each.sent.request_id) for each in left),
            "comment": ballot.comment,
            "reason": ballot.reason,
        }
        return proof.ask(self.request, typed, passkey=any(each.passkey for each in left))

    def _tell(self, results: list[Result], ballot: Ballot) -> HttpResponse:
        counts = Counter(each.state for each in results)
        return self._answer(
            "approvals/bulk/results.html",
            {
                "results": results,
                "counts": list(counts.items()),
                "left": [each for each in results if each.state.value == "unreached"],
                "refused": counts[OUTCOMES["refused"]],
                "ballot": ballot,
                "needs": len(queries.needs(self.user)),
            },
        )

    def _answer(self, page: str, context: dict[str, object], *, status: int = 200) -> HttpResponse:
        approving = self.verdict == Verdict.APPROVED
        common = {
            "approving": approving,
            "verb": _("Approve") if approving else _("Reject"),
            "address": reverse(f"approvals:bulk_{'approve' if approving else 'reject'}"),
        }
        return render(self.request, page, common | context, status=status)
