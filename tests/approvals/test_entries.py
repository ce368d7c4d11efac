"""Every way in by which a request can be decided, times every reason to refuse: all refuse.

A way in is a function that sends one form; a new one is a new line of ENTRIES. A reason is a line
of REFUSALS: what was arranged before, and what is then sent. Whatever the way, nothing is stored
and no run wakes; the log says who was refused wherever somebody is known.

That there is no other way in is tested below: no other code decides, no other address does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts import clock
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions, errors
from approvals.bulk import kinds
from approvals.models import Decision, Delegation, Request, Vote
from approvals.review import pages
from audit.models import Entry
from runs.models import Intervention, Run
from tests.approvals.conftest import approve, ask, due_in, now, pending
from tests.support.people import person
from tests.support.web import link

APPROVED, REJECTED = "approved", "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What somebody sends."""

    request: Request
    by: User | None
    verdict: str = APPROVED
    digest: str = ""
    token: str = ""
    more: dict[str, str] = field(default_factory=dict)
    deputy: bool = False
    """Somebody who stands in for `by` sends it."""

    @property
    def sender(self) -> User | None:
        if self.by is None or not self.deputy:
            return self.by
        found = User.objects.filter(email="sam@example.com").first()
        return found or person("Sam", "approver")

    @property
    def fields(self) -> dict[str, str]:
        sent = {"verdict": self.verdict, "digest": self.digest, "token": self.token}
        return {"comment": "because", "read_all": "on"} | sent | self.more


# --- the ways in: each returns whether the verdict was taken --------------------------------------


def page(form: Form) -> bool:
    return _post(form)


def fragment(form: Form) -> bool:
    return _post(form, {"HX-Request": "true"})


def call(form: Form) -> bool:
    nobody = Actor(kind="user", user_id=None, label="Somebody not signed in", entry="page")
    try:
        decisions.decide(
            form.request.pk,
            actor=Actor.person(form.by, entry="page") if form.by else nobody,
            verdict=form.verdict,
            comment="because",
            seen_digest=form.digest,
            token=form.token,
        )
    except (errors.ApprovalsError, accounts_errors.AccountsError):
        return False
    return True


def bulk(form: Form) -> bool:
    """One box of the page on which many are decided."""
    paths = {APPROVED: "approvals:bulk_approve", REJECTED: "approvals:bulk_reject"}
    path = reverse(paths[form.verdict])
    sent = {
        "item": [f"{form.request.pk}.{form.digest}.{form.token}"],
        "kind": kinds.of(form.request, form.request.tool).token,
        "batch": "b",
        "comment": "because",
    }
    response = _signed_in(form.sender).post(path, sent | form.more)
    counted = ("tone-ok", "tone-neutral", "tone-human")
    told = link(response, r'<td><span class="badge ([\w-]+)"')
    return response.status_code == 200 and told in counted


def stand_in(form: Form) -> bool:
    """The page, in the name of somebody absent."""
    return page(replace(form, deputy=True, by=_lent(form)))


def stand_in_of_many(form: Form) -> bool:
    return bulk(replace(form, deputy=True, by=_lent(form)))


def _lent(form: Form) -> User | None:
    """Who is absent, with Sam in their place."""
    if form.by is not None:
        sam = replace(form, deputy=True).sender
        assert sam is not None
        stands_in(form.by, sam, until=timedelta(days=1))
    return form.by


def _post(form: Form, headers: dict[str, str] | None = None) -> bool:
    client = _signed_in(form.sender)
    response = client.post(address(form.request), form.fields, headers=headers)
    taken: bool = response.status_code == 302 and response["Location"] == address(form.request)
    return taken


def _signed_in(user: User | None, **options: Any) -> Client:
    client = Client(**options)
    if user is not None:
        client.force_login(user)
    return client


