"""No effect is found by a value that its pages hide from who searches: that would tell it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db.models import Expression, OuterRef, Q, TextField, Value
from django.db.models.functions import JSONObject

from accounts.models import User
from ledger.browse import conditions, words
from ledger.browse.filters import Filters
from runs import planner, ports, web

ARGS = JSONObject(args="args")
"""As the field that a policy names."""


def not_from(filters: Filters, user: User) -> Q:
    """What is asked of an effect besides, so that these filters tell this person nothing hidden."""
    where = Q()
    if user.has_perm(web.REVEAL) or not (filters.conditions or filters.text):
        return where
    masks = ports.masks()
    hiding = masks.hiding(user)
    found = [
        hiding(
            f"args.{each.path}", words.Words(OuterRef("args"), Value(conditions.place(each.path)))
        )
        for each in filters.conditions
    ]
    if filters.text:
        typed = [each for ways in words.spellings(filters.text) for each in ways]
        sought = words.Lower(Value(typed, ArrayField(TextField())))
        found.append(hiding("", sought))
        masked = map(conditions.places_within, masks.anywhere(user).paths)
        for place in (conditions.secret_places(), *masked):
            where &= ~_holds(place, sought)
    for hidden in found:
        where &= ~Q(planner.beside(hidden, run="run"))
    return where


def _holds(place: str, sought: Expression) -> Q:
    """Some value there is one of these, in what the effect or what its run was given.

    Asked of both at once: of the effect alone it would be asked before everything else.
    """
    given, started = (words.Words(each, Value(place)) for each in (ARGS, "run__input"))
    held = words.Both(given, started)
    return Q(words.HasOne(held, sought))
