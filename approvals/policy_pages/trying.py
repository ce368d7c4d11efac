"""What the policies would do with an action."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from approvals import dryrun
from approvals.policy_forms import DryRunForm
from approvals.policy_pages import access
from runs import registry


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def try_out(request: HttpRequest) -> HttpResponse:
    """Which policy an action would meet, why, who could decide it, and until when.

    Asked by POST although nothing changes, so that arguments stay out of addresses and their logs.
    """
    access.reader(request)
    form = DryRunForm(request.POST if request.method == "POST" else None)
    runs: list[dryrun.DryRun] = []
    if form.is_bound and form.is_valid():
        runs = [
            dryrun.of(subject, requester=form.cleaned_data["requester"])
            for subject in form.subjects()
        ]
    context = {"form": form, "runs": runs, "agents": sorted(registry.declarations())}
    return render(request, "approvals/policy_try.html", context, status=422 if form.errors else 200)
