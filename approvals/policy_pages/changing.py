"""Changing, adding and removing a policy."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import actors, drafts, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.speech import later
from approvals import errors, policy
from approvals.electorate import deciders
from approvals.policies import versions
from approvals.policies.form import PolicyForm, ReasonForm
from approvals.policies.rule import Policy
from approvals.policy_pages import access, rules

FIELDSETS = (
    (later("What it is about"), ("name", "place", "agent", "node", "tool", "when")),
    (later("Who decides"), ("group", "groups", "people", "quorum", "four_eyes", "excluded")),
    (later("How sure it must be"), ("risk", "bulk", "reauthenticate_within", "passkey")),
    (
        later("What must be said"),
        ("comment_required_to_reject", "comment_required_to_approve", "reject_reasons"),
    ),
    (
        later("Until when"),
        ("deadline", "deadline_at", "hours", "reminders", "escalation", "on_deadline"),
    ),
    (
        later("What is shown, and what may be changed"),
        ("summary", "key_facts", "masked", "editable"),
    ),
    (later("For agents that ask plainly"), ("answers",)),
    (later("This change"), ("reason",)),
)


def _sent(sent: QueryDict) -> dict[str, str]:
    """What is kept of a form until the person has proved who they are."""
    own = ("csrfmiddlewaretoken", drafts.WRITER)
    return {key: ",".join(sent.getlist(key)) for key in sent if key not in own}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps(typed=_sent)
def edit(request: HttpRequest, name: str = "") -> HttpResponse:
    """Change the policy of this name, or add one."""
    access.editor(request)
    book = policy.in_force()
    found = book.get(name)
    if name and found is None:
        raise errors.NoSuchPolicy
    default = found is book.policies[-1]
    if request.method != "POST":
        place = book.policies.index(found) + 1 if found else 1
        shown = found or Policy(name="")
        form = PolicyForm(
            initial=PolicyForm.written(shown, place=place, seen=book.version), default=default
        )
        kept = proof.kept(request)
        if kept is not None:
            form = PolicyForm(initial=dict(form.initial) | _typed(kept), default=default)
        return _edit_page(request, form, name, confirmed=kept is not None)
    form = PolicyForm(request.POST, default=default)
    if not form.is_valid():
        return _edit_page(request, form, name, code=422)

    def act() -> str:
        made = versions.save(
            form.policy(),
            was=name,
            place=form.cleaned_data.get("place") or len(book.policies),
            seen=form.cleaned_data["seen"],
            actor=Actor.of(request),
            reason=form.cleaned_data["reason"],
        )
        return _(
            "Saved as version {number}. It holds from now on, for open requests as well."
        ).format(number=made.number)

    return _act(request, act, lambda code: _edit_page(request, form, name, code=code), form)


def _typed(kept: dict[str, str]) -> dict[str, object]:
    """What had been typed before the person proved who they are."""
    typed: dict[str, object] = dict(kept)
    if "excluded" in kept:
        typed["excluded"] = kept["excluded"].split(",")
    for key in (
        "four_eyes",
        "passkey",
        "comment_required_to_reject",
        "comment_required_to_approve",
    ):
        typed[key] = kept.get(key, "") == "on"
    return typed


def _edit_page(
    request: HttpRequest,
    form: PolicyForm,
    name: str,
    *,
    confirmed: bool = False,
    code: int = 200,
) -> HttpResponse:
    context = {
        "form": form,
        "name": name,
        "default": form.default,
        "confirmed": confirmed,
        "proof": not actors.fresh(Actor.of(request), versions.FRESH),
        "fieldsets": [
            (legend, [form[key] for key in keys if key in form.fields])
            for legend, keys in FIELDSETS
        ],
    }
    return render(request, "approvals/policy_edit.html", context, status=code)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Take a policy out."""
    access.editor(request)
    book = policy.in_force()
    found = book.get(name)
    if found is None or found is book.policies[-1]:
        raise errors.NoSuchPolicy
    kept = proof.kept(request)
    form = ReasonForm(
        request.POST if request.method == "POST" else None,
        initial={"seen": book.version, "reason": (kept or {}).get("reason", "")},
    )

    def page(code: int = 200) -> HttpResponse:
        context = {
            "form": form,
            "rule": rules.of(found, deciders(), default=False),
            "confirmed": kept is not None,
            "proof": not actors.fresh(Actor.of(request), versions.FRESH),
            "verb": _("Remove the policy"),
            "keep": _("Keep it"),
            "keep_url": reverse("approvals:policies"),
        }
        return render(request, "approvals/policy_remove.html", context, status=code)

    if request.method != "POST":
        return page()
    if not form.is_valid():
        return page(422)

    def act() -> str:
        sent = form.cleaned_data
        made = versions.remove(
            name, seen=sent["seen"], actor=Actor.of(request), reason=sent["reason"]
        )
        return _(
            "Removed, in version {number}. What it was about falls to the policies below."
        ).format(number=made.number)

    return _act(request, act, page, form)


def _act(
    request: HttpRequest,
    act: Callable[[], str],
    page: Callable[[int], HttpResponse],
    form: PolicyForm | ReasonForm,
) -> HttpResponse:
    """Do it and go to the list, or show the page again with what is wrong."""
    try:
        done = act()
    except people.ReauthenticationNeeded:
        return proof.ask(request, _sent(request.POST))
    except errors.BadPolicy as refusal:
        if isinstance(form, PolicyForm):
            form.refuse(refusal.faults)
        return page(refusal.http_status)
    except errors.NoSuchPolicy:
        raise
    except errors.ApprovalsError as refusal:
        form.add_error(None, refusal.shown)
        return page(refusal.http_status)
    proof.forget(request)
    messages.success(request, done)
    return HttpResponseRedirect(reverse("approvals:policies"))
