"""Copying an original's rows: one statement a table, written from what its columns are.

    uuid        another one, made of the old one and of the copy, so that references stay right
    timestamp   moved by the copy's shift
    text, JSON  the run's id and the order number replaced
    people      the copy's starter, or the copy's approver

Tables are found by their foreign keys: whatever leads to a run is copied with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.apps import apps
from django.db import connection, models

from accounts.models import User
from approvals.models import Claim, Notice
from ledger.models import Message, Number, Sought
from runs.models import Operation, OperationItem, Run, RunSought
from signalbox.seed.originals import ORDER

APPS = ("runs", "ledger", "approvals")
NOT_COPIED = (Message, Notice, Claim, Number, Sought, RunSought, Operation, OperationItem)
"""What is on its way to somebody, what triggers write, and what is about many runs."""
LANGGRAPHS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
STARTER = ("runs_run", "started_by_id")
SHORTEST = "left(c.id::text, 8)"
OVERRIDES = {
    ("runs_run", "idempotency_key"): "NULL",
    ("approvals_vote", "token"): "md5(c.id::text || o.token)",
    ("effects", "provider_ref"): f"coalesce(nullif(o.provider_ref, '') || '_' || {SHORTEST}, '')",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose rows belong to runs."""

    name: str
    joins: str
    """From its rows `o` to the row `r` of the run."""
    columns: tuple[tuple[str, str], ...]
    """Name and SQL of the copy's value."""

    def statement(self) -> str:
        names = ", ".join(f'"{name}"' for name, _ in self.columns)
        values = ", ".join(value for _, value in self.columns)
        return (
            f"INSERT INTO {self.name} ({names}) SELECT {values}"  # noqa: S608 (names of our tables)
            f" FROM seed_copy c, {self.name} o {self.joins} WHERE r.id = c.original"
        )


def prepare() -> None:
    """Make the table of the copies to be made, for this session."""
    _execute(
        "CREATE TEMPORARY TABLE seed_copy (id uuid PRIMARY KEY, original uuid NOT NULL,"
        " shift interval NOT NULL, number text NOT NULL, starter bigint, approver bigint)"
    )


def fill(original: UUID, *, count: int, first: int, newest: float, oldest: float) -> None:
    """Say that `count` copies are wanted, between so many seconds ago, with order numbers from
    `first` on. Few people start and decide most of them."""
    _execute(
        "WITH people AS ("
        "SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM accounts_user)"
        " INSERT INTO seed_copy"
        " SELECT md5(%(original)s || n)::uuid, %(original)s::uuid,"
        "        -(%(newest)s + (%(oldest)s - %(newest)s) * power(random(), 1.5))"
        "         * interval '1 second',"
        "        (%(first)s + n)::text, s.id, a.id"
        "   FROM generate_series(1, %(count)s) n"
        "   JOIN people s ON s.place = floor(%(people)s * power((n * 0.754877666) %% 1, 3))"
        "   JOIN people a ON a.place = floor(%(people)s * power((n * 0.569840296) %% 1, 3))",
        {
            "original": str(original),
            "count": count,
            "first": first,
            "newest": newest,
            "oldest": oldest,
            "people": User.objects.count(),
        },
    )


def copy() -> Iterator[str]:
    """Copy table by table; the name of each that is done."""
    for table in _tables():
        _execute(table.statement())
        yield table.name
    for name in LANGGRAPHS:
        _execute(_of_langgraph(name))
        yield name


def _tables() -> list[Table]:
    found = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    paths = {model: path for model in found if (path := _path(model)) is not None}
    wanted = [model for model in paths if model not in NOT_COPIED]
    return [_table(model, paths[model]) for model in sorted(wanted, key=lambda m: len(paths[m]))]


def _path(model: type[models.Model]) -> list[models.ForeignKey[object, object]] | None:
    """The foreign keys from this model to the run; None if there is no such path."""
    if model is Run:
        return []
    for field in model._meta.concrete_fields:
        to = field.related_model
        if isinstance(field, models.ForeignKey) and isinstance(to, type) and to is not model:
            rest = None if to._meta.app_label not in APPS else _path(to)
            if rest is not None and not field.null:
                return [field, *rest]
    return None


def _table(model: type[models.Model], path: list[models.ForeignKey[object, object]]) -> Table:
    joins, last = "", "o"
    for place, field in enumerate(path):
        to = "r" if place == len(path) - 1 else f"j{place}"
        table, remote = field.related_model._meta.db_table, field.target_field.column
        joins += f" JOIN {table} {to} ON {to}.{remote} = {last}.{field.column}"
        last = to
    if not path:
        joins = f"JOIN {model._meta.db_table} r ON r.id = o.id"
    return Table(
        name=model._meta.db_table,
        joins=joins,
        columns=tuple(
            (str(field.column), _value(model, field))
            for field in model._meta.concrete_fields
            if not isinstance(field, models.AutoField)
        ),
    )


def _value(model: type[models.Model], field: models.Field[object, object]) -> str:
    place, column = (model._meta.db_table, str(field.column)), f'o."{field.column}"'
    if place in OVERRIDES:
        return OVERRIDES[place]
    if field.related_model is User:
        who = "starter" if place == STARTER else "approver"
        return f"CASE WHEN {column} IS NOT NULL THEN c.{who} END"
    kind = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(kind, models.UUIDField):
        return (
            f"CASE WHEN {column} = c.original THEN c.id"
            f" ELSE md5(c.id::text || {column}::text)::uuid END"
        )
    if isinstance(kind, models.DateTimeField):
        return f"{column} + c.shift"
    if isinstance(kind, models.JSONField):
        return f"{_replaced(f'{column}::text')}::jsonb"
    if isinstance(kind, models.CharField | models.TextField):
        return _replaced(column)
    return column


def _replaced(text: str) -> str:
    return f"replace(replace({text}, c.original::text, c.id::text), '{ORDER}', c.number)"


def _of_langgraph(name: str) -> str:
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, name)
    values = {column.name: f'o."{column.name}"' for column in described}
    values["thread_id"] = "c.id::text"
    if "metadata" in values:
        values["metadata"] = "replace(o.metadata::text, c.original::text, c.id::text)::jsonb"
    names = ", ".join(f'"{column}"' for column in values)
    return (
        f"INSERT INTO {name} ({names}) SELECT {', '.join(values.values())}"  # noqa: S608 (LangGraph's columns)
        f" FROM seed_copy c JOIN {name} o ON o.thread_id = c.original::text"
    )


def _execute(statement: str, given: dict[str, str | float] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
