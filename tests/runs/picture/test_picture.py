"""A graph's shape: read by workers, kept for each version, shown with where a run stands in it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from django.urls import reverse

from runs.models import Picture, Run
from runs.picture import drawing, keeping, reading, standing
from runs.picture.shape import END, START, Shape
from runs.timeline import journal
from tests.support import graphs, scenes
from tests.support import standing as make
from tests.support.people import person


def keep(agent: str, version: str, *nodes: str) -> None:
    shape = Shape(nodes=nodes, edges=())
    Picture.objects.create(agent=agent, version=version, shape=shape.stored())


# --- reading and keeping --------------------------------------------------------------------------


def test_a_shape_has_the_nodes_and_edges_of_the_compiled_graph() -> None:
    found = reading.of(graphs.router)
    assert set(found.nodes) == {START, "gate", "pay", "skip", END}
    maybe = {(edge.source, edge.target) for edge in found.edges if edge.conditional}
    assert maybe == {("gate", "pay"), ("gate", "skip")}


def test_a_graph_that_a_node_calls_is_within_it() -> None:
    within = dict(reading.of(graphs.nested).below)
    assert set(within) == {"child"}
    assert {"inner", "gate"} <= set(within["child"].nodes)


def test_a_shape_comes_back_from_json_as_it_was() -> None:
    found = reading.of(graphs.nested)
    assert Shape.read(found.stored()) == found
    assert found.size == len(list(found.every()))


@pytest.mark.django_db
def test_a_worker_keeps_the_shape_of_each_version_once(declare) -> None:
    declare("line")
    assert keeping.keep() == 1
    made = Picture.objects.get()
    keeping.keep()
    assert Picture.objects.get().made_at == made.made_at
    declare("line", version="2")
    keeping.keep()
    assert sorted(Picture.objects.values_list("agent", "version")) == [("line", "1"), ("line", "2")]


@pytest.mark.django_db
def test_a_shape_that_has_changed_under_the_same_version_replaces_the_old_one(declare) -> None:
    keep("line", "1", "old")
    declare("line")
    keeping.keep()
    assert "first" in Picture.objects.get().shape["nodes"]


@pytest.mark.django_db
def test_an_agent_that_cannot_be_loaded_keeps_no_worker_from_starting(declare, caplog) -> None:
    declare("line")
    declare("gone", graph=None)
    with caplog.at_level(logging.WARNING):
        assert keeping.keep() == 1
    assert "the graph of agent gone cannot be drawn" in caplog.text


def test_a_web_process_draws_without_the_code_that_reads_graphs() -> None:
    code = (
        "import django, sys; django.setup(); import signalbox.urls;"
        "sys.exit('runs.picture.reading' in sys.modules or 'runs.picture.keeping' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 (our own words)


# --- where a run stands ---------------------------------------------------------------------------


def at(run: Run):
    run = make.again(run)
    told = journal.read(run, person("Ada"), now=run.updated_at)
    found = drawing.of(run, told.at)
    assert found
    return {row.name: row.state.label if row.state else "" for row in found.rows}


def test_a_driven_run_has_ticks_behind_it_and_waits_at_its_question(start, drive) -> None:
    run = start("nested")
    keeping.keep()
    drive(run)
    assert at(run) == {
        "before": "Done",
        "child": "Waits",
        "child / inner": "Done",
        "child / gate": "Waits",
        "after": "",
    }


def test_a_failed_node_is_shown_as_failed(start, drive) -> None:
    def boom(_: graphs.State) -> graphs.State:
        raise ValueError("boom")

    run = start("boom", graph=graphs.chain(before=graphs.plain("before"), boom=boom))
    keeping.keep()
    drive(run)
    assert at(run) == {"before": "Done", "boom": "Failed"}


@pytest.mark.django_db
def test_all_nodes_that_have_run_are_done_and_the_one_that_asks_waits() -> None:
    run = scenes.waiting()
    keep(run.agent, "1.0", "load_order", "assess", "approval_gate", "pay")
    assert at(run) == {
        "load_order": "Done",
        "assess": "Done",
        "approval_gate": "Waits",
        "pay": "",
    }


@pytest.mark.django_db
def test_what_has_run_costs_one_query(django_assert_num_queries) -> None:
    run = make.running()
    make.checkpoint(run, 0, at=make.ago(seconds=9), seen=["a", "__start__"])
    make.checkpoint(run, 1, at=make.ago(seconds=8), seen=["x"], ns="g:1-2")
    with django_assert_num_queries(1):
        found = standing.of(run.pk, {("b",): "info"})
    assert {path: state.label for path, state in found.items()} == {
        ("a",): "Done",
        ("g", "x"): "Done",
        ("b",): "Now",
    }


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def page(client, db):
    client.force_login(person("Ada"))

    def page(run: Run) -> str:
        text: str = client.get(reverse("runs:run", args=[run.pk])).content.decode()
        return text

    return page


def test_a_page_says_that_nobody_has_drawn_the_graph(page) -> None:
    assert "none that knows this agent has" in page(make.run())


def test_a_page_says_which_version_it_shows(page) -> None:
    run = make.run()
    keep(run.agent, "0.9", "old_node")
    text = page(run)
    assert "old_node" in text
    assert "This is version 0.9; the run was started under 1.0." in text
    keep(run.agent, "1.0", "new_node")
    text = page(run)
    assert ("new_node" in text, "This is version" in text) == (True, False)


def test_a_graph_with_too_many_nodes_is_listed_only(page) -> None:
    run = make.run()
    keep(run.agent, "1.0", *(f"n{number}" for number in range(drawing.MOST_NODES + 1)))
    text = page(run)
    assert "too many for a picture" in text
    assert ('class="graph"' in text, "n60" in text) == (False, True)
    assert "The run has reached" not in text
