"""What the database refuses."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from audit import seal
from audit.models import Entry, Seal, SealSignature
from tests.support import flush


@pytest.fixture
def sealed(record):
    record()
    assert seal.seal() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["audit_entry", "audit_seal", "audit_signature", "audit_anchor"])
@pytest.mark.parametrize(
    ("what", "statement"),
    [
        ("UPDATE", "UPDATE {table} SET {column} = 'x'"),
        ("UPDATE", "UPDATE {table} SET {column} = 'x' WHERE false"),
        ("DELETE", "DELETE FROM {table}"),
        ("TRUNCATE", "TRUNCATE {table} CASCADE"),
    ],
)
def test_the_log_cannot_be_changed(sealed, table, what, statement):
    column = {"audit_entry": "reason", "audit_seal": "hash"}.get(table, "signature")
    refused = pytest.raises(IntegrityError, match=f"{what} of {table} refused.*only grows.*Record")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement.format(table=table, column=column))
    assert Entry.objects.filter(reason="").exists()
    assert Seal.objects.exclude(hash="x").exists()
    assert SealSignature.objects.exclude(signature="x").exists()


@pytest.mark.django_db
def test_the_triggers_fire_on_replicas_as_well():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgenabled FROM pg_trigger WHERE tgname LIKE 'audit_%_only_grows'")
        assert cursor.fetchall() == [("A",)] * 4


@pytest.mark.django_db
def test_an_insert_that_would_overwrite_is_refused(record):
    entry = record()
    statement = (
        "INSERT INTO audit_entry SELECT * FROM audit_entry WHERE id = %s "
        "ON CONFLICT (id) DO UPDATE SET reason = 'x'"
    )
    with pytest.raises(IntegrityError, match="only grows"), transaction.atomic():
        connection.cursor().execute(statement, [entry.id])


@pytest.mark.django_db(transaction=True)
def test_the_triggers_are_back_after_tests_have_emptied_the_log(record):
    record()
    flush.empty()
    assert not Entry.objects.exists()
    record()
    with pytest.raises(IntegrityError, match="only grows"):
        Entry.objects.all().delete()
