"""The page of the audit log, as a browser without scripts sends and gets it."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.actors import Actor
from audit import seal, trail
from audit.forms import GROUPS
from audit.models import Entry
from audit.verbs import VERBS
from runs.errors import ReasonMissing
from tests.runs.operations.hands import order
from tests.support import standing as make
from tests.support.people import person
from tests.support.web import html_of, link, text_of

RUN = uuid.UUID(int=9)
SWEEPER = Actor.system("sweeper")


@pytest.fixture
def cy(db):
    return person("Cy")


@pytest.fixture
def as_cy(client, cy):
    client.force_login(cy)
    return client


def record_of(user, verb="run.started", target=("run", str(RUN)), **more) -> Entry:
    return trail.record(verb, actor=Actor.person(user, entry="page"), target=target, **more)


def shown(response) -> list[int]:
    """The ids of the entries on the page, as they stand."""
    parts = html_of(response).split('<tr id="entry-')[1:]
    return [int(part.partition('"')[0]) for part in parts]


def test_the_log_is_read_as_sentences_newest_first(as_cy, cy):
    first = record_of(cy, run_id=RUN, data={"agent": "refund_desk"})
    second = trail.record("run.parked", actor=SWEEPER, target=("run", str(RUN)), reason="No state.")
    response = as_cy.get("/audit/")
    text = text_of(response)
    assert shown(response)[:2] == [second.pk, first.pk]
    assert "Parked The run stopped; an operator must look. No state." in text
    assert "sweeper by itself" in text
    assert "Started The run was accepted and queued." in text
    assert 'agent: "refund_desk"' in text
    assert reverse("runs:run", args=[RUN]) in html_of(response)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("verb=run.parked", ["parked"]),
        ("verb=run", ["parked", "refused", "started"]),
        ("verb=decision", ["voted"]),
        ("actor=Ada", ["refused", "started"]),
        ("actor=ada@example.com", ["refused", "started"]),
        ("actor=nobody@example.com", []),
        ("result=refused", ["refused"]),
        ("result=allowed&verb=run", ["parked", "started"]),
        (f"run={RUN}", ["started"]),
        ("target=q1", ["voted"]),
        ("since=1h", ["voted", "parked", "refused", "started"]),
        ("verb=person.changed", []),
    ],
)
def test_filters_stand_in_the_address(as_cy, query, names):
    ada = person("Ada")
    log = {
        "started": record_of(ada, run_id=RUN),
        "refused": record_of(ada, "run.cancel_refused", allowed=False, target=("run", "2")),
        "parked": trail.record("run.parked", actor=SWEEPER, target=("run", "3")),
        "voted": trail.record("decision.voted", actor=SWEEPER, target=("request", "q1")),
    }
    found = shown(as_cy.get(f"/audit/?{query}"))
    made = {entry.pk: name for name, entry in log.items()}
    assert [made[each] for each in found if each in made] == names


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("verb=effect.duplicate", "No entry for these filters"),
        ("verb=effect.duplicate", "find it under Runs, and open the tab Audit of its run"),
        ("run=nonsense", "This is not the id of a run."),
        ("verb=nonsense", "These filters cannot be used Action: Select a valid choice."),
        ("after=0", "The list ends before this place"),
    ],
)
def test_an_empty_page_says_what_that_means(as_cy, query, words):
    response = as_cy.get(f"/audit/?{query}")
    assert response.status_code == 200
    assert words in text_of(response)


def test_pages_by_key_lead_there_and_back(as_cy, cy, monkeypatch):
    monkeypatch.setattr("audit.views.SIZE", 2)
    made = [record_of(cy, "stop.set", ("stop", "x")).pk for _ in range(5)]
    first = as_cy.get("/audit/?verb=stop.set")
    second = as_cy.get("/audit/" + link(first, r'href="([^"]+)" rel="next"'))
    third = as_cy.get("/audit/" + link(second, r'href="([^"]+)" rel="next"'))
    assert [shown(page) for page in (first, second, third)] == [
        [made[4], made[3]],
        [made[2], made[1]],
        [made[0]],
    ]
    assert not link(third, r'href="([^"]+)" rel="next"')
    assert not link(first, r'href="([^"]+)" rel="prev"')
    back = as_cy.get("/audit/" + link(third, r'href="([^"]+)" rel="prev"'))
    assert shown(back) == [made[2], made[1]]


@pytest.mark.parametrize("query", ["after=x", "after=-1", "after=" + "9" * 40, "before=٣"])
def test_a_place_that_makes_no_sense_is_ignored(as_cy, query):
    assert as_cy.get(f"/audit/?{query}").status_code == 200


def test_the_page_says_how_far_the_log_is_sealed(as_cy, cy):
    assert "No entry is sealed yet." in text_of(as_cy.get("/audit/"))
    sealed = record_of(cy)
    seal.seal()
    record_of(cy)
    text = text_of(as_cy.get("/audit/"))
    assert f"Sealed up to entry {sealed.pk:,}, just now. 1 newer not sealed yet." in text


def test_a_sealer_that_does_not_run_is_noticed(as_cy, cy, monkeypatch):
    monkeypatch.setattr("audit.queries.SEALED_WITHIN", timedelta(0))
    record_of(cy)
    assert "the sealer does not run" in text_of(as_cy.get("/audit/"))


def test_operators_see_what_they_did_themselves(client, cy):
    ada = person("Ada")
    mine, other = record_of(ada), record_of(cy)
    client.force_login(ada)
    for query in ("", "?actor=Cy", f"?actor={cy.email}"):
        response = client.get(f"/audit/{query}")
        assert mine.pk in shown(response)
        assert other.pk not in shown(response)
    assert "Your own actions" in text_of(response)
    assert "Sealed" not in text_of(response)
    assert "Cy" not in text_of(response)  # a token of a form may hold anything


@pytest.mark.parametrize("name", ["Ben", "Dee"])
def test_nobody_else_reads_the_log(client, db, name):
    client.force_login(person(name))
    response = client.get("/audit/")
    assert response.status_code == 403
    assert "audit.view_entry" in text_of(response)


def test_hostile_text_is_shown_as_text(as_cy, cy):
    evil = '<img src=x onerror=alert(1)> <b hx-get="/x">\u202e'
    record_of(cy, target=("thing", evil), reason=evil, data={evil: evil})
    response = as_cy.get("/audit/")
    assert "<img" not in html_of(response)
    assert "<b hx-get" not in html_of(response)
    assert "\u202e" not in text_of(response)


def test_reading_is_not_changing(as_cy, cy):
    record_of(cy)
    before = Entry.objects.count()
    for method in (as_cy.get, as_cy.head):
        method("/audit/")
    assert as_cy.post("/audit/").status_code == 405
    assert Entry.objects.count() == before


def test_a_verb_of_another_version_is_shown_without_its_sentence(as_cy, cy):
    entry = record_of(cy)
    newer = Entry(verb="run.teleported", digest=entry.digest)
    for name in ("actor_kind", "entry", "target_kind", "target_id"):
        setattr(newer, name, getattr(entry, name))
    newer.save(force_insert=True)
    assert "does not know the action" in text_of(as_cy.get("/audit/"))


def test_an_entry_says_what_it_is_about_in_a_word(as_cy, cy):
    facts = {"title": "Refund order 7", "verdict": "approved", "tool": "", "round": 1}
    record_of(cy, "decision.made", ("request", "q1"), data=facts)
    text = text_of(as_cy.get("/audit/?verb=decision.made"))
    assert "The question was answered. Refund order 7 · approved" in text


def test_every_verb_is_offered_as_a_filter():
    assert {name.partition(".")[0] for name in VERBS} == set(GROUPS)


def test_an_entry_leads_to_what_it_is_about(as_cy, cy):
    one = str(uuid.uuid4())
    for kind in ("run", "request", "effect", "operation", "stop", "person"):
        record_of(cy, target=(kind, one))
    html = html_of(as_cy.get("/audit/"))
    for place in ("runs", "runs/operations", "approvals", "ledger"):
        assert f'href="/{place}/{one}/"' in html
    assert 'href="/ledger/stops/"' in html


def test_entries_are_found_by_their_text_and_between_two_moments(client, db):
    rut = person("Rut")
    client.force_login(rut)
    actor = Actor.person(rut, entry="page")
    trail.record("stop.set", actor=actor, target=("stop", "1"), reason="Totals are wrong.")
    trail.record("run.started", actor=actor, target=("run", "2"), data={"order": {"id": "10382"}})
    assert "Totals are wrong." in text_of(client.get("/audit/?q=totals+ARE"))
    assert "order" in text_of(client.get("/audit/?q=10382"))
    assert "Totals are wrong." not in text_of(client.get("/audit/?q=10382"))
    assert "No entry for these filters" in text_of(client.get("/audit/?q=1038"))
    assert "Totals are wrong." in text_of(client.get("/audit/?start=2020-01-01T00:00"))
    assert "No entry for these filters" in text_of(client.get("/audit/?end=2020-01-01T00:00"))
    assert "Write a day and a time" in text_of(client.get("/audit/?start=nonsense"))


def test_an_entry_names_what_it_is_about_as_far_as_its_reader_may_see_it(client, db):
    ada, cy = person("Ada"), person("Cy")
    run = make.run("Refund order 7", by=ada)
    actor = Actor.person(ada, entry="page")
    trail.record("run.started", actor=actor, target=("run", str(run.pk)), run_id=run.pk)
    trail.record("effect.settled", actor=actor, target=("effect", "e1"), run_id=run.pk)
    trail.record("person.changed", actor=actor, target=("person", str(cy.pk)))
    client.force_login(cy)
    text = text_of(client.get("/audit/"))
    assert text.count("Refund order 7") == 2
    assert "of Refund order 7" in text
    assert f"Cy person {cy.pk}" in text
    client.force_login(person("Otto", "operator"))
    assert "Refund order 7" not in text_of(client.get("/audit/"))


def test_an_order_for_many_runs_is_called_by_what_it_did_to_how_many(client, db):
    ada = person("Ada")
    made = order(ada, [make.run("one"), make.run("two")])
    with pytest.raises(ReasonMissing):
        order(ada, [make.run("three")], "resume", reason=" ")
    client.force_login(person("Cy"))
    response = client.get("/audit/")
    assert "Force resume operation resume" in text_of(response)
    assert f"Cancel 2 runs operation {str(made.pk)[-8:]}" in text_of(response)
    assert client.get(link(response, r'href="([^"]+)">Cancel 2 runs')).status_code == 200


def test_what_entries_are_about_costs_the_same_however_many(as_cy, cy):
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            as_cy.get("/audit/")
        return len(asked)

    record_of(cy, target=("run", str(make.run().pk)))
    few = cost()
    for _ in range(5):
        record_of(cy, target=("run", str(make.run().pk)))
    assert cost() == few
