"""What must hold afterwards, from the tables alone: plain SQL, and straight runs for the outputs.

Each check is one query that finds what must not be: run, and a sentence that says what.

A step executed by a former driver that did not know it yet (fence < current) proves nothing about
the order of steps; it must not have saved anything, and that is checked.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import psycopg
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from audit import canonical
from runs import graphs
from tests.chaos import record, shapes

Row = dict[str, Any]

UNFINISHED = ("__error__", "__error_source_node__", "__interrupt__", "__resume__", "__scheduled__")
"""Channels in which a task notes something while it is not done."""

CHECKS = {
    "every run ends": """
        SELECT id AS run, concat_ws(' ', status, park_reason, park_detail, error_class, error,
               CASE WHEN wakes > seen_wakes THEN 'woken' END) AS what
          FROM runs_run WHERE status <> 'succeeded'
    """,
    "one decision per request": """
        SELECT r.run_id AS run, r.id || ': ' || count(*) AS what
          FROM approvals_decision d JOIN approvals_request r ON r.id = d.request_id
         GROUP BY r.run_id, r.id HAVING count(*) > 1
    """,
    "what was accepted is what was decided": """
        SELECT b.run, b.question || ': ' || b.person || ' was told that it counts' AS what
          FROM chaos_ballot b LEFT JOIN approvals_decision d ON d.request_id = b.request
         WHERE b.outcome = 'accepted'
           AND (d.id IS NULL OR d.verdict <> b.verdict OR d.comment <> b.comment
                OR d.value IS DISTINCT FROM b.value)
    """,
    "nothing else is decided": """
        SELECT r.run_id AS run, r.payload ->> 'question' AS what
          FROM approvals_decision d JOIN approvals_request r ON r.id = d.request_id
         WHERE NOT EXISTS (SELECT FROM chaos_ballot b WHERE b.request = d.request_id
                              AND b.outcome = 'accepted' AND b.question = r.payload ->> 'question')
    """,
    "who is too late is told so": """
        SELECT run, question || ': ' || outcome || ' ' || again AS what
          FROM chaos_ballot
         WHERE outcome NOT IN ('accepted', 'abstains', 'AlreadyDecided')
            OR again NOT IN ('', 'accepted', 'AlreadyDecided')
    """,
    "every decision takes effect unless it was asked again": """
        SELECT r.run_id AS run, concat_ws(' ', r.payload ->> 'question', 'round', r.round,
               d.delivery, d.delivery_detail) AS what
          FROM approvals_decision d JOIN approvals_request r ON r.id = d.request_id
          JOIN runs_run u ON u.id = r.run_id
         WHERE u.status = 'succeeded' AND d.delivery <> 'took_effect' AND NOT r.asked_again
    """,
    "nobody is asked again what is answered": """
        SELECT first.run_id AS run, (first.payload ->> 'question') || ': round ' || first.round
               || ' was decided, then round ' || later.round || ' was opened' AS what
          FROM approvals_request first JOIN approvals_decision d ON d.request_id = first.id
          JOIN approvals_request later ON later.run_id = first.run_id
           AND later.payload ->> 'question' = first.payload ->> 'question'
           AND later.created_at > first.created_at
         WHERE NOT first.asked_again
    """,
    "no answer reaches another question": """
        SELECT run, step || ': ' || value::text AS what FROM chaos_seen WHERE event = 'mixed up'
    """,
    "every answer that a node gets was given to its question": """
        SELECT s.run, s.step || ': ' || s.value::text AS what
          FROM chaos_seen s JOIN chaos_run c ON c.run = s.run
         WHERE s.event = 'answer' AND NOT EXISTS (
               SELECT FROM approvals_request r JOIN approvals_decision d ON d.request_id = r.id
                WHERE r.run_id = s.run AND r.payload ->> 'question' = s.value ->> 0
                  AND CASE c.style WHEN 'bare' THEN to_jsonb(d.verdict = 'approved') = s.value -> 1
                      ELSE jsonb_build_array(d.verdict, d.value, d.comment) = s.value -> 1 END)
    """,
    "after a new answer a node never gets the old one": """
        SELECT s.run, s.step || ': ' || s.value::text AS what
          FROM chaos_seen s JOIN chaos_run c ON c.run = s.run
          JOIN approvals_request r ON r.run_id = s.run AND r.payload ->> 'question' = s.value ->> 0
          JOIN approvals_decision d ON d.request_id = r.id
         WHERE s.event = 'answer' AND s.fence = s.current AND c.style = 'ask'
           AND s.value -> 1 ->> 2 = d.comment
           AND EXISTS (SELECT FROM approvals_request later JOIN approvals_decision n
                            ON n.request_id = later.id
                        WHERE later.run_id = r.run_id AND later.created_at > r.created_at
                          AND later.payload ->> 'question' = r.payload ->> 'question'
                          AND n.at < s.at)
    """,
    "what was saved does not run again": """
        SELECT s.run, s.step || ' ran again after its task had written' AS what
          FROM chaos_seen s
         WHERE s.event = 'enter' AND s.fence = s.current
           AND EXISTS (SELECT FROM chaos_write w WHERE w.run = s.run AND w.task = s.task
                          AND w.seq < s.seq AND w.channel <> ALL (%(unfinished)s))
        UNION ALL
        SELECT s.run, s.step || ' of step ' || s.superstep || ' ran again after its checkpoint'
          FROM chaos_seen s
         WHERE s.event = 'enter' AND s.fence = s.current
           AND EXISTS (SELECT FROM chaos_checkpoint c WHERE c.run = s.run AND c.ns = s.ns
                          AND c.seq < s.seq AND c.superstep >= s.superstep)
    """,
    "an effect happens once": """
        SELECT run, bill || ' was paid under ' || count(*) || ' keys' AS what
          FROM chaos_provider GROUP BY run, bill HAVING count(*) > 1
        UNION ALL
        SELECT p.run, p.bill || ': the ledger says ' || coalesce(e.status, 'nothing')
          FROM chaos_provider p LEFT JOIN effects e ON e.provider_key = p.key AND e.run_id = p.run
          JOIN runs_run r ON r.id = p.run
         WHERE r.status = 'succeeded' AND e.status IS DISTINCT FROM 'sent'
        UNION ALL
        SELECT e.run_id, e.step || ': the ledger knows an effect that did not happen'
          FROM effects e LEFT JOIN chaos_provider p ON e.provider_key = p.key
         WHERE p.key IS NULL AND e.status IN ('sent', 'confirmed')
        UNION ALL
        SELECT run_id, 'incident: ' || kind FROM ledger_incident
    """,
    "attempts end, and follow each other": """
        SELECT run_id AS run, 'attempt ' || fence || ' is open' AS what
          FROM runs_attempt a JOIN runs_run r ON r.id = a.run_id
         WHERE a.outcome = 'open' AND r.status IN ('succeeded', 'failed', 'cancelled')
        UNION ALL
        SELECT run_id, 'attempt ' || fence || ' began before the one before had ended'
          FROM (SELECT *, lag(ended_at) OVER w AS before, lag(fence) OVER w AS former
                  FROM runs_attempt WINDOW w AS (PARTITION BY run_id ORDER BY fence)) a
         WHERE fence > 1 AND (before IS NULL OR former <> fence - 1
               OR before > started_at + interval '20 milliseconds')
    """,
    "fences rise by one, and only when the lease is free": """
        SELECT run, concat_ws(' ', before, 'then', after,
               CASE WHEN NOT expired THEN 'though it was held' END) AS what
          FROM chaos_fence WHERE after <> before + 1 OR NOT expired
        UNION ALL
        SELECT run, 'fence ' || after || ' was taken after ' || former
          FROM (SELECT *, lag(after) OVER (PARTITION BY run ORDER BY seq) AS former
                  FROM chaos_fence) f
         WHERE former >= after
    """,
    "only the present driver saves": """
        SELECT run, 'fence ' || fence || ' saved under ' || current AS what
          FROM chaos_checkpoint WHERE fence IS DISTINCT FROM current
        UNION ALL
        SELECT run, 'fence ' || fence || ' saved after ' || former
          FROM (SELECT *, lag(fence) OVER (PARTITION BY run ORDER BY seq) AS former
                  FROM chaos_checkpoint) c
         WHERE former > fence
    """,
}

LEFT = """
SELECT run, array_agg(DISTINCT step) AS steps FROM chaos_seen WHERE event = 'leave' GROUP BY run
"""
LAST = """
SELECT DISTINCT ON (b.run, b.question) b.run, b.question, b.verdict, b.value, b.comment
  FROM chaos_ballot b JOIN approvals_request r ON r.id = b.request
 WHERE b.outcome = 'accepted'
 ORDER BY b.run, b.question, r.created_at DESC
