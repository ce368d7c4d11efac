"""When what is saved, and by whom: F15, F19, F28, F29."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from ledger import status as ledger
from ledger.models import Effect
from runs import admission, checkpoints
from runs.status import Outcome
from tests.facts import deaths
from tests.facts.conftest import dies
from tests.runs.conftest import SHELL, answer, attempts, expire, now, output
from tests.support import graphs
from tests.support.processes import until

LINE = ["first", "second", "third"]


# --- F15 ------------------------------------------------------------------------------------------


def test_f15_a_node_that_has_ended_may_run_again_because_its_writes_are_not_waited_for(
    thread,
) -> None:
    it = thread(graphs.line)
    dies(deaths.invoke, "line", it.id, {}, deaths.before_its_writes)
    it.call(None)
    assert graphs.visits(it.id) == ["first", "second", "second", "third"]
    assert it.log() == LINE


def test_f15_our_driver_repeats_the_node_and_the_ledger_pays_once(
    database, rung, drive, settings
) -> None:
    settings.RUNS_AGENTS = [{"name": "till", "graph": "tests.facts.shop.till", "version": "1"}]
    run = admission.start("till", {}, actor=SHELL)
    dies(deaths.drive, run.pk, deaths.before_its_writes)
    expire(run)
    assert drive(run) is Outcome.FINISHED
    visits = graphs.visits(run.pk)
    assert visits.count("second.before") == 2
    assert visits.count("paid.7") == 1
    assert output(run) == {"log": LINE}
    assert Effect.objects.get(run=run).status in ledger.DONE


# --- F29 ------------------------------------------------------------------------------------------


def test_f29_between_a_nodes_writes_and_the_next_checkpoint_nothing_seems_to_come_next(
    thread,
) -> None:
    it = thread(graphs.line)
    dies(deaths.invoke, "line", it.id, {}, deaths.after_its_writes)
    assert it.state().next == ()
    assert graphs.visits(it.id) == ["first", "second"]
    it.call(None)
    assert graphs.visits(it.id) == LINE


def test_f29_our_driver_does_not_take_that_for_the_end(start, drive) -> None:
    run = start("line")
    dies(deaths.drive, run.pk, deaths.after_its_writes)
    expire(run)
    assert drive(run) is Outcome.FINISHED
    assert output(run) == {"log": LINE}
    assert graphs.visits(run.pk) == LINE
    assert attempts(run) == [("lost", ""), ("finished", "")]


# --- F28 ------------------------------------------------------------------------------------------


def raise_once(kind: type[Exception]) -> Any:
    def hook() -> None:
        graphs.HOOKS.clear()
        raise kind("once")

    return hook


def test_f28_after_an_edge_that_raised_the_graph_ends_without_taking_it(thread) -> None:
    it = thread(graphs.router)
    it.call({})
    graphs.HOOKS["route"] = raise_once(ConnectionError)
    with pytest.raises(ConnectionError):
        it.resume({it.asked()["gate"]: "yes"})
    it.call(None)
    assert it.state().next == ()
    assert it.log() == [["gate", "yes"]]
    assert "pay" not in graphs.visits(it.id)


def test_f28_our_driver_takes_the_edge_when_it_tries_again(start, drive) -> None:
    run = start("router")
    drive(run)
    answer(run, "gate", "yes")
    graphs.HOOKS["route"] = raise_once(ConnectionError)
    assert drive(run) is Outcome.RAISED
    assert now(run).status == "queued"
    assert drive(run) is Outcome.FINISHED
    assert output(run) == {"log": [["gate", "yes"], "pay"]}


# --- F19 ------------------------------------------------------------------------------------------


@pytest.fixture
def empty_schema(transactional_db: None, no_flush: None, monkeypatch) -> Iterator[dict[str, Any]]:
    """How to connect to a schema without checkpoint tables."""
    direct = checkpoints.dsn()
    elsewhere = direct | {"options": "-c search_path=facts"}
    monkeypatch.setattr(checkpoints, "dsn", lambda: elsewhere)
    with psycopg.connect(**direct, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA facts")
        yield elsewhere
        conn.execute("DROP SCHEMA facts CASCADE")


def test_f19_a_second_setup_at_the_same_time_fails(empty_schema) -> None:
    raised: list[Exception] = []

    def set_up() -> None:
        with psycopg.connect(**empty_schema, autocommit=True, row_factory=dict_row) as conn:
            try:
                PostgresSaver(conn).setup()
            except Exception as exc:
                raised.append(exc)

    second = threading.Thread(target=set_up)
    with psycopg.connect(**empty_schema) as first, first.transaction():
        first.execute(PostgresSaver.MIGRATIONS[0])
        second.start()
        with psycopg.connect(**empty_schema, autocommit=True) as watch:
            until(lambda: waits_for(watch, first.info.backend_pid))
    second.join(20)
    assert [type(exc) for exc in raised] == [psycopg.errors.UniqueViolation]


def waits_for(watch: psycopg.Connection[Any], blocker: int) -> bool:
    row = watch.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))", [blocker]
    ).fetchone()
    return bool(row and row[0])


def test_f19_setup_fails_inside_a_transaction(empty_schema) -> None:
    with (
        psycopg.connect(**empty_schema, row_factory=dict_row) as conn,
        pytest.raises(psycopg.errors.ActiveSqlTransaction),
    ):
        PostgresSaver(conn).setup()


def test_f19_our_setup_may_run_four_times_at_once(empty_schema) -> None:
    together = threading.Barrier(4)
    raised: list[Exception] = []

    def set_up() -> None:
        together.wait(20)
        try:
            checkpoints.setup()
        except Exception as exc:
            raised.append(exc)

    several = [threading.Thread(target=set_up) for _ in range(4)]
    for each in several:
        each.start()
    for each in several:
        each.join(60)
    assert raised == []
    assert checkpoints.problem() == ""
