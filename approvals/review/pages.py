"""The page on which a request is decided."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import clock, drafts, proof
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions, details, errors, forms, queries, refusals, shapes
from approvals.aftermath import mishaps, openings
from approvals.details import Detail
from approvals.forms import DecisionForm
from approvals.jsonforms import fields
from approvals.reply_forms import Reply, ReplyForm
from approvals.review import picked, reading
from approvals.review.reading import Review
from approvals.status import Delivery, Status, Verdict
from runs import masking, web

SEE = "approvals.view_request"
COMMANDS = frozenset({"resume", "goto", "update", "command", "graph"})
"""What LangGraph's Command takes. It is made here, from a decision, and never from a form."""
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
EVERY = 10
"""Seconds between two looks at a page that may change."""
SOON, HASTE = 2, timedelta(minutes=1)
"""Seconds, while a decision is on its way and not older than this."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps(typed=lambda sent: {"comment": sent.get("comment", ""), "reply": _typed(sent)})
def review(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Read one request and decide it. GET and HEAD change nothing; GET notes that it was shown."""
    if request.method == "POST":
        return _decide(request, request_id, _voter(request, request_id))
    user = web.reader(request, SEE)
    detail = details.of(request_id, user)
    if request.headers.get("HX-Request") == "true":
        return _progress(request, reading.of(detail, user, Actor.of(request)))
    page = _Page(request=request, user=user)
    kept = proof.kept(request) or {}
    typed = QueryDict(kept["reply"]) if kept.get("reply") else None
    return page.show(
        detail,
        comment=kept.get("comment", ""),
        confirmed=bool(kept),
        reason=typed.get("reason", "") if typed else "",
        chosen=picked.form(detail, posted=typed),
    )


def _voter(request: HttpRequest, request_id: UUID) -> User:
    """Who sends a verdict. Raises NotPermitted, and NoSuchRequest to who may not see it.

    The decision is not reached then, so the refusal is recorded here.
    """
    try:
        user = web.reader(request, SEE)
        if not queries.visible_to(user).filter(pk=request_id).exists():
            raise errors.NoSuchRequest
    except (accounts_errors.NotPermitted, errors.NoSuchRequest) as refusal:
        refusals.record(
            request_id,
            refusal,
            actor=Actor.of(request),
            verdict=request.POST.get("verdict", ""),
        )
        raise
    return user


def _decide(request: HttpRequest, request_id: UUID, user: User) -> HttpResponse:
    page = _Page(request=request, user=user)
    detail = details.of(request_id, user)
    _require_a_form(request, detail)
    form = DecisionForm(request.POST)
    chosen = picked.form(detail, posted=request.POST)
    if fields.ADD in request.POST:  # a row more in a list: nothing is decided, nothing is lost
        return page.show(detail, comment=request.POST.get("comment", ""), chosen=chosen)
    reply = _reply(detail, chosen, form.cleaned_data) if form.is_valid() else None
    if reply is None:
        _keep(request, detail, forms.wrong(form) | chosen.faults)
        return page.show(detail, form=form, chosen=chosen, status=422)
    unread = reply.verdict == Verdict.APPROVED and not form.cleaned_data["read_all"]
    if unread and page.must_read(detail):
        form.add_error("read_all", _("Download and read the whole question before you approve it."))
        _keep(request, detail, {"read_all": ["required"]})
        return page.show(detail, form=form, chosen=chosen, status=422)
    return _send(page, request_id, form, chosen, reply)


def _require_a_form(request: HttpRequest, detail: Detail) -> None:
    """Raise NotTaken for what would be a command for LangGraph, or for anything but a form.

    Such fields would not be read anyway. Who sends them means something else than a verdict, and is
    told instead of being taken at half their word.
    """
    foreign = sorted(COMMANDS & request.POST.keys())
    if foreign or request.content_type not in FORMS:
        refusal = errors.NotTaken()
        more = {"wrong": foreign or [str(request.content_type)[:100]]}
        verdict = request.POST.get("verdict", "")
        refusals.record(
            detail.request.pk,
            refusal,
            actor=Actor.of(request),
            verdict=verdict,
            run_id=detail.run.pk,
            more=more,
        )
        raise refusal


