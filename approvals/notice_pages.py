"""What a person is told by mail, and saying that one looks at a request."""

from __future__ import annotations

import contextlib
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actors import Actor
from accounts.models import User
from approvals import claims, errors, queries
from approvals.models import Notice, NoticeChoice
from approvals.notice_forms import ChoiceForm
from approvals.notices import audience, channels, planning
from runs import web

SEE = "approvals.view_request"
LAST = 10
"""Mails that the page lists."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """Choose what one is told by mail, and when."""
    user = User.objects.get(pk=web.reader(request, SEE).pk)
    can_help = user.has_perm(audience.CAN_HELP)
    form = ChoiceForm(request.POST or None, choice=planning.chosen(user), can_help=can_help)
    if request.method == "POST" and form.is_valid():
        NoticeChoice.objects.update_or_create(user=user, defaults=form.chosen)
        messages.success(request, _("Saved."))
        return HttpResponseRedirect(reverse("approvals:notices"))
    told = Notice.objects.filter(user=user).exclude(status=Notice.Status.DROPPED)
    context = {
        "form": form,
        "zone_of_person": user.time_zone,
        "last": told.select_related("request").order_by("-pk")[:LAST],
        "channels": _channels(user),
    }
    code = 422 if form.is_bound and form.errors else 200
    return render(request, "approvals/notices.html", context, status=code)


def _channels(user: User) -> list[tuple[str, list[str]]]:
    """The groups of this person that are told somewhere else besides, and by which services."""
    mine = user.groups.values_list("name", flat=True)
    told = settings.APPROVALS_CHANNELS
    return [
        (group, [channels.service(each) for each in told[group]])
        for group in sorted(mine)
        if group in told
    ]


@never_cache
@require_POST
def claim(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Say that one looks at a request, or does not any more. Back to its page either way."""
    user = web.reader(request, SEE)
    if not queries.visible_to(user).filter(pk=request_id).exists():
        raise errors.NoSuchRequest
    if request.POST.get("look") == "no":
        claims.release(request_id, actor=Actor.of(request))
    else:
        with contextlib.suppress(errors.Withdrawn):  # the page says what became of it
            claims.take(request_id, actor=Actor.of(request))
    return HttpResponseRedirect(reverse("approvals:review", args=[request_id]))
