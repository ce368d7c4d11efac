"""The list of checkpoints, one of them, what differs between two, and their files."""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from runs import chain, checkpoints
from runs.models import Run
from runs.trace import listing
from tests.support import standing as make
from tests.support.people import person

SECRET = "hunter2-is-long"


class State(TypedDict, total=False):
    log: Annotated[list[object], operator.add]
    email: str
    password: str
    big: str


@dataclass
class Box:
    inner: object


def saved(run: Run, graph: Any, given: Any = None) -> None:
    bound = graph.copy(update={"checkpointer": PostgresSaver(checkpoints.pool())})
    config = {
        "configurable": {"thread_id": str(run.pk)},
        "metadata": {"run_id": str(run.pk), "fence": 7},
    }
    bound.invoke(given or {"log": []}, config, durability="sync")


def line(**nodes: Any) -> Any:
    builder = StateGraph(State)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile()


def writes(**values: object) -> Any:
    return lambda _: values


@pytest.fixture
def run(transactional_db) -> Run:
    return make.running()


@pytest.fixture
def ada(client, run):
    client.force_login(person("Ada"))
    return client


@pytest.fixture
def cy(client, run):
    """May look at every run, and behind no mask."""
    client.force_login(person("Cy"))
    return client


def url(run: Run, name: str, *more: str) -> str:
    return str(reverse(f"runs:{name}", args=[run.pk, *more]))


