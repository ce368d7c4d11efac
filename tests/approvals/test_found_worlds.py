"""Effects and runs are found by what pages show of them and by nothing else, in random worlds.

Policies mask other fields than when people were asked, and effects have other arguments. What a
search finds is compared with a search in the documents as pages show them.
"""

from __future__ import annotations

import json
import os
import random

import pytest
from django.db import connection
from django.db.models import Func, JSONField

from accounts.models import User
from audit import canonical
from ledger.browse import search, words
from ledger.browse.conditions import jsonpath
from ledger.browse.filters import Filters
from ledger.browse.forms import FilterForm
from ledger.browse.listing import Listing
from ledger.models import Effect
from runs import masking, ports, visible
from runs.listing import finding
from runs.listing.filters import Filters as RunFilters
from runs.listing.search import Leaf, Search
from runs.masking import Cloak
from runs.models import Run
from tests.approvals.conftest import ask, ours, pending
from tests.support.documents import NAMES, VALUES, document, ending, leaves
from tests.support.people import person

pytestmark = pytest.mark.django_db
WORLDS = int(os.environ.get("WORLDS", "6"))
MASKS = (
    *("args", "args.0", "args.pin: treasury", "args.to.pin", "args.lines.0.pay", "args.lines.1"),
    *("args.pay: legal, treasury", "args.to", "payload", "payload.args.pin", "payload.facts.ab"),
    *("args.ключ", "args.order.0", "args.args.pin"),
)
NONE: dict[str, list[object]] = {"endings": [], "texts": [], "numbers": []}
AGENTS = ("refund_desk", "mailing")
PATTERNS = ("*", "refund_*", "m[a-e]iling", "m[!x]ilin?", "other")


def policies(at: random.Random) -> list[dict[str, object]]:
    """Some that hold for some agents, and only where little is paid."""
    return [
        {
            "name": f"p{number}",
            "group": "finance",
            "agent": at.choice(PATTERNS),
            "when": at.choice([[], ["args.pay < 10"]]),
            "masked": at.sample(MASKS, at.randint(0, 2)),
        }
        for number in range(at.randint(0, 2))
    ]


def world(at: random.Random, settings, rule, waiting_run) -> list[Effect]:
    """Runs that asked under policies of then, and have performed what was asked, or other things,
    before the policies changed."""
    made = []
    for _ in range(3):
        rule(masked=at.sample(MASKS, at.randint(0, 2)))
        settings.APPROVALS_POLICIES = policies(at)
        run = waiting_run(agent=at.choice(AGENTS), title=f"Refund {at.choice(VALUES)}")
        Run.objects.filter(pk=run.pk).update(input=document(at))
        args = [document(at) for _ in range(3)]
        asked = [
            pending(ours(args=args[0], facts={"ab": "DE0212"})),
            pending(document(at), "plain"),
        ]
        ask(run, *at.sample(asked, at.randint(0, 2)))
        made += [effect(run, at.choice(args)) for _ in range(2)]
    rule(masked=at.sample(MASKS, at.randint(0, 2)))
    settings.APPROVALS_POLICIES = policies(at)
    return list(Effect.objects.select_related("run").order_by("-created_at", "-uid"))


def effect(run: Run, args: object) -> Effect:
    key = f"k{Effect.objects.count()}"
    return Effect.objects.create(
        run=run,
        tool="payments.refund",
        args=args,
        args_hash=canonical.digest(args),
        idempotency_key=key,
        provider_key=key,
        step="s@t",
        status="sent",
        idempotency="provider",
        fence=1,
        attempts=1,
    )


def typed(at: random.Random, effects: list[Effect]) -> dict[str, str]:
    """A question about some value of some effect, or about one that may be nowhere."""
    one = at.choice(effects)
    args, given = (list(leaves(held)) for held in (one.args, one.run.input))
    place, leaf = at.choice(args or [((), "x")])
    if at.random() < 0.5:
        several = [at.choice([leaf for _, leaf in (*args, *given)] or ["x"]), at.choice(VALUES)]
        return {"q": " ".join(map(str, several[: at.randint(1, 2)]))}
    path = ".".join(name for name in place if not name.isdecimal()) or at.choice(NAMES)
    compared = json.dumps(at.choice([leaf, leaf, at.choice(VALUES)]))
    return {"where": f"{path} {at.choice(['=', '=', '>=', '<='])} {compared}"}


