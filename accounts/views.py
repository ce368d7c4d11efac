"""A person's own page."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import groups, sessions
from accounts.forms import ProfileForm
from accounts.middleware import SHOW_UTC, language_of
from accounts.models import User


class SignedIn(HttpRequest):
    """What a view gets unless it is marked login_not_required."""

    user: User


@require_http_methods(["GET", "HEAD", "POST"])
def me(request: SignedIn) -> HttpResponse:
    """Settings of the person signed in: how pages look and read, and how they sign in."""
    user = User.objects.get(pk=request.user.pk)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        request.user = form.save()
        request.session.pop(SHOW_UTC, None)
        with translation.override(language_of(request)):  # the one that was just chosen
            messages.success(request, _("Saved."))
        return redirect("me")
    may = [right for right in groups.RIGHTS if user.has_perm(right.name)]
    context = {
        "form": form,
        "may": may,
        "memberships": user.groups.order_by("name"),
        "authenticators": _authenticators(user),
        "sign_ins": sessions.of(user, here=request.session.session_key),
    }
    return render(request, "accounts/me.html", context, status=422 if form.errors else 200)


@require_POST
def sign_out_elsewhere(request: SignedIn) -> HttpResponse:
    """End the sessions of this person in all other browsers."""
    ended = sessions.end_others(request.user, here=request.session.session_key)
    told = ngettext(
        "Signed out in %(number)s other browser.", "Signed out in %(number)s other browsers.", ended
    )
    messages.success(request, told % {"number": ended})
    return redirect("me")


@require_POST
def clock(request: HttpRequest) -> HttpResponse:
    """Show times in UTC, or again in the person's own zone, until they sign out."""
    if request.POST.get("show") == "utc":
        request.session[SHOW_UTC] = True
    else:
        request.session.pop(SHOW_UTC, None)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    return HttpResponseRedirect(back)


@login_not_required
@require_GET
def closed(request: HttpRequest) -> HttpResponse:
    """Where people would change an address or sign up by themselves: an administrator does that."""
    return render(request, "accounts/closed.html", status=403)


def _authenticators(user: User) -> dict[str, list[Authenticator]]:
    """The person's ways to prove themselves besides the password, by type."""
    found: dict[str, list[Authenticator]] = {"totp": [], "webauthn": [], "recovery_codes": []}
    for authenticator in Authenticator.objects.filter(user=user).order_by("pk"):
        found[authenticator.type].append(authenticator)
    return found
