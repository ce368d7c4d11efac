"""The list of keys: as a page, and as the content of the dialog that `?` opens."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.views import SignedIn
from signalbox import context
from signalbox.shortcuts import table
from signalbox.shortcuts.table import Group, Key


@require_safe
def keys(request: SignedIn) -> HttpResponse:
    """Every key; of the main menu, those of the places that this person may see."""
    groups = (_places(request.user), table.LISTS, table.EVERYWHERE, table.RUN, table.REQUEST)
    part = "#dialog" if request.headers.get("HX-Request") == "true" else ""
    response = render(request, f"shortcuts/keys.html{part}", {"groups": groups})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _places(user: User) -> Group:
    links = context.menu(user, "")
    keys = tuple(Key(keys=("g", link.key), does=link.label) for link in links)
    return Group(title=_("Go to"), keys=keys)
