"""The words by which effects are found: in the index of words, and in documents themselves."""

from __future__ import annotations

import re
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, Func, Model, Q, QuerySet, TextField, Value

from ledger.browse import conditions
from ledger.models import Sought
from runs import planner

COMMON = 50_000
"""Effects that the planner expects to have a word that is not looked up."""
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def spellings(text: str) -> list[list[str]]:
    """The words of a search, each in the ways in which it may be known."""
    words = [text] if len(text.split()) < 2 else text.split()
    return [[word, *_as_number(word)] for word in words]


def _as_number(word: str) -> list[str]:
    return [conditions.plain(Decimal(word))] if _NUMBER.fullmatch(word) else []


def known_by(words: list[list[str]]) -> QuerySet[Model, object]:
    """The ids of effects that the index knows by all of these words."""
    return Sought.objects.filter(all_of("words", words)).values_list("effect_id", flat=True)


def expected(words: list[list[str]]) -> int:
    """How many effects the planner expects to have these words. Looking up COMMON ones takes longer
    than walking down the list: the index of words reads all that have one before it gives the
    first."""
    known = Sought.objects.all()
    for spellings in words:
        known = known.filter(words__overlap=[each.lower() for each in spellings])
    return planner.expected(known)


def all_of(field: str, words: list[list[str]]) -> Q:
    where = Q()
    for spellings in words:
        where &= Q(HasOne(field, Value(spellings, ArrayField(TextField()))))
    return where


class HasOne(Func):
    """Whether an array has one of these words, in whatever case."""

    template = "%(expressions)s)::text[])))"
    arg_joiner = " && ARRAY(SELECT lower(unnest(("
    output_field = BooleanField()