def address(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


ENTRIES: dict[str, Callable[[Form], bool]] = {
    "page": page,
    "fragment": fragment,
    "call": call,
    "bulk": bulk,
    "stand-in": stand_in,
    "stand-in of many": stand_in_of_many,
}
DECIDING = {"approvals/review/pages.py", "approvals/bulk/acts.py"}
"""The files that call `decisions.decide` for people who click."""
MADE_UP = {"signalbox/drills/clerk.py", "signalbox/seed/originals.py"}
"""Those that play people, by the same call: on scratch services, and in a database without runs."""


# --- the reasons to refuse ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An open request of Ada's run, which Ben may decide."""

    request: Request
    ada: User
    ben: User
    rule: Callable[..., None]
    asked: Callable[[], Request]

    @property
    def form(self) -> Form:
        return Form(
            request=self.request, by=self.ben, digest=self.request.digest, token=uuid4().hex
        )


def anonymous(scene: Scene) -> Form:
    return replace(scene.form, by=None)


def without_any_right(scene: Scene) -> Form:
    return replace(scene.form, by=person("Dee"))


def without_the_right_to_decide(scene: Scene) -> Form:
    """An auditor of finance, who sees every request."""
    return replace(scene.form, by=person("Cy", "finance"))


def of_another_group(scene: Scene) -> Form:
    return replace(scene.form, by=person("Fay", "approver"))


def administrator_outside_the_group(scene: Scene) -> Form:
    return replace(scene.form, by=person("Rut"))


def superuser_outside_the_group(scene: Scene) -> Form:
    return replace(scene.form, by=person("Sue", is_superuser=True))


def requester(scene: Scene) -> Form:
    return replace(scene.form, by=scene.ada)


def superuser_who_is_the_requester(scene: Scene) -> Form:
    User.objects.filter(pk=scene.ada.pk).update(is_superuser=True)
    return replace(scene.form, by=scene.ada)


def had_a_hand(scene: Scene) -> Form:
    Intervention.objects.create(
        run=scene.request.run, kind="force_resume", user=scene.ben, label="Ben", reason="stuck"
    )
    return scene.form


def voted_before(scene: Scene) -> Form:
    scene.rule(quorum=2)
    approve(scene.request, scene.ben)
    return scene.form


def left(scene: Scene) -> Form:
    User.objects.filter(pk=scene.ben.pk).update(is_active=False)
    return scene.form


def left_the_group(scene: Scene) -> Form:
    scene.ben.groups.remove(Group.objects.get(name="finance"))
    return scene.form


def stands_in(absent: User, stand_in: User, *, until: timedelta) -> None:
    at = clock.now()
    Delegation.objects.create(
        absent=absent,
        stand_in=stand_in,
        agents=["*"],
        starts_at=at - timedelta(days=1),
        ends_at=at + until,
        reason="Holiday",
        made_by=absent,
    )


def stand_in_of_the_requester(scene: Scene) -> Form:
    stands_in(scene.ada, scene.ben, until=timedelta(days=1))
    return scene.form


def stand_in_after_the_time(scene: Scene) -> Form:
    fay = person("Fay", "approver")
    stands_in(scene.ben, fay, until=-timedelta(seconds=1))
    return replace(scene.form, by=fay)


def stand_in_of_somebody_who_left(scene: Scene) -> Form:
    fay = person("Fay", "approver")
    stands_in(scene.ben, fay, until=timedelta(days=1))
    User.objects.filter(pk=scene.ben.pk).update(is_active=False)
    return replace(scene.form, by=fay)


def no_recent_sign_in(scene: Scene) -> Form:
    scene.rule(reauthenticate_within=timedelta(minutes=5))
    return scene.form


def decided_by_somebody_else(scene: Scene) -> Form:
    approve(scene.request, person("Eve", "finance", "approver"))
    return replace(scene.form, verdict=REJECTED)


def withdrawn(scene: Scene) -> Form:
    Request.objects.filter(pk=scene.request.pk).update(status="withdrawn", closed_at=clock.now())
    return scene.form


def cancel_asked(scene: Scene) -> Form:
    Run.objects.filter(pk=scene.request.run_id).update(cancel_asked_at=clock.now())
    return scene.form


def run_ended(scene: Scene) -> Form:
    Run.objects.filter(pk=scene.request.run_id).update(status="failed", ended_at=clock.now())
    return scene.form


def deadline_passed(scene: Scene) -> Form:
    due_in(scene.request, timedelta(0))
    return scene.form


def stale_digest(scene: Scene) -> Form:
    return replace(scene.form, digest="0" * 64)


def no_digest(scene: Scene) -> Form:
    return replace(scene.form, digest="")


def no_token(scene: Scene) -> Form:
    return replace(scene.form, token="")


def token_too_long(scene: Scene) -> Form:
    return replace(scene.form, token="t" * 65)


def token_of_another_request(scene: Scene) -> Form:
    other = Request.objects.exclude(pk=scene.request.pk).get()
    approve(other, scene.ben, token="used")
    return replace(scene.form, token="used")


def no_verdict(scene: Scene) -> Form:
    return replace(scene.form, verdict="")


def unknown_verdict(scene: Scene) -> Form:
    return replace(scene.form, verdict="maybe")


def verdict_of_the_clock(scene: Scene) -> Form:
    return replace(scene.form, verdict="expired")


VERDICTS = [no_verdict, unknown_verdict, verdict_of_the_clock]
INCOMPLETE = [no_digest, no_token, token_too_long, *VERDICTS]
"""No page sends these. A form of the web comes back with a word at the field."""
REFUSALS = [
    anonymous,
    without_any_right,
    without_the_right_to_decide,
    of_another_group,
    administrator_outside_the_group,
    superuser_outside_the_group,
    requester,
    superuser_who_is_the_requester,
    had_a_hand,
    voted_before,
    left,
    left_the_group,
    stand_in_of_the_requester,
    stand_in_after_the_time,
    stand_in_of_somebody_who_left,
    no_recent_sign_in,
    decided_by_somebody_else,
    withdrawn,
    cancel_asked,
    run_ended,
    deadline_passed,
    stale_digest,
    token_of_another_request,
    *INCOMPLETE,
]


@pytest.fixture
def scene(ada, ben, asked, rule) -> Scene:
    rule(risk="low", bulk=True)  # or many at once would be refused for that alone
    other = asked()
    request = asked()
    assert other.run_id != request.run_id
    return Scene(request=request, ada=ada, ben=ben, rule=rule, asked=asked)


def stored(request: Request) -> list[Any]:
    """All that a verdict could change."""
    run = Run.objects.get(pk=request.run_id)
    return [
        now(request).status,
        list(Vote.objects.order_by("pk").values()),
        list(Decision.objects.order_by("pk").values()),
        (run.wakes, run.status, run.cancel_asked_at, run.read_only),
    ]


CASES = [
    pytest.param(entry, reason, id=f"{entry}-{reason.__name__}")
    for entry in ENTRIES
    for reason in REFUSALS
    if not (reason in VERDICTS and ("bulk" in entry or "many" in entry))
    and not (reason is token_of_another_request and "stand-in" in entry)
]
"""The address says what the verdict of many is; no form of theirs does. And a token is one
person's: that Ben has used one says nothing about Sam."""


@pytest.mark.parametrize(("entry", "reason"), CASES)
def test_no_way_in_takes_a_verdict_that_must_be_refused(scene, entry, reason):
    form = reason(scene)
    before = stored(scene.request)
    assert ENTRIES[entry](form) is False
    sender = replace(form, deputy="stand-in" in entry).sender
    after = stored(scene.request)
    if reason is deadline_passed:
        assert after[0] == "expired"  # which is what a late verdict finds out
        assert not Decision.objects.filter(decided_by__isnull=False).exists()
    else:
        assert after == before
    refused = Entry.objects.filter(verb="decision.refused", target_id=str(scene.request.pk))
    if entry != "call" and (sender is None or not now(sender).is_active):
        assert not refused.exists()  # nobody is known
        return
    (told,) = refused
    assert (told.allowed, told.actor_id) == (False, str(sender.pk) if sender else "")
    assert told.entry == ("bulk" if "bulk" in entry or "many" in entry else "page")


# --- what only the web can be sent ----------------------------------------------------------------


def test_the_form_that_all_others_spoil_is_taken(scene):
    """Or nothing above would be refused for its own reason."""
    for send in ENTRIES.values():
        other = scene.asked()
        form = replace(scene.form, request=other, digest=other.digest)
        assert send(form) is True
        assert now(other).status == "approved"


def test_who_stands_in_for_ben_in_time_is_taken(scene):
    fay = person("Fay", "approver")
    stands_in(scene.ben, fay, until=timedelta(days=1))
    assert ENTRIES["page"](replace(scene.form, by=fay)) is True


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "fragment"])
def test_a_form_that_does_not_come_from_the_page_decides_nothing(scene, headers):
    before = stored(scene.request)
    client = _signed_in(scene.ben, enforce_csrf_checks=True)
    response = client.post(address(scene.request), scene.form.fields, headers=headers)
    assert response.status_code == 403
    assert stored(scene.request) == before
    told = Entry.objects.get(verb="decision.refused", target_id=str(scene.request.pk))
    assert (told.actor_id, told.data["refusal"]) == (str(scene.ben.pk), "FormForged")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_many_in_a_form_that_does_not_come_from_the_page_decide_nothing(scene, verdict):
    before = stored(scene.request)
    client = _signed_in(scene.ben, enforce_csrf_checks=True)
    item = f"{scene.request.pk}.{scene.form.digest}.{scene.form.token}"
    sent = {"item": [item], "batch": "b", "comment": "because"}
    response = client.post(reverse(f"approvals:bulk_{verdict}"), sent)
    assert response.status_code == 403
    assert stored(scene.request) == before
    told = Entry.objects.get(verb="decision.refused")
    assert (told.actor_id, told.entry, told.data["refusal"]) == (
        str(scene.ben.pk),
        "bulk",
        "FormForged",
    )


