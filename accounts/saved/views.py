"""Saving views, and the page on which a person tends theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts import actors
from accounts.actors import Actor
from accounts.models import SavedView, User
from accounts.speech import later

SHARE = "accounts.share_savedview"
LISTS = ("audit:list", "ledger:list", "runs:list")
"""Pages whose filters can be saved."""
MOST = 50
"""Views of one list that one person sees."""
LONGEST = 4000
NAME = later("Give the view a name of up to 100 characters.")
TOO_LONG = later("The filters are too long. Take some away and try again.")


class SaveForm(forms.Form):
    """What is saved, and under which name."""

    name = forms.CharField(max_length=100)
    path = forms.CharField(max_length=100)
    query = forms.CharField(max_length=LONGEST, required=False)
    shared = forms.BooleanField(required=False)

    def clean_path(self) -> str:
        path: str = self.cleaned_data["path"]
        try:
            known = resolve(path).view_name in LISTS
        except Resolver404:
            known = False
        if not known:
            raise forms.ValidationError("The filters of this page cannot be saved.")
        return path

    def clean_query(self) -> str:
        """Written anew, so that it is a query and nothing else."""
        query = QueryDict(self.cleaned_data["query"]).urlencode()
        if len(query) > LONGEST:
            raise forms.ValidationError(TOO_LONG)
        return query


class NameForm(forms.Form):
    """Another name."""

    name = forms.CharField(max_length=100)


Reads = Callable[[QueryDict], bool]
"""Whether somebody may read filters that somebody else has typed."""


def of(user: User, path: str, reads: Reads = lambda _: True) -> SimpleLazyObject[list[SavedView]]:
    """The views of a list that somebody sees: their own, and those that others share with them.

    Read where they are shown: an open list that asks again shows only its rows.
    """
    return SimpleLazyObject(partial(_read, user, path, reads))


def _read(user: User, path: str, reads: Reads) -> list[SavedView]:
    seen = Q(owner=user) | Q(shared=True)
    found = SavedView.objects.filter(seen, path=path).order_by("name", "pk")[:MOST]
    return [view for view in found if view.owner_id == user.pk or reads(QueryDict(view.query))]


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the filters of a list. The same name again replaces what it stood for."""
    user = _person(request)
    form = SaveForm(request.POST)
    if not form.is_valid():
        why = TOO_LONG if "query" in form.errors else NAME
        messages.error(request, _("Nothing was saved. {why}").format(why=why))
        return redirect("saved_views")
    sent = form.cleaned_data
    if sent["shared"]:
        actors.require(Actor.of(request), SHARE)
    view, _made = SavedView.objects.update_or_create(
        owner=user,
        path=sent["path"],
        name=sent["name"],
        defaults={"query": sent["query"], "shared": sent["shared"]},
    )
    messages.success(request, _("Saved as {name}.").format(name=view.name))
    return HttpResponseRedirect(view.url)


@require_safe
def saved_views(request: HttpRequest) -> HttpResponse:
    """The reader's own views, to be renamed or taken away."""
    mine = SavedView.objects.filter(owner=_person(request)).order_by("path", "name")
    return render(request, "accounts/saved_views.html", {"views": mine})


@require_POST
def rename(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=_person(request))
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A view needs a name of up to 100 characters."))
        return redirect("saved_views")
    others = SavedView.objects.filter(owner=view.owner, path=view.path).exclude(pk=view.pk)
    if others.filter(name=form.cleaned_data["name"]).exists():
        messages.error(request, _("Another view has this name. Choose a different one."))
        return redirect("saved_views")
    view.name = form.cleaned_data["name"]
    view.save(update_fields=["name"])
    messages.success(request, _("Renamed."))
    return redirect("saved_views")


@require_POST
def delete(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=_person(request))
    view.delete()
    messages.success(
        request, _("{name} is gone. What it showed is still there.").format(name=view.name)
    )
    return redirect("saved_views")


def _person(request: HttpRequest) -> User:
    """Whoever is signed in; nobody else gets this far."""
    user = request.user
    if not isinstance(user, User):
        raise AssertionError("a page for people who are signed in")
    return user
