"""Which tables are copied: LangGraph's, and all whose rows lead to a run by foreign keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from django.apps import apps
from django.db import models

from approvals.models import Claim, Notice
from ledger.models import Message
from runs.models import Operation, OperationItem, Run

APPS = ("runs", "ledger", "approvals")
NOT_COPIED = (Message, Notice, Claim, Operation, OperationItem)
"""What is on its way to somebody, who looks at something just now, and what is about many runs."""
LANGGRAPHS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

ForeignKey: TypeAlias = "models.ForeignKey[Any, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose rows belong to runs."""

    name: str
    model: type[models.Model] | None
    """None: it is one of LangGraph's."""
    run: str
    """SQL of the run's id, of its row `o` and what is joined."""
    joins: str = ""

    @property
    def kept(self) -> str:
        """The name of a table of this session, for the originals' rows."""
        return f"seed_of_{self.name}"


def found() -> list[Table]:
    ours = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    paths = {model: path for model in ours if (path := _path(model)) is not None}
    return [
        *(_table(model, path) for model, path in paths.items() if model not in NOT_COPIED),
        *(Table(name=name, model=None, run="o.thread_id") for name in LANGGRAPHS),
    ]


def _path(model: type[models.Model]) -> list[ForeignKey] | None:
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


def _table(model: type[models.Model], path: list[ForeignKey]) -> Table:
    joins, row = "", "o"
    for place, field in enumerate(path[:-1]):
        table, remote = field.related_model._meta.db_table, field.target_field.column
        joins += f" JOIN {table} j{place} ON j{place}.{remote} = {row}.{field.column}"
        row = f"j{place}"
    run = f"o.{model._meta.pk.column}" if not path else f"{row}.{path[-1].column}"
    return Table(name=model._meta.db_table, model=model, joins=joins, run=run)
