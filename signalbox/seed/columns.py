"""What a copy has in a column, as SQL of the original's row `o` and of the copy `c`.

uuid        another one, made of the old one and of the copy, so that references stay right
timestamp   moved by the copy's shift
text, JSON  the run's id, the order number and the people's names replaced
people      the copy's starter, or the copy's approver
"""

from __future__ import annotations

from typing import Any, TypeAlias

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import connection, models

from accounts.models import User
from signalbox.seed.plan import Word
from signalbox.seed.tables import Table

STARTER = ("runs_run", "started_by_id")
SHORT = "right(c.id::text, 8)"
OTHER_ARGS = (
    "CASE WHEN c.ended AND o.args_hash <> ''"
    " THEN encode(sha256(convert_to(o.args_hash || c.number, 'UTF8')), 'hex') ELSE o.args_hash END"
)
"""What is over was done for an order of its own. What goes on calls what its original calls."""
OVERRIDES = {
    **{
        (table, "args_hash"): OTHER_ARGS
        for table in ("effects", "approvals_request", "approvals_decision", "ledger_incident")
    },
    ("runs_run", "idempotency_key"): "NULL",
    ("runs_runsought", "key"): "''",
    ("runs_runsought", "tail"): "reverse(replace(c.id::text, '-', ''))",
    ("approvals_vote", "token"): "md5(c.id::text || o.token)",
    ("effects", "provider_ref"): f"coalesce(nullif(o.provider_ref, '') || '_' || {SHORT}, '')",
    # The checkpoints of a thread are told apart by it alone; what they hold is the original's.
    **{
        (table, "thread_id"): "c.id::text"
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    },
    ("checkpoints", "metadata"): "replace(o.metadata::text, o.thread_id, c.id::text)::jsonb",
}

TEXTS = (models.JSONField, models.CharField, models.TextField, ArrayField, SearchVectorField)

Column: TypeAlias = "models.Field[Any, Any]"


def of(table: Table, words: list[Word]) -> dict[str, str]:
    """Every column that is written, and its value. The originals' rows must be kept already."""
    if table.model is None:
        return {name: OVERRIDES.get((table.name, name), f'o."{name}"') for name in _columns(table)}
    fields = [f for f in table.model._meta.concrete_fields if not isinstance(f, models.AutoField)]
    there = _there(table, [str(field.column) for field in fields if _is_text(field)], words)
    return {
        str(field.column): _value(table, field, there.get(str(field.column), []))
        for field in fields
    }


def _columns(table: Table) -> list[str]:
    with connection.cursor() as cursor:
        return [
            column.name
            for column in connection.introspection.get_table_description(cursor, table.name)
        ]


def _is_text(column: Column) -> bool:
    kind = _kind(column)
    return isinstance(kind, TEXTS)


def _kind(column: Column) -> Column:
    return column.target_field if isinstance(column, models.ForeignKey) else column


def _there(table: Table, columns: list[str], words: list[Word]) -> dict[str, list[Word]]:
    """The words that occur in each column: replacing others would take time for nothing."""
    if not columns:
        return {}
    asked = [(name, word) for name in columns for word in words]
    parts = ", ".join(
        f'coalesce(bool_or(strpos(o."{name}"::text, {word.text}) > 0), false)'
        for name, word in asked
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {parts} FROM {table.kept} o")  # noqa: S608 (names of our columns)
        said = cursor.fetchone()
    there: dict[str, list[Word]] = {}
    for (name, word), yes in zip(asked, said, strict=True):
        if yes:
            there.setdefault(name, []).append(word)
    return there


def _value(table: Table, column: Column, words: list[Word]) -> str:
    place, old = (table.name, str(column.column)), f'o."{column.column}"'
    if place in OVERRIDES:
        return OVERRIDES[place]
    if column.related_model is User:
        return f"CASE WHEN {old} IS NOT NULL THEN c.{_who(place)} END"
    kind = _kind(column)
    if isinstance(kind, models.UUIDField):
        return f"CASE WHEN {old} = c.original THEN c.id ELSE pg_temp.seed_id({_made(old)}) END"
    if isinstance(kind, models.DateTimeField):
        return f"{old} + c.shift"
    return _text(old, kind, words) if words else old


def _who(place: tuple[str, str]) -> str:
    return "starter" if place == STARTER else "approver"


def _made(old: str) -> str:
    return f"c.id::text, {old}, c.moved"


def _text(old: str, kind: Column, words: list[Word]) -> str:
    replaced = f"{old}::text"
    for word in words:
        replaced = f"replace({replaced}, {word.text}, {word.other})"
    if isinstance(kind, models.JSONField):
        return f"{replaced}::jsonb"
    if isinstance(kind, SearchVectorField):
        return f"{replaced}::tsvector"
    if isinstance(kind, ArrayField):  # sorted, as the trigger writes those that searches ask
        return f"ARRAY(SELECT DISTINCT unnest({replaced}::text[]) ORDER BY 1)"
    return replaced
