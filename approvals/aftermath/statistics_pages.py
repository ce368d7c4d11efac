"""The statistics of approvers, for auditors."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from approvals import policy
from approvals.aftermath import statistics as counting
from approvals.aftermath.forms import PERIODS, USUAL, StatisticsForm
from approvals.aftermath.statistics import Filters
from runs import registry, web

SEE = "approvals.view_statistics"
MOST_PEOPLE = 200
"""Names that the field "Person" suggests."""


@never_cache
@require_safe
def statistics(request: HttpRequest) -> HttpResponse:
    """How people decide, per person and per policy."""
    web.reader(request, SEE)
    form = StatisticsForm({"period": USUAL} | request.GET.dict())
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "found": counting.count(_filters(form)) if form.is_valid() else None,
        "policies": [each.name for each in policy.in_force().policies],
        "agents": sorted(registry.declarations()),
        "people": User.objects.order_by("email")[:MOST_PEOPLE],
    }
    return render(request, "approvals/aftermath/statistics.html", context)


def _filters(form: StatisticsForm) -> Filters:
    sent = form.cleaned_data
    person = sent["person"]
    return Filters(
        period=PERIODS[sent["period"] or USUAL][1],
        policy=sent["policy"],
        agent=sent["agent"],
        person=person.pk if person else None,
    )
