"""The pages of policies: what is in force, how it came about, how it is changed, what it would do.

Who reads everything reads the policies, too. Changing them needs a permission, a reason and a
recent proof of identity; GET shows and POST acts, without a script.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import actors, groups, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from approvals import dryrun, errors, policy
from approvals.electorate import deciders
from approvals.eligibility import Person
from approvals.models import PolicyVersion
from approvals.policies import book as books
from approvals.policies import lengths, versions
from approvals.policies.form import PolicyForm, ReasonForm
from approvals.policies.rule import Policy
from approvals.policy import Book, Excluded, Gate, OnDeadline, Risk
from approvals.policy_forms import DryRunForm
from runs import registry, web

SEE_REQUESTS = "approvals.view_request"
SEE = "audit.view_entry"
PAGE = 50
FIELDSETS = (
    ("What it is about", ("name", "place", "agent", "node", "tool", "when")),
    ("Who decides", ("group", "groups", "people", "quorum", "four_eyes", "excluded")),
    ("How sure it must be", ("risk", "reauthenticate_within", "passkey")),
    (
        "What must be said",
        ("comment_required_to_reject", "comment_required_to_approve", "reject_reasons"),
    ),
    (
        "Until when",
        ("deadline", "deadline_at", "hours", "reminders", "escalation", "on_deadline"),
    ),
    ("What is shown, and what may be changed", ("summary", "key_facts", "masked", "editable")),
    ("For agents that ask plainly", ("answers",)),
    ("This change", ("reason",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One policy as the pages show it."""

    policy: Policy
    default: bool
    gate: Gate
    lapse: str
    able: int
    """How many people may decide by it."""
    besides: tuple[tuple[str, str], ...]
    """What else it says, as heading and words."""

    @property
    def possible(self) -> bool:
        """Enough of them, even if one of them is the requester."""
        return self.able >= self.policy.quorum


def _reader(request: HttpRequest) -> User:
    """Whoever may read the policies. Raises NotPermitted."""
    user = web.reader(request, SEE_REQUESTS)
    if not user.has_perm(SEE):
        raise people.NotPermitted(
            SEE,
            label="see the policies in force",
            groups=groups.right(SEE).groups,
            who=user.label,
        )
    return user


def _editor(request: HttpRequest) -> User:
    return web.reader(request, versions.PERMISSION)


# --- reading --------------------------------------------------------------------------------------


@require_safe
def policies(request: HttpRequest) -> HttpResponse:
    """What is in force, in the order in which it is tried."""
    user = _reader(request)
    book = policy.in_force()
    newest = versions.newest_first().first()
    context = {
        "book": book,
        "newest": newest,
        "rules": _rules(book),
        "may_change": user.has_perm(versions.PERMISSION),
        "drifted": newest is not None and _drifted(book),
    }
    return render(request, "approvals/policies.html", context)


def _rules(book: Book) -> list[Rule]:
    able = deciders()
    return [_rule(each, able, default=each is book.policies[-1]) for each in book.policies]


def _rule(one: Policy, able: tuple[Person, ...], *, default: bool) -> Rule:
    gate = policy.together(one)
    return Rule(
        policy=one,
        default=default,
        gate=gate,
        lapse=OnDeadline(one.on_deadline).label,
        able=sum(
            all(who.admits(person.groups, person.address) for who in gate.who) for person in able
        ),
        besides=tuple(_besides(one)),
    )