def text(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.content[:500]
    return str(b"".join(response).decode())


def tip(run: Run) -> str:
    return chain.tips([run.pk])[run.pk].id


def chain_of(run: Run, count: int) -> list[str]:
    return [
        make.checkpoint(
            run,
            number,
            at=make.ago(minutes=60 - number / 100),
            updated=[f"branch:to:n{number}"],
            values={"n": number, "email": f"jo{number}@example.com"},
        )
        for number in range(count)
    ]


# --- the list -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_pages_go_to_older_and_back_to_newer_ones() -> None:
    run = make.run()
    ids = chain_of(run, 25)
    newest = listing.page(run.pk, limit=10)
    assert [row.checkpoint.id for row in newest.rows] == ids[:-11:-1]
    assert (newest.newer, newest.older, newest.total) == ("", ids[15], 25)
    older = listing.page(run.pk, before=newest.older, limit=10)
    assert [row.checkpoint.id for row in older.rows] == ids[14:4:-1]
    back = listing.page(run.pk, after=older.newer, limit=10)
    assert [row.checkpoint.id for row in back.rows] == [row.checkpoint.id for row in newest.rows]
    assert back.newer == ""
    last = listing.page(run.pk, before=older.older, limit=10)
    assert (len(last.rows), last.older, last.newer) == (5, "", ids[4])


def test_a_row_says_what_ran_what_is_next_who_wrote_it_and_how_big_it_is(run) -> None:
    saved(run, line(load=writes(big="x" * 5000), send=writes(log=["sent"])))
    done, sent, loaded, given = listing.page(run.pk).rows
    assert [row.ran for row in (done, sent, loaded, given)] == ["send", "load", "input", ""]
    assert (sent.checkpoint.nodes, sent.checkpoint.fence) == ("send", 7)
    assert sent.size > 5000 > loaded.size > 0


def test_the_edges_of_a_page_know_their_neighbours(run) -> None:
    saved(run, line(a=writes(log=["a"]), b=writes(log=["b"]), c=writes(log=["c"])))
    page = listing.page(run.pk, limit=2)
    assert [row.ran for row in page.rows] == ["c", "b"]
    assert [row.ran for row in listing.page(run.pk, before=page.older, limit=2).rows] == [
        "a",
        "input",
    ]


def test_checkpoints_of_subgraphs_are_in_the_list_and_lead_to_their_state(ada, run) -> None:
    child = line(x=writes(log=["x"]), gate=lambda _: {"log": [interrupt("sure?")]})
    saved(run, line(child=child))
    shown = text(ada, url(run, "checkpoints"))
    below = [row.checkpoint for row in listing.page(run.pk).rows if row.checkpoint.ns]
    assert len(below) == 3
    for each in below:
        assert url(run, "checkpoint", each.id) in shown
    assert "of child" in text(ada, url(run, "checkpoint", below[0].id))


@pytest.mark.django_db
def test_a_long_list_loads_no_state_and_asks_no_more_often_than_a_shorter_one(client) -> None:
    client.force_login(person("Ada"))
    asked = []
    for count in (150, 300):
        run = make.running()
        chain_of(run, count)
        with CaptureQueriesContext(
            connection,
        ) as found:
            text(client, url(run, "checkpoints"))
        asked.append(len(found))
        assert not any("jo1@" in each["sql"] for each in found)
    assert asked[0] == asked[1]


def test_two_that_are_picked_are_compared(ada, run) -> None:
    ids = chain_of(run, 5)
    response = ada.get(url(run, "checkpoints"), {"from": ids[1], "to": ids[4]})
    assert response.status_code == 302
    shown = text(ada, response.url)
    assert "Changed since checkpoint 0" in shown
    assert "<del>1</del> → <ins>4</ins>" in shown
    assert "Pick two" in text(ada, url(run, "checkpoints") + f"?from={ids[1]}")


# --- one checkpoint -------------------------------------------------------------------------------


def test_a_checkpoint_is_compared_with_the_one_before_unless_another_is_chosen(ada, run) -> None:
    ids = chain_of(run, 5)
    assert "<del>2</del> → <ins>3</ins>" in text(ada, url(run, "checkpoint", ids[3]))
    against = text(ada, url(run, "checkpoint", ids[3]) + f"?against={ids[0]}")
    assert "<del>0</del> → <ins>3</ins>" in against
    assert ada.get(url(run, "checkpoint", ids[3]) + "?against=1f0").status_code == 404


def test_a_checkpoint_of_another_run_is_no_other_side(ada, run) -> None:
    other = make.running()
    for each in (run, other):
        saved(each, line(a=writes(log=["a"])))
    mine, theirs = tip(run), tip(other)
    assert ada.get(url(run, "checkpoint", mine) + f"?against={theirs}").status_code == 404
    assert ada.get(url(run, "checkpoint_file", theirs)).status_code == 404


def test_previous_and_next_are_marked_as_such(ada, run) -> None:
    ids = chain_of(run, 3)
    shown = text(ada, url(run, "checkpoint", ids[1]))
    assert f'rel="prev" href="{url(run, "checkpoint", ids[0])}"' in shown
    assert f'rel="next" href="{url(run, "checkpoint", ids[2])}"' in shown


def test_a_parent_that_was_erased_is_said_to_be_gone(ada, run) -> None:
    ids = chain_of(run, 2)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM checkpoints WHERE checkpoint_id = %s", [ids[0]])
    assert "is not kept any more" in text(ada, url(run, "checkpoint", ids[1]))


def test_what_tasks_wrote_is_shown_by_node(ada, run) -> None:
    saved(run, line(load=writes(log=["loaded"]), gate=lambda _: {"log": [interrupt("sure?")]}))
    shown = text(ada, url(run, "checkpoint", tip(run)))
    assert "Written on it so far" in shown
    assert "gate" in shown
    assert "sure?" in shown


def test_odd_values_are_shown_honestly(ada, run) -> None:
    odd = [b"\x00\xff", float("nan"), Box(inner=1), 2**60]
    saved(run, line(load=writes(log=odd)))
    shown = text(ada, url(run, "checkpoint", tip(run)))
    for said in ("0x00ff", "NaN", "(type)", ".Box", str(2**60)):
        assert said in shown


# --- big and deep ---------------------------------------------------------------------------------


def test_a_field_too_big_for_a_page_is_a_size_and_a_file_and_the_others_are_shown(ada, run) -> None:
    saved(run, line(load=writes(big="x" * 70_000, log=["small one"])))
    shown = text(ada, url(run, "checkpoint", tip(run)))
    assert "68 KB: too much for a page" in shown
    assert "small one" in shown
    file = ada.get(url(run, "checkpoint_file", tip(run)) + "?field=big")
    assert json.loads(file.content) == "x" * 70_000
    assert file["Content-Disposition"].startswith("attachment;")
    assert file["X-Content-Type-Options"] == "nosniff"
    assert "x" * 4000 not in shown.partition("too much for a page")[2]


def test_a_state_nested_four_hundred_levels_is_cut_on_pages_and_whole_in_the_file(ada, run) -> None:
    deep: object = "the bottom, of jo@example.com"
    for _ in range(400):
        deep = Box(inner=deep)
    saved(run, line(load=writes(log=[deep]), send=writes(log=["sent"])))
    at = tip(run)
    page = text(ada, url(run, "checkpoint", at))
    assert "nested too deep to show" in page
    assert url(run, "checkpoint_file", at) in page
    text(
        ada, url(run, "checkpoint", at) + f"?against={listing.page(run.pk).rows[-1].checkpoint.id}"
    )
    text(ada, url(run, "state"))
    file = text(ada, url(run, "checkpoint_file", at))
    assert "the bottom, of hidden (email)" in file
    found = json.loads(file)["log"][0]
    for _ in range(400):
        found = found["inner"]
    assert found == "the bottom, of hidden (email)"


# --- what is hidden -------------------------------------------------------------------------------

HIDDEN = {"email": "jo@example.com", "password": SECRET}


@pytest.fixture
def secretive(run: Run) -> Run:
    """Secrets in the state, and in what a task wrote on the newest checkpoint."""

    def late(_: State) -> State:
        return {"password": "another-secret", "log": ["late"]}

    builder: Any = StateGraph(State)
    builder.add_node("load", writes(**HIDDEN))
    builder.add_node("late", late)
    builder.add_node("gate", lambda _: {"log": [interrupt("sure?")]})
    builder.add_edge(START, "load")
    builder.add_edge("load", "late")
    builder.add_edge("load", "gate")
    saved(run, builder.compile())
    return run


def addresses(run: Run) -> list[str]:
    newest, *_, oldest = [row.checkpoint.id for row in listing.page(run.pk).rows]
    page, file = url(run, "checkpoint", newest), url(run, "checkpoint_file", newest)
    return [
        page,
        f"{page}?against={oldest}",
        url(run, "checkpoint", oldest) + f"?against={newest}",
        file,
        f"{file}?field=password",
        f"{file}?of=written",
        f"{file}?of=written&field=late",
        url(run, "checkpoints"),
        url(run, "state"),
    ]


def test_nothing_hidden_is_on_any_page_or_in_any_file(cy, secretive) -> None:
    for address in addresses(secretive):
        shown = text(cy, address)
        for secret in ("jo@example.com", SECRET, "another-secret"):
            assert secret not in shown, address


def test_looking_behind_is_refused_everywhere_to_who_may_not(cy, secretive) -> None:
    for address in addresses(secretive)[:7]:
        asked = f"{address}{'&' if '?' in address else '?'}reveal=1"
        assert cy.get(asked).status_code == 403, address


def test_who_may_look_behind_sees_everything_and_stays_at_the_comparison(ada, secretive) -> None:
    page, compared, _, file, *_ = addresses(secretive)
    assert SECRET in text(ada, f"{page}?reveal=1")
    assert SECRET in text(ada, f"{file}?reveal=1")
    shown = text(ada, compared)
    assert f"?reveal=1&amp;against={compared.partition('=')[2]}" in shown


def test_who_may_not_see_the_run_gets_no_page_and_no_file(client, secretive) -> None:
    client.force_login(person("Dee"))
    for address in addresses(secretive):
        assert client.get(address).status_code == 403