def _keep(request: HttpRequest, detail: Detail, wrong: Mapping[str, list[str]]) -> None:
    """A form that did not get as far as the decision is a refused attempt, too."""
    refusals.record(
        detail.request.pk,
        errors.FormIncomplete(),
        actor=Actor.of(request),
        verdict=request.POST.get("verdict", ""),
        run_id=detail.run.pk,
        more={"wrong": wrong, "choice": request.POST.get("choice", "")},
    )


def _send(
    page: _Page, request_id: UUID, form: DecisionForm, chosen: ReplyForm, reply: Reply
) -> HttpResponse:
    request, user, sent = page.request, page.user, form.cleaned_data
    try:
        decisions.decide(
            request_id,
            actor=Actor.of(request),
            verdict=reply.verdict,
            value=reply.value,
            args=reply.args,
            comment=sent["comment"],
            reason=sent["reason"] if reply.verdict == Verdict.REJECTED else "",
            seen_digest=sent["digest"],
            token=sent["token"],
        )
    except accounts_errors.ReauthenticationNeeded as needed:
        passkey = isinstance(needed, accounts_errors.PasskeyNeeded)
        typed = {"comment": sent["comment"], "reply": _typed(request.POST)}
        return proof.ask(request, typed, passkey=passkey)
    except errors.PayloadChanged as refusal:
        now = details.of(refusal.now or request_id, user)
        return page.show(now, comment=sent["comment"], refusal=refusal, unsent=chosen.entered)
    except (errors.BadValue, errors.ReasonMissing) as refusal:
        if not isinstance(refusal, errors.BadValue) or not chosen.note(refusal):
            form.add_error(getattr(refusal, "field", "comment"), str(refusal))
        return page.show(details.of(request_id, user), form=form, chosen=chosen, status=422)
    except errors.NoSuchRequest:
        raise
    except errors.ApprovalsError as refusal:
        detail = details.of(request_id, user)
        return page.show(detail, comment=sent["comment"], refusal=refusal, unsent=chosen.entered)
    proof.forget(request)
    return HttpResponseRedirect(reverse("approvals:review", args=[request_id]))


def _reply(detail: Detail, form: ReplyForm, sent: Mapping[str, str]) -> Reply | None:
    """What the form says. None: something is missing, and stands at its place."""
    if not form.parts:  # nothing to choose from: the policy says what the verdict means, or nobody
        return Reply(verdict=Verdict(sent["verdict"] or Verdict.APPROVED))
    verdict = sent["verdict"]
    if verdict and shapes.speaks(detail.asked, verdict):
        return Reply(verdict=Verdict(verdict))
    return form.read(sent["choice"] or form.pressed(verdict))


