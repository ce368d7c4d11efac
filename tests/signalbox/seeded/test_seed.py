"""Seeding a database for trials of load: copies are runs like all others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest
from django.db import connection

from tests.signalbox.seeded.conftest import RUNS, rows, run

CASTS = re.compile(r"::[a-z ]+(\[\])?|[()]")
GO_ON = """
import django; django.setup()
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions
from approvals.models import Request
from audit import seal
from runs import driver
from runs.models import Run
copies = Run.objects.exclude(input__order_id="10382")
for status, how in (("running", "small"), ("waiting", "asked")):
    run = copies.filter(status=status, input__how=how)[0]
    if status == "waiting":
        request = Request.objects.get(run=run)
        finance = User.objects.filter(groups__name="finance").exclude(pk=run.started_by_id)[0]
        actor = Actor.person(finance, entry="page")
        decisions.decide(
            request.pk, actor=actor, verdict="approved", seen_digest=request.digest, token="t"
        )
    print(driver.drive(run.pk, holder="test", cause="test").value)
seal.seal()  # other tests find everything sealed, as it was
"""
UNLIKE_TRIGGERS = {
    "what a run is found by": """
        SELECT count(*) FROM runs_run r LEFT JOIN runs_runsought s ON s.run_id = r.id
         WHERE (s.words, s.leaves, s.key, s.tail) IS DISTINCT FROM
               (runs_words(r.title), runs_leaves(r.input), coalesce(r.idempotency_key, ''),
                reverse(replace(r.id::text, '-', '')))""",
    "the agent of an effect": """
        SELECT count(*) FROM effects e JOIN runs_run r ON r.id = e.run_id
         WHERE e.agent <> r.agent""",
    "the words of an effect": """
        SELECT count(*) FROM effects e JOIN runs_run r ON r.id = e.run_id
          LEFT JOIN ledger_sought s ON s.effect_id = e.uid
         WHERE s.words IS DISTINCT FROM ledger_words(e.args, r.input, r.title)""",
    "words of no effect": """
        SELECT count(*) FROM ledger_sought WHERE effect_id NOT IN (SELECT uid FROM effects)""",
    "a number that is missing": """
        SELECT count(*) FROM (
            SELECT n.path, round(n.value, 15), e.uid FROM effects e, ledger_numbers(e.args) n
            EXCEPT SELECT path, value, effect_id FROM ledger_number) missing""",
    "a number too many": """
        SELECT count(*) FROM (
            SELECT path, value, effect_id FROM ledger_number
            EXCEPT SELECT n.path, round(n.value, 15), e.uid
                     FROM effects e, ledger_numbers(e.args) n) more""",
}
BACKWARDS = """
    SELECT count(*) FROM (SELECT at < lag(at) OVER (ORDER BY id) AS back FROM audit_entry) entries
     WHERE back
"""
SHAPE = {
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated
          FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2""",
    "indexes": """
        SELECT tablename, indexname, indexdef FROM pg_indexes
         WHERE schemaname = 'public' ORDER BY 1, 2""",
    "triggers": """
        SELECT tgrelid::regclass::text, tgname, tgenabled::text FROM pg_trigger
         WHERE NOT tgisinternal ORDER BY 1, 2""",
}


def count(env: Mapping[str, str], what: str) -> int:
    ((number,),) = rows(env, f"SELECT count({what}")
    assert isinstance(number, int)
    return number


def test_copies_have_rows_of_their_own_everywhere(seeded):
    assert count(seeded, "*) FROM runs_run") > RUNS
    for table in ("runs_lease", "audit_entry"):
        without = (
            f"*) FROM runs_run r LEFT JOIN {table} x ON x.run_id = r.id WHERE x.run_id IS NULL"
        )
        assert count(seeded, without) == 0
    own = count(seeded, "*) FROM effects WHERE idempotency_key LIKE run_id::text || ':%'")
    assert own == count(seeded, "*) FROM effects") > RUNS
    started = "*) FROM runs_run WHERE first_started_at IS NOT NULL AND status <> 'running'"
    assert count(seeded, "DISTINCT thread_id) FROM checkpoints") == count(seeded, started)
    permitted = count(seeded, "*) FROM effects e JOIN approvals_decision d ON d.id = e.permit")
    assert permitted == count(seeded, "permit) FROM effects")