def _besides(one: Policy) -> list[tuple[str, str]]:
    """What a policy says that has no column of its own."""
    said: list[tuple[str, str]] = []
    if one.risk != Risk.NORMAL:
        said.append(("Risk", Risk(one.risk).label))
    if one.reauthenticate_within:
        what = "Passkey" if one.passkey else "Proof of identity"
        said.append((what, f"not older than {lengths.written(one.reauthenticate_within)}"))
    needs = [
        word
        for word, needed in (
            ("rejection", one.comment_required_to_reject),
            ("approval", one.comment_required_to_approve),
        )
        if needed
    ]
    if needs:
        said.append(("Comment", f"needed for {' and '.join(needs)}"))
    said += [
        (label, ", ".join(map(str, parts)))
        for label, parts in (
            ("Reasons to reject", one.reject_reasons),
            ("Reminders", [f"{lengths.written(each)} before" for each in one.reminders]),
            (
                "Escalation",
                [f"{each.group} after {lengths.written(each.after)}" for each in one.escalation],
            ),
            ("May be changed", one.editable),
            ("Read first", one.key_facts),
            ("Masked", one.masked),
        )
        if parts
    ]
    excluded = [Excluded(each).label for each in one.excluded] if one.four_eyes else []
    if set(one.excluded) != set(Excluded.values) or not one.four_eyes:
        said.append(("May not approve", ", ".join(excluded) or "nobody is excluded"))
    return said


def _drifted(book: Book) -> bool:
    """Whether the settings say something else than the first version that was kept of them."""
    first = PolicyVersion.objects.order_by("number").first()
    return first is not None and books.of(first).policies != books.seed().policies


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """Every version, newest first."""
    _reader(request)
    before = request.GET.get("before", "")
    found = versions.newest_first().select_related("by")
    if before.isdecimal():
        found = found.filter(number__lt=int(before[:9]))
    shown = list(found[: PAGE + 1])
    context = {
        "versions": shown[:PAGE],
        "older": f"?before={shown[PAGE - 1].number}" if len(shown) > PAGE else "",
        "first": not before,
    }
    return render(request, "approvals/policy_history.html", context)


@require_safe
def version(request: HttpRequest, number: int) -> HttpResponse:
    """One version: what it changed, and all of it."""
    _reader(request)
    found = PolicyVersion.objects.filter(number=number).first()
    if found is None:
        raise errors.NoSuchPolicy("There is no such version. Look for it in the history.")
    former = versions.newest_first().filter(number__lt=number).first()
    newer = PolicyVersion.objects.filter(number__gt=number).order_by("number").first()
    context = {
        "version": found,
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


# --- changing -------------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, name: str = "") -> HttpResponse:
    """Change the policy of this name, or add one."""
    _editor(request)
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
        return f"Saved as version {made.number}. It holds from now on, for open requests as well."

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
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Take a policy out."""
    _editor(request)
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
            "rule": _rule(found, deciders(), default=False),
            "confirmed": kept is not None,
            "proof": not actors.fresh(Actor.of(request), versions.FRESH),
            "verb": "Remove the policy",
            "keep": "Keep it",
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
        return f"Removed, in version {made.number}. What it was about falls to the policies below."

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
        typed = {
            key: ",".join(request.POST.getlist(key))
            for key in request.POST
            if key != "csrfmiddlewaretoken"
        }
        return proof.ask(request, typed)
    except errors.BadPolicy as refusal:
        if isinstance(form, PolicyForm):
            form.refuse(refusal.faults)
        return page(refusal.http_status)
    except errors.NoSuchPolicy:
        raise
    except errors.ApprovalsError as refusal:
        form.add_error(None, str(refusal))
        return page(refusal.http_status)
    proof.forget(request)
    messages.success(request, done)
    return HttpResponseRedirect(reverse("approvals:policies"))


# --- trying ---------------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def try_out(request: HttpRequest) -> HttpResponse:
    """Which policy an action would meet, why, who could decide it, and until when.

    Asked by POST although nothing changes, so that arguments stay out of addresses and their logs.
    """
    _reader(request)
    form = DryRunForm(request.POST if request.method == "POST" else None)
    runs: list[dryrun.DryRun] = []
    if form.is_bound and form.is_valid():
        runs = [
            dryrun.of(subject, requester=form.cleaned_data["requester"])
            for subject in form.subjects()
        ]
    context = {"form": form, "runs": runs, "agents": sorted(registry.declarations())}
    return render(request, "approvals/policy_try.html", context, status=422 if form.errors else 200)
