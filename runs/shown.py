"""What pages show of documents, as expressions of the database: see migration 0012."""

from __future__ import annotations

import re

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import Expression, Func, TextField, Value


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