def test_nobody_is_accused_of_a_form_from_another_site(scene):
    """It comes without the session."""
    client = _signed_in(None, enforce_csrf_checks=True)
    client.post(address(scene.request), scene.form.fields)
    assert not Entry.objects.filter(verb="decision.refused").exists()


def test_what_was_wrong_with_a_form_is_kept_and_not_what_was_typed(scene):
    client = _signed_in(scene.ben)
    typed = {"comment": "my secret " * 2000, "choice": "approve"}
    sent = scene.form.fields | {"verdict": "maybe"} | typed
    assert client.post(address(scene.request), sent).status_code == 422
    told = Entry.objects.get(verb="decision.refused", target_id=str(scene.request.pk))
    assert told.data["refusal"] == "FormIncomplete"
    assert told.data["wrong"] == {"verdict": ["invalid_choice"], "comment": ["max_length"]}
    assert "secret" not in str([told.reason, told.data])


def test_a_value_that_does_not_fit_is_refused_without_being_kept(scene, waiting_run):
    schema = {"type": "object", "properties": {"iban": {"contains": {"const": 1}}}}
    request = ask(waiting_run(), replace(pending("Which account?"), schema=schema))
    with pytest.raises(errors.BadValue, match="DE89"):
        decisions.decide(
            request.pk,
            actor=Actor.person(scene.ben, entry="page"),
            verdict=APPROVED,
            value={"iban": ["DE89"]},
            seen_digest=request.digest,
            token="t",
        )
    told = Entry.objects.get(verb="decision.refused", target_id=str(request.pk))
    assert told.reason == "The answer does not fit at: iban."
    assert "DE89" not in str(told.data)


