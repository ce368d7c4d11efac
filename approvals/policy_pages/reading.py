"""What is in force, and how it came about."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.speech import later
from approvals import errors, policy
from approvals.models import PolicyVersion
from approvals.policies import book as books
from approvals.policies import versions
from approvals.policy import Book
from approvals.policy_pages import access, rules

PAGE = 50


@require_safe
def policies(request: HttpRequest) -> HttpResponse:
    """What is in force, in the order in which it is tried."""
    user = access.reader(request)
    book = policy.in_force()
    newest = versions.newest_first().first()
    context = {
        "book": book,
        "newest": newest,
        "what": versions.told(newest) if newest else "",
        "rules": rules.of_book(book),
        "may_change": user.has_perm(versions.PERMISSION),
        "drifted": newest is not None and _drifted(book),
    }
    return render(request, "approvals/policies.html", context)


def _drifted(book: Book) -> bool:
    """Whether the settings say something else than the first version that was kept of them."""
    first = PolicyVersion.objects.order_by("number").first()
    return first is not None and books.of(first).policies != books.seed().policies


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """Every version, newest first."""
    access.reader(request)
    before = request.GET.get("before", "")
    found = versions.newest_first().select_related("by")
    if before.isdecimal():
        found = found.filter(number__lt=int(before[:9]))
    shown = list(found[: PAGE + 1])
    context = {
        "versions": [(each, versions.told(each)) for each in shown[:PAGE]],
        "older": f"?before={shown[PAGE - 1].number}" if len(shown) > PAGE else "",
        "first": not before,
    }
    return render(request, "approvals/policy_history.html", context)


@require_safe
def version(request: HttpRequest, number: int) -> HttpResponse:
    """One version: what it changed, and all of it."""
    access.reader(request)
    found = PolicyVersion.objects.filter(number=number).first()
    if found is None:
        raise errors.NoSuchPolicy(later("There is no such version. Look for it in the history."))
    former = versions.newest_first().filter(number__lt=number).first()
    newer = PolicyVersion.objects.filter(number__gt=number).order_by("number").first()
    context = {
        "version": found,
        "what": versions.told(found),
        "former": former,
        "newer": newer,
        "before": _by_name(former) if former else {},
        "after": _by_name(found),
    }
    return render(request, "approvals/policy_version.html", context)


def _by_name(stored: PolicyVersion) -> dict[str, object]:
    """Policies by name, with their place, so that a difference says which of them changed."""
    return {
        str(each["name"]): {"place": place} | {key: each[key] for key in each if key != "name"}
        for place, each in enumerate(stored.policies, 1)
    }