# --- the same in documents as pages show them -----------------------------------------------------


def asked(question: str, *given: str | list[str]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question, given)
        return bool(cursor.fetchone()[0])


def meets(filters: Filters, one: Effect, cloak: Cloak) -> bool:
    args = masking.mask({"args": one.args}, cloak).value
    given = masking.mask(one.run.input, cloak).value
    for condition in filters.conditions:
        path = jsonpath(f"args.{condition.path}", [condition])
        if not asked("SELECT %s::jsonb @? %s::jsonpath", json.dumps(args), path):
            return False
    known = "SELECT ledger_words(%s, %s, %s) && ARRAY(SELECT lower(unnest(%s::text[])))"
    return all(
        asked(known, json.dumps(args), json.dumps(given), one.run.title, ways)
        for ways in words.spellings(filters.text)
        if filters.text
    )


def check(at: random.Random, effects: list[Effect], user: User) -> None:
    cloaks = ports.masks().of_runs({each.run_id for each in effects}, user)
    seen = [one for one in effects if visible.to(user).filter(pk=one.run_id)]
    for _ in range(20):
        question = typed(at, effects)
        form = FilterForm(question, user=user)
        if not form.is_valid():
            continue
        filters = form.filters()
        listing = Listing.of(filters, user)
        want = [one for one in seen if meets(filters, one, cloaks[one.run_id])]
        found = listing.page()
        odd = [(one.args, one.run.input, cloaks[one.run_id]) for one in {*want} ^ {*found}]
        assert found == want, (question, user, odd)
        counts = listing.counts()
        assert counts or not (filters.text or filters.conditions)
        assert not counts or counts["sent"].number == len(want)


@pytest.mark.parametrize("seed", range(WORLDS))
def test_effects_are_found_by_what_pages_show_of_them(
    settings, rule, waiting_run, monkeypatch, seed
):
    at = random.Random(seed)  # noqa: S311 (the same world each time)
    monkeypatch.setattr(search, "MOST", at.choice([0, 1, 5000]))
    effects = world(at, settings, rule, waiting_run)
    for user in (person("Cy"), person("Tess", "auditor", "treasury"), person("Ben", "finance")):
        check(at, effects, user)


@pytest.mark.parametrize("seed", range(WORLDS))
def test_runs_are_found_by_what_pages_show_of_them(settings, rule, waiting_run, seed):
    at = random.Random(seed)  # noqa: S311 (the same world each time)
    world(at, settings, rule, waiting_run)
    runs = list(Run.objects.all())
    held = [each for run in runs for each in leaves(run.input) if each[1] not in (None, "")]
    for user in (person("Cy"), person("Tess", "auditor", "treasury")):
        cloaks = ports.masks().of_runs([run.pk for run in runs], user)
        shown = {run: masking.mask(run.input, cloaks[run.pk]).value for run in runs}
        for place, value in held:
            path = ".".join(name for name in place if not name.isdecimal())
            leaf = Leaf(path=path, value=value if isinstance(value, str) else json.dumps(value))
            found = finding.matching(RunFilters(search=Search(leaves=(leaf,))), user)
            known = "SELECT runs_leaves(%s) && %s::text[]"
            want = [run for run in runs if asked(known, json.dumps(shown[run]), leaf.spellings)]
            assert {*found} == {*want}, (leaf, user, [run.input for run in runs])


@pytest.mark.parametrize("seed", range(4 * WORLDS))
def test_the_database_keeps_from_people_what_pages_keep_from_them(
    settings, rule, waiting_run, seed
):
    at = random.Random(seed)  # noqa: S311 (the same world each time)
    world(at, settings, rule, waiting_run)
    for user in (person("Cy"), person("Tess", "treasury")):
        cloak = ports.masks().cloaked(user)("id", "agent")
        told = Func(cloak, function="to_jsonb", output_field=JSONField())
        kept = ports.masks().of_runs(list(Run.objects.values_list("pk", flat=True)), user)
        for run in Run.objects.annotate(told=told):
            assert {name: {*(each or ())} for name, each in (run.told or NONE).items()} == {
                "endings": set(map(ending, kept[run.pk].paths)),
                "texts": kept[run.pk].texts,
                "numbers": kept[run.pk].numbers,
            }