LOOKS = [
    ("get", {}, "/"),
    ("get", {"HX-Request": "true"}, "/"),
    ("head", {}, "/approvals/"),
    ("options", {}, "/approvals/"),
    ("get", {"Sec-Purpose": "prefetch"}, "/approvals/"),
]


@pytest.mark.parametrize(("method", "headers", "under"), LOOKS)
@pytest.mark.parametrize("signed_in", [True, False])
def test_no_look_at_any_address_decides_anything(scene, signed_in, method, headers, under):
    client = _signed_in(scene.ben if signed_in else None, raise_request_exception=False)
    before = stored(scene.request)
    for path in addresses(scene):
        if path.startswith(under):
            answer = getattr(client, method)(path, query_params=scene.form.fields, headers=headers)
            if answer.streaming:
                b"".join(answer.streaming_content)  # whose end closes the file behind it
    assert stored(scene.request) == before
    assert ENTRIES["page"](scene.form) is True  # and the form has lost nothing by it


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_no_other_method_decides(scene, method):
    before = stored(scene.request)
    sent = getattr(_signed_in(scene.ben), method)(address(scene.request), scene.form.fields)
    assert sent.status_code == 405
    assert stored(scene.request) == before


# --- what is ignored ------------------------------------------------------------------------------

IGNORED = {
    "decided_by": "1",
    "decider": "Eve",
    "user": "1",
    "actor": "Eve",
    "by": "Eve",
    "goto": "pay",
    "update": '{"paid": true}',
    "resume": "yes",
    "answer": '{"decision": "approved"}',
    "status": "approved",
    "group": "approver",
}


@pytest.mark.parametrize("entry", ["page", "fragment"])
@pytest.mark.parametrize("sent", ["body", "address"])
def test_who_decides_and_where_the_run_goes_is_not_for_the_client_to_say(scene, entry, sent):
    eve = person("Eve", "finance", "approver")
    more = IGNORED | {name: str(eve.pk) for name in ("decided_by", "user")}
    said = {name: value for name, value in more.items() if name not in pages.COMMANDS}
    form = replace(scene.form, verdict=REJECTED, more=said if sent == "body" else {})
    client = _signed_in(scene.ben)
    path = address(scene.request) + (f"?{urlencode(more)}" if sent == "address" else "")
    client.post(path, form.fields, headers={"HX-Request": "true"} if entry == "fragment" else {})
    decision = Decision.objects.get()
    assert (decision.decided_by, decision.decider) == (scene.ben, "Ben")
    assert decision.answer["by"] == "Ben"
    assert decision.answer["decision"] == decision.verdict == now(scene.request).status == REJECTED
    assert not {"goto", "update", "resume"} & set(decision.answer)
    (told,) = Entry.objects.filter(verb="decision.made")
    assert told.actor_id == str(scene.ben.pk)


