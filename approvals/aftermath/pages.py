"""The pages on which something is marked as gone wrong, and on which that is withdrawn."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import drafts, proof
from accounts.actors import Actor
from approvals import details, errors, queries
from approvals.aftermath import mishaps
from approvals.aftermath.forms import MishapForm, WithdrawForm
from runs import web

SEE = "approvals.view_request"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("severity", "note")
def report(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Say that what was approved went wrong."""
    user = web.reader(request, SEE)
    found = queries.visible_to(user).select_related("run", "decision").filter(pk=request_id).first()
    if found is None:
        raise errors.NoSuchRequest
    kept = proof.kept(request)
    initial = {**(kept or {}), "token": details.form_token()}
    form = MishapForm(request.POST or None, initial=initial)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                mishaps.report(request_id, actor=Actor.of(request), **form.cleaned_data)
            except errors.ApprovalsError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                messages.success(request, _("Noted. The decision itself is as it was."))
                return HttpResponseRedirect(reverse("approvals:review", args=[request_id]))
    context = {
        "subject": found,
        "form": form,
        "confirmed": kept is not None,
        "possible": mishaps.may_report(found, user),
        "verb": _("Mark as gone wrong"),
        "keep": _("Leave it"),
        "keep_url": reverse("approvals:review", args=[request_id]),
    }
    return render(request, "approvals/aftermath/report.html", context, status=code)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def withdraw(request: HttpRequest, mishap_id: int) -> HttpResponse:
    """Say that it had not gone wrong after all."""
    user = web.reader(request, SEE)
    mishap = mishaps.get(mishap_id, user)
    back = reverse("approvals:review", args=[mishap.request_id])
    kept = proof.kept(request)
    form = WithdrawForm(request.POST or None, initial=kept)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                reason = form.cleaned_data["reason"]
                mishaps.withdraw(mishap_id, reason=reason, actor=Actor.of(request))
            except errors.ApprovalsError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                messages.success(request, _("Withdrawn. What was said stays readable."))
                return HttpResponseRedirect(back)
    context = {
        "mishap": mishap,
        "subject": mishap.request,
        "form": form,
        "confirmed": kept is not None,
        "verb": _("Withdraw it"),
        "keep": _("Let it stand"),
        "keep_url": back,
    }
    return render(request, "approvals/aftermath/withdraw.html", context, status=code)
