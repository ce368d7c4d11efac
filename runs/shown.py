"""What pages show of documents, as expressions of the database: see migration 0012.

They are dear to ask: some ten microseconds for most rows, a hundred times as many for some.
"""

from __future__ import annotations

import re
from typing import TypeVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import Expression, Func, Model, Q, QuerySet, TextField, Value

M = TypeVar("M", bound=Model)


def names() -> Value:
    """The words in the names of fields that are hidden for them; without those that no name has."""
    words = (word for word in settings.RUNS_HIDDEN_KEYS if re.fullmatch("[a-z0-9_]+", word))
    return Value(sorted(words), ArrayField(TextField()))


def leaves(document: Expression | str, cloak: Expression) -> Func:
    """As `RunSought.leaves`, of what is shown."""
    return Func(
        document,
        cloak,
        names(),
        function="runs_shown_leaves",
        output_field=ArrayField(TextField()),
    )


def first(likely: QuerySet[M], shown: Q, limit: int) -> list[M]:
    """The first of these rows, in their order, that are shown; one query where nothing is hidden.

    Where the database has to sort them, it would find that out of all of them. So it is asked about
    as many as are wanted, and about nine times as many while these do not do: of each once. Which
    come first is asked anew, so that none is missed where others have gone meanwhile.
    """
    if not shown:
        return list(likely[:limit])
    rows = likely.model._default_manager.all()
    rows.query.select_related = likely.query.select_related
    found: dict[object, M] = {}
    asked: set[object] = set()
    size = limit
    while True:
        part = list(likely.values_list("pk", flat=True)[:size])
        new = [pk for pk in part if pk not in asked]
        found |= rows.filter(shown, pk__in=new).in_bulk()
        first = [found[pk] for pk in part if pk in found][:limit]
        if len(first) == limit or len(part) < size:
            return first
        asked.update(new)
        size *= 9