@pytest.mark.parametrize("name", ["command", "goto", "graph", "resume", "update"])
def test_what_would_be_a_command_is_refused_with_the_whole_form(scene, name):
    before = stored(scene.request)
    sent = {name: IGNORED.get(name, "x")}
    assert ENTRIES["page"](replace(scene.form, more=sent)) is False
    assert stored(scene.request) == before
    told = Entry.objects.get(verb="decision.refused", target_id=str(scene.request.pk))
    assert told.data["wrong"] == [name]


# --- that there is no other way in ----------------------------------------------------------------


def test_no_other_code_decides() -> None:
    """Who adds a call adds a line to ENTRIES, and this test says so."""
    assert mentions("decisions.decide(") == DECIDING | MADE_UP
    assert mentions("Vote.objects.create(", "Vote(") == {"approvals/votes.py"}
    rows = {"approvals/votes.py", "approvals/deadlines.py"}
    assert mentions("Decision.objects.create(", "Decision(") == rows
    assert mentions("Command(") == {"runs/driver.py", "runs/fitness.py"}  # the latter tries it out


def test_nothing_that_no_person_clicks_decides() -> None:
    """No command for people, no task, no admin site: who wants one to decide reads this first."""
    root = Path(django_settings.BASE_DIR)
    deciding = {str(file.relative_to(root)) for file in product() if _imports_decide(file)}
    assert deciding == DECIDING | MADE_UP
    assert not [name for name in deciding if "management" in name or name.endswith("tasks.py")]
    assert "django.contrib.admin" not in django_settings.INSTALLED_APPS
    assert not [route for route in _routes(get_resolver().url_patterns) if "admin" in route]


def _imports_decide(file: Path) -> bool:
    """Whether a file names `decide` of `approvals.decisions`, by whatever name it imports it."""
    tree = ast.parse(file.read_text())
    module_names, direct = set(), False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "approvals":
            module_names |= {a.asname or a.name for a in node.names if a.name == "decisions"}
        if isinstance(node, ast.ImportFrom) and node.module == "approvals.decisions":
            direct = direct or any(a.name in ("decide", "_decide", "*") for a in node.names)
        if isinstance(node, ast.Import):
            direct = direct or any(a.name == "approvals.decisions" for a in node.names)
    return direct or any(
        isinstance(node, ast.Attribute)
        and node.attr in ("decide", "_decide")
        and isinstance(node.value, ast.Name)
        and node.value.id in module_names
        for node in ast.walk(tree)
    )


def product() -> Iterator[Path]:
    for app in ("signalbox", "agents", "approvals", "ledger", "runs", "audit", "accounts"):
        yield from Path(django_settings.BASE_DIR, app).rglob("*.py")


def mentions(*words: str) -> set[str]:
    """The product's files in which one of these calls stands."""
    root = Path(django_settings.BASE_DIR)
    pattern = re.compile("|".join(rf"(?<![\w.]){re.escape(word)}" for word in words))
    return {
        str(file.relative_to(root))
        for file in product()
        if pattern.search(re.sub(r"(?m)^class .*", "", file.read_text()))
    }


def test_no_other_address_decides(scene):
    client = _signed_in(scene.ben, raise_request_exception=False)
    before = stored(scene.request)
    tried = [path for path in addresses(scene) if path != address(scene.request)]
    for path in tried:
        client.force_login(scene.ben)  # some of them sign people out
        client.post(path, scene.form.fields)
        client.post(path, scene.form.fields, headers={"HX-Request": "true"})
    assert len(tried) > 20
    assert stored(scene.request) == before


def addresses(scene: Scene) -> list[str]:
    """Every address of the project, filled in with the ids of the request and its run."""
    given = {
        "request_id": scene.request.pk,
        "run_id": scene.request.run_id,
        "decision_id": scene.request.pk,
    }
    found = []
    for route in _routes(get_resolver().url_patterns):
        filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: str(given.get(name[1], "1")), route)
        if not re.search(r"[(\\^$]", filled):
            found.append(f"/{filled}")
    assert address(scene.request) in found
    return found


def _routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route