"""
RUNS = """
SELECT c.run, c.number, c.shape, c.style, r.input, r.output
  FROM chaos_run c JOIN runs_run r ON r.id = c.run WHERE r.status = 'succeeded' ORDER BY c.number
"""
FAULTS = "SELECT run, step, value FROM chaos_seen WHERE event = 'fault' ORDER BY seq"
NUMBERS = "SELECT run, number, shape FROM chaos_run"
TALLY = """
SELECT (SELECT count(*) FROM runs_attempt) AS attempts,
       (SELECT count(*) FROM runs_attempt WHERE outcome = 'lost') AS lost,
       (SELECT count(*) FROM approvals_request) AS questions,
       (SELECT count(*) FROM approvals_request WHERE asked_again) AS asked_again,
       (SELECT count(*) FROM approvals_request WHERE status = 'superseded') AS superseded,
       (SELECT count(*) FROM runs_intervention) AS interventions,
       (SELECT count(*) FROM chaos_seen WHERE fence < current) AS late_steps,
       (SELECT count(*) FROM chaos_seen WHERE event = 'drive raised') AS drives_raised
"""


def check(seed: int) -> dict[str, Any]:
    """Everything that is wrong, each with its run and the faults that the run had; and counts."""
    side = record.connect()
    named = {row["run"]: row for row in side.execute(NUMBERS)}
    had: dict[Any, list[str]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    for row in side.execute(FAULTS):
        had[row["run"]].append(f"{row['value']} {row['step']}")
        counts[row["value"]] += 1
    violations = [
        {
            "invariant": name,
            "what": what,
            "run": str(run),
            "number": named[run]["number"] if run in named else None,
            "shape": named[run]["shape"] if run in named else None,
            "seed": seed,
            "faults": had[run],
        }
        for name, run, what in _wrong(side)
    ]
    tally = side.execute(TALLY).fetchone() or {}
    return {
        "kills": counts["kill"],
        "freezes": counts["freeze"],
        "errors": counts["lapse"] + counts["grumble"] + counts["refuse"],
        **tally,
        "violations": violations,
    }


def _wrong(side: psycopg.Connection[Row]) -> Iterator[tuple[str, Any, str]]:
    for name, query in CHECKS.items():
        for row in side.execute(query, {"unfinished": list(UNFINISHED)}):
            yield name, row["run"], row["what"]
    yield from _compared(side)


# --- straight runs -------------------------------------------------------------------------------


def _compared(side: psycopg.Connection[Row]) -> Iterator[tuple[str, Any, str]]:
    """Runs that ended with something else than a run without faults, or left something out."""
    left = {row["run"]: set(row["steps"]) for row in side.execute(LEFT)}
    said: dict[Any, dict[str, Row]] = defaultdict(dict)
    for row in side.execute(LAST):
        said[row["run"]][row["question"]] = row
    for row in side.execute(RUNS).fetchall():
        run, required = row["run"], shapes.REQUIRED[row["shape"]]
        asked = {f"{row['number']}:{question}" for question in required.questions}
        if missing := asked - said[run].keys():
            yield "every question is asked and answered", run, ", ".join(sorted(missing))
            continue
        straight = _straight(row, said[run])
        if json.dumps(straight, sort_keys=True) != json.dumps(row["output"], sort_keys=True):
            yield "the output is that of a straight run", run, f"{row['output']} is not {straight}"
        steps = _steps(straight)
        if missing := set(required.steps) - steps:
            raise AssertionError(f"the straight run of {row['shape']} leaves out {missing}")
        if steps ^ left.get(run, set()):
            yield "no step is left out", run, f"{sorted(left.get(run, ()))} is not {sorted(steps)}"


def _straight(row: Row, said: dict[str, Row]) -> Any:
    """The output of a run without faults that is answered the same, one answer after the other."""
    graph = graphs.load(row["shape"]).graph.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "straight"}}
    graph.invoke(row["input"], config)
    while pending := graph.get_state(config).interrupts:
        asked = pending[0]
        answer = said.get(asked.value["question"])
        if answer is None:
            return f"nobody answered {asked.value['question']}"
        graph.invoke(Command(resume={asked.id: _given(asked.value, answer)}), config)
    return graph.get_state(config).values


def _given(asked: Any, answer: Row) -> Any:
    if "digest" not in asked:
        return answer["verdict"] == "approved"
    return {
        "decision": answer["verdict"],
        "value": answer["value"],
        "comment": answer["comment"],
        "digest": canonical.fingerprint(asked),
        "by": "",
    }


def _steps(output: Any) -> set[str]:
    return {line[0] for line in output["log"]} if isinstance(output, dict) else set()
