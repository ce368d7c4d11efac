"""Recording."""

from __future__ import annotations

import enum
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils.translation import gettext_lazy

from accounts.actors import Actor
from audit import canonical, trail
from audit.errors import UnknownVerb
from audit.models import Entry
from tests.audit.conftest import Somebody

CHANGED = {
    "verb": "run.failed",
    "actor_kind": "system",
    "actor_id": "8",
    "actor_label": "Ben",
    "entry": "api",
    "target_kind": "effect",
    "target_id": "2",
    "run_id": uuid.UUID(int=1),
    "allowed": False,
    "reason": "other",
    "data": {"a": 1},
}
"""A value for each field that the fixture `record` does not give it."""


@pytest.mark.django_db
def test_an_entry_says_who_did_what_to_what_and_why(ada):
    run_id = uuid.uuid4()
    made = trail.record(
        "run.cancel_asked",
        actor=ada,
        target=("run", str(run_id)),
        run_id=run_id,
        reason="ordered twice",
        data={"amount": 5},
    )
    entry = Entry.objects.get(id=made.id)
    assert (entry.verb, entry.allowed, entry.reason) == ("run.cancel_asked", True, "ordered twice")
    assert (entry.actor_kind, entry.actor_id, entry.actor_label) == ("user", "7", "Ada Marsh")
    assert (entry.entry, entry.target_kind, entry.target_id) == ("page", "run", str(run_id))
    assert (entry.run_id, entry.data, entry.at) == (run_id, {"amount": 5}, made.at)


@pytest.mark.django_db
def test_the_time_is_the_databases_at_that_moment(record):
    with connection.cursor() as cursor:
        cursor.execute("SELECT now(), clock_timestamp()")
        began, before = cursor.fetchone()
        first, second = record().at, record().at
        cursor.execute("SELECT clock_timestamp()")
        (after,) = cursor.fetchone()
    assert began < before < first < second < after < before + timedelta(minutes=1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "data", [None, {}, {"n": 1e20, "f": 1.0, "nul": "\x00", "deep": [{"x": float("nan")}]}, "text"]
)
def test_the_digest_is_that_of_what_the_database_gives_back(record, data):
    made = record(data=data, run_id=uuid.uuid4(), reason="nul \x00 \ud800")
    entry = Entry.objects.get(id=made.id)
    assert entry.digest == made.digest == canonical.digest(entry.content)


@pytest.mark.django_db
@pytest.mark.parametrize("field", CHANGED)
def test_the_digest_covers_every_field_but_id_and_time(record, field):
    entry = record()
    setattr(entry, field, CHANGED[field])
    assert canonical.digest(entry.content) != entry.digest


def test_no_field_is_left_out_of_that_test():
    fields = {field.attname for field in Entry._meta.concrete_fields}
    assert fields - set(CHANGED) == {"id", "at", "digest"}


@pytest.mark.django_db
def test_a_part_of_the_system_is_an_actor_without_an_account():
    actor = Actor.system("sweeper")
    entry = trail.record("run.parked", actor=actor, target=("run", "1"))
    assert (entry.actor_kind, entry.actor_id, entry.actor_label) == ("system", "", "sweeper")


@pytest.mark.django_db
def test_values_of_enumerations_and_translations_are_recorded_as_their_text(record):
    class Kind(str, enum.Enum):  # noqa: UP042  # those print their name
        RUN = "run"

    entry = record(reason=gettext_lazy("Reason"), actor=Somebody(kind=Kind.RUN, label=Kind.RUN))
    assert Entry.objects.get(id=entry.id).digest == canonical.digest(entry.content)
    assert (entry.reason, entry.actor_kind, entry.actor_label) == ("Reason", "run", "run")


@pytest.mark.django_db
def test_an_unknown_verb_is_refused(ada):
    with pytest.raises(UnknownVerb, match=r"run\.exploded.*Add it"):
        trail.record("run.exploded", actor=ada, target=("run", "1"))


@pytest.mark.django_db
def test_an_id_too_long_for_an_index_is_cut(record):
    entry = record(target_id="ключ" * 1000)
    assert Entry.objects.get(id=entry.id).target_id == ("ключ" * 150)


@pytest.mark.django_db(transaction=True)
def test_an_entry_goes_when_its_transaction_does(record):
    with transaction.atomic():
        record()
        transaction.set_rollback(True)
    assert not Entry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_refusal_stays_although_the_attempt_left_nothing(ada, record):
    def attempt() -> None:
        try:
            with transaction.atomic():
                record()
                raise PermissionError("not yours")
        except PermissionError as refusal:
            trail.record_refused(
                "run.cancel_refused", actor=ada, target=("run", "1"), reason=str(refusal)
            )
            raise

    with pytest.raises(PermissionError):
        attempt()
    entry = Entry.objects.get()
    assert (entry.verb, entry.allowed, entry.reason) == ("run.cancel_refused", False, "not yours")


@pytest.mark.django_db(transaction=True)
def test_a_refusal_is_not_recorded_where_it_could_be_rolled_back(ada):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        trail.record_refused("run.cancel_refused", actor=ada, target=("run", "1"), reason="no")


@pytest.mark.django_db
def test_recording_is_one_statement(record, django_assert_num_queries):
    with django_assert_num_queries(1):
        record(data={"a": [1, 2, 3]})