def test_what_is_over_was_done_for_orders_of_its_own(seeded):
    done = (
        "FROM effects e JOIN runs_run r ON r.id = e.run_id"
        " WHERE r.status = 'succeeded' AND r.input->>'order_id' <> '10382'"
    )
    assert count(seeded, f"DISTINCT e.args_hash) {done}") == count(seeded, f"*) {done}")
    other = "*) FROM effects e JOIN approvals_decision d ON d.id = e.permit"
    assert count(seeded, f"{other} WHERE d.args_hash <> e.args_hash") == 0


@pytest.mark.parametrize("what", UNLIKE_TRIGGERS)
def test_searches_find_what_the_triggers_would_have_written(seeded, what):
    assert count(seeded, "*) FROM ledger_number") > RUNS / 2
    assert rows(seeded, UNLIKE_TRIGGERS[what]) == [(0,)]


@pytest.mark.django_db
@pytest.mark.parametrize("what", SHAPE)
def test_every_index_key_and_trigger_is_there_again(seeded, what):
    with connection.cursor() as cursor:
        cursor.execute(SHAPE[what])
        unseeded = cursor.fetchall()
    assert _read(rows(seeded, SHAPE[what])) == _read(unseeded)


def _read(shape: Iterable[tuple[object, ...]]) -> list[tuple[str, ...]]:
    """Without casts and brackets: PostgreSQL writes those of what was made from its own words
    otherwise, as after a restored backup."""
    return [tuple(CASTS.sub("", str(part)) for part in row) for row in shape]


def test_ids_sort_as_runs_were_made(seeded):
    by_id = "SELECT id FROM runs_run ORDER BY id"
    by_time = "SELECT id FROM runs_run ORDER BY date_trunc('milliseconds', created_at), id"
    ids, times = rows(seeded, by_id), rows(seeded, by_time)
    assert sum(one != other for one, other in zip(ids, times, strict=True)) < RUNS / 10


def test_the_audit_log_is_in_order_and_proved(seeded):
    said = run(seeded, "manage.py", "verify_audit").stdout
    assert "is intact" in said
    assert "0 not sealed yet" in said
    assert count(seeded, "*) FROM audit_entry") > RUNS * 10
    assert rows(seeded, BACKWARDS) == [(0,)]


def test_entries_name_what_is_there_and_who_did_it(seeded):
    for kind, table, key in (("effect", "effects", "uid"), ("request", "approvals_request", "id")):
        lost = (
            f"*) FROM audit_entry e WHERE target_kind = '{kind}' AND NOT EXISTS"
            f" (SELECT FROM {table} t WHERE t.{key}::text = e.target_id AND t.run_id = e.run_id)"
        )
        assert count(seeded, lost) == 0
    others = (
        "*) FROM audit_entry e JOIN runs_run r ON r.id = e.run_id"
        " WHERE verb = 'run.started' AND (actor_id, actor_label) IS DISTINCT FROM"
        " (r.started_by_id::text, r.starter)"
    )
    assert count(seeded, others) == 0
    assert count(seeded, "DISTINCT actor_id) FROM audit_entry") > 10
    assert count(seeded, "*) FROM audit_entry WHERE NOT allowed") > 0


def test_a_copy_goes_on_where_its_original_stood(seeded):
    env = dict(seeded) | {"DJANGO_SETTINGS_MODULE": "signalbox.seed.settings"}
    assert run(env, "-c", GO_ON).stdout.split() == ["finished", "finished"]


def test_a_database_with_runs_is_left_alone(seeded):
    said = run(seeded, "manage.py", "seed", fails=True).stderr
    assert said.strip() == "CommandError: The database has runs already. Seed one that is empty."
