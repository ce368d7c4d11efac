"""An effect is found by what its pages show to who searches, and by nothing else.

Otherwise the list would tell what is hidden: by finding an effect, or by not finding one that shows
what is looked for. So the database works out what is shown of each effect that has been found.
"""

from __future__ import annotations

from django.db.models import BooleanField, Func, JSONField, Q, TextField, Value

from accounts.models import User
from ledger.browse import conditions
from ledger.browse.conditions import Condition
from runs import ports, shown, web


def words(sought: list[list[str]], user: User, *, named: Q) -> Q:
    """What is asked of an effect besides having these words: that each of them, in one of its
    spellings, is shown to this person. `named`: what finds it for everybody."""
    if user.has_perm(web.REVEAL):
        return Q()
    given = ("args", "run__input", "run__title", Value(sought, JSONField()))
    return named | _shows("ledger_shows_words", user, *given)


def value(path: str, compared: list[Condition], user: User) -> Q:
    """What is asked of an effect besides having such a value: that one is shown to this person."""
    if user.has_perm(web.REVEAL):
        return Q()
    sought = Value(conditions.jsonpath(path, compared), TextField())
    return _shows("ledger_shows_value", user, "args", sought)


def _shows(function: str, user: User, *asked: Value | str) -> Q:
    """See migration 0014."""
    cloak = ports.masks().cloaked(user)("run_id", "agent")
    told = (cloak, shown.names(), *asked)
    return Q(Func(*told, function=function, output_field=BooleanField()))
