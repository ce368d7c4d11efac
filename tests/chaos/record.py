"""The side record: what nodes did and were told, noted by themselves, apart from what is tested.

1. Plain rows, written through a connection of this file's own and committed at once, so that they
   survive a kill. `current` is the fence of the lease at that moment: who notes a lower `fence` is
   a former driver that has not noticed yet.
2. Triggers note when a checkpoint, the writes of a task or a fence was saved. All rows take their
   numbers from one sequence, so they can be put in order.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection
from langgraph.config import get_config
from langgraph.runtime import get_runtime
from psycopg.rows import dict_row

SCHEMA = """
CREATE SEQUENCE chaos_order;

CREATE TABLE chaos_run (run uuid PRIMARY KEY, number int, shape text, style text);

CREATE TABLE chaos_seen (
    seq bigint PRIMARY KEY DEFAULT nextval('chaos_order'), at timestamptz DEFAULT clock_timestamp(),
    run uuid, step text, event text, value jsonb, pid int,
    fence bigint, current bigint, task text, ns text, superstep int
);
CREATE INDEX ON chaos_seen (run, event);

CREATE TABLE chaos_ballot (
    request uuid, person text, run uuid, question text, verdict text, value jsonb, comment text,
    token text, due timestamptz, outcome text, again text, PRIMARY KEY (request, person)
);

CREATE TABLE chaos_provider (key text PRIMARY KEY, run uuid, bill text, calls int DEFAULT 1);

CREATE TABLE chaos_checkpoint (
    seq bigint PRIMARY KEY DEFAULT nextval('chaos_order'), run uuid, ns text, checkpoint_id text,
    superstep int, fence bigint, current bigint
);
CREATE FUNCTION chaos_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_checkpoint (run, ns, checkpoint_id, superstep, fence, current)
    VALUES (NEW.thread_id::uuid, NEW.checkpoint_ns, NEW.checkpoint_id,
            (NEW.metadata ->> 'step')::int, (NEW.metadata ->> 'fence')::bigint,
            (SELECT fence FROM runs_lease WHERE run_id = NEW.thread_id::uuid));
    RETURN NULL;
END $$;
CREATE TRIGGER chaos AFTER INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION chaos_checkpoint();

CREATE TABLE chaos_write (
    seq bigint PRIMARY KEY DEFAULT nextval('chaos_order'), run uuid, task text, channel text
);
CREATE INDEX ON chaos_write (run, task);
CREATE FUNCTION chaos_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_write (run, task, channel)
    VALUES (NEW.thread_id::uuid, NEW.task_id, NEW.channel);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos AFTER INSERT ON checkpoint_writes FOR EACH ROW EXECUTE FUNCTION chaos_write();

CREATE TABLE chaos_fence (
    seq bigint PRIMARY KEY DEFAULT nextval('chaos_order'), run uuid, before bigint, after bigint,
    expired boolean
);
CREATE FUNCTION chaos_fence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_fence (run, before, after, expired)
    VALUES (NEW.run_id, OLD.fence, NEW.fence,
            OLD.expires_at IS NULL OR OLD.expires_at < clock_timestamp());
    RETURN NULL;
END $$;
CREATE TRIGGER chaos AFTER UPDATE ON runs_lease FOR EACH ROW
    WHEN (OLD.fence IS DISTINCT FROM NEW.fence) EXECUTE FUNCTION chaos_fence();
"""

NOTE = """
INSERT INTO chaos_seen (run, step, event, value, pid, fence, current, task, ns, superstep)
VALUES (%(run)s, %(step)s, %(event)s, %(value)s, %(pid)s, %(fence)s,
        (SELECT fence FROM runs_lease WHERE run_id = %(run)s), %(task)s, %(ns)s, %(superstep)s)
"""

_guard = threading.Lock()
_mine: tuple[int, psycopg.Connection[dict[str, Any]]] | None = None


def connect() -> psycopg.Connection[dict[str, Any]]:
    """This process's connection to the side record; never a parent's."""
    global _mine
    with _guard:
        if _mine is None or _mine[0] != os.getpid():
            known = connection.settings_dict
            opened = psycopg.connect(
                host=known["HOST"],
                dbname=known["NAME"],
                user=known["USER"],
                autocommit=True,
                row_factory=dict_row,
            )
            _mine = os.getpid(), opened
        return _mine[1]


def note(run: str, step: str, event: str, value: object = None, **place: object) -> None:
    """Write one row and commit it."""
    nowhere = {"fence": None, "task": None, "ns": None, "superstep": None}
    told = {"run": run, "step": step, "event": event, "value": json.dumps(value)}
    connect().execute(NOTE, nowhere | place | told | {"pid": os.getpid()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One execution of one step's code in a driven run."""

    run: str
    step: str
    fence: int
    task: str
    ns: str
    superstep: int

    @classmethod
    def here(cls, step: str) -> Visit:
        config = get_config()
        task = get_runtime().execution_info
        # The namespace of the graph that the node is in, without the node's own part.
        inside = str(config["metadata"].get("langgraph_checkpoint_ns", ""))
        return cls(
            run=str(config["configurable"]["thread_id"]),
            step=step,
            fence=config["metadata"]["fence"],
            task=task.task_id if task else "",
            ns=inside.rpartition("|")[0],
            superstep=config["metadata"].get("langgraph_step", -1),
        )

    def note(self, event: str, value: object = None) -> None:
        note(
            self.run,
            self.step,
            event,
            value,
            fence=self.fence,
            task=self.task,
            ns=self.ns,
            superstep=self.superstep,
        )