def _typed(sent: QueryDict) -> str:
    """All that was entered, without what belongs to this one sending of it."""
    typed = sent.copy()
    for name in ("csrfmiddlewaretoken", drafts.WRITER, "token", "digest", "comment"):
        typed.pop(name, None)
    return typed.urlencode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The whole page, for one reader and one request of theirs."""

    request: HttpRequest
    user: User

    def show(  # noqa: PLR0913 (what a page may have to say besides the request)
        self,
        detail: Detail,
        *,
        form: DecisionForm | None = None,
        comment: str = "",
        reason: str = "",
        refusal: errors.ApprovalsError | None = None,
        confirmed: bool = False,
        chosen: ReplyForm | None = None,
        unsent: Sequence[tuple[str, str]] = (),
        status: int = 200,
    ) -> HttpResponse:
        """`refusal` says why the last verdict did not count; its status is that of the answer.
        `unsent`: what was entered with it, by label, to be read and copied."""
        shown = form or DecisionForm(initial={"comment": comment, "reason": reason})
        if form is not None:
            comment = form["comment"].value() or ""
        if shown.errors.get("comment"):
            shown.fields["comment"].widget.attrs["autofocus"] = True
        if self.request.method != "HEAD" and "prefetch" not in self._purpose:
            openings.note(detail, self.user)
        context = _context(self.request, self._review(detail)) | {
            "marks": mishaps.marks(detail.request.pk, self.user),
            "may_report": mishaps.may_report(detail.request, self.user),
            "ahead": reading.ahead(detail, self.user),
            "form": shown,
            "comment": comment,
            "refusal": refusal,
            "unsent": unsent,
            "mine": getattr(refusal, "decider", None) == self.user.label,
            "confirmed": confirmed,
            "may_more": detail.may_approve,
            **picked.words(chosen or picked.form(detail)),
        }
        return render(
            self.request,
            "approvals/review.html",
            context,
            status=refusal.http_status if refusal else status,
        )

    @property
    def _purpose(self) -> str:
        """Why the browser asks; older ones say it without a prefix. A page fetched ahead may never
        be shown."""
        headers = self.request.headers
        return headers.get("Sec-Purpose", "") + headers.get("Purpose", "")

    def must_read(self, detail: Detail) -> bool:
        return bool(self._review(detail).exact.too_long)

    def _review(self, detail: Detail) -> Review:
        reveal = _reveals(self.request, detail)
        if reveal and detail.hidden:
            detail = details.of(detail.request.pk, self.user, reveal=True)
        return reading.of(detail, self.user, Actor.of(self.request), reveal=reveal)


def _context(request: HttpRequest, review: Review) -> dict[str, object]:
    decision = review.detail.decision
    soon = decision is not None and clock.now() - decision.at < HASTE
    query = urlencode({"seen": review.stamp})
    address = reverse("approvals:review", args=[review.detail.request.pk])
    whole = review.unmasked
    return {
        "calls": picked.calls(review.detail, unmasked=whole),
        "outcomes": picked.outcomes(review.detail, unmasked=whole),
        "proposals": picked.proposals(review.detail, unmasked=whole),
        "review": review,
        "detail": review.detail,
        "live_url": f"{address}?{query}",
        "every": SOON if soon else EVERY,
        "address": address,
        "may_reveal": request.user.has_perm(web.REVEAL),
    }


def _progress(request: HttpRequest, review: Review) -> HttpResponse:
    """What changes on the page by itself. The buttons never change under the reader's hands: if
    what they would decide is not what they see, they are switched off with a word why."""
    seen = request.GET.get("seen", "")
    shut = seen.startswith(Status.PENDING) and review.detail.request.status != Status.PENDING
    changed = bool(seen) and seen != review.stamp
    context = _context(request, review) | {"fragment": True, "shut": shut, "changed": changed}
    response = render(request, "approvals/review.html#progress", context)
    if changed:
        response["HX-Trigger"] = json.dumps({"announce": _news(review)})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _news(review: Review) -> str:
    detail = review.detail
    if detail.decision is None or detail.delivery is None:
        return f"{review.label}. {review.state.sentence}"
    if detail.decision.delivery == Delivery.RECORDED:
        return _("{status} by {person}.").format(
            status=review.state.label, person=detail.decision.decider
        )
    return f"{detail.delivery.label}. {detail.delivery.sentence}"


@never_cache
@require_safe
def payload(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """The whole question as JSON, for those too long to be read on the page."""
    user = web.reader(request, SEE)
    detail = details.of(request_id, user)
    revealed = _reveals(request, detail)
    if revealed and detail.hidden:
        detail = details.of(request_id, user, reveal=True)
    whole = revealed or reading.sees_all(detail, user)
    value = detail.payload if whole else masking.mask(detail.payload).value
    text = json.dumps(value, indent=2, ensure_ascii=False)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="request-{request_id}.json"'
    return response


def _reveals(request: HttpRequest, detail: Detail) -> bool:
    return web.reveals(request, detail.run.pk, f"request {detail.request.pk}")


@require_safe
def decision(request: HttpRequest, decision_id: UUID) -> HttpResponse:
    """From a permit in the ledger to the request that it was given on."""
    user = web.reader(request, SEE)
    found = queries.visible_to(user).filter(decision=decision_id).values_list("pk", flat=True)
    if not found:
        raise errors.NoSuchRequest
    return HttpResponseRedirect(reverse("approvals:review", args=[found[0]]))
