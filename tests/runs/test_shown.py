"""The database hides of a document what pages hide, value by value."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Q

from runs import masking
from runs import shown as finding
from runs.masking import Cloak
from runs.models import Run
from tests.support import standing as make
from tests.support.documents import NAMES, Place, document, ending, leaves

pytestmark = pytest.mark.django_db
SHOWN = """
SELECT coalesce(jsonb_agg(jsonb_build_array(place, leaf)), '[]')
  FROM runs_shown(%s, '{}', ROW(%s, %s::text[], %s::numeric[])::runs_cloak, %s)
 WHERE shown
"""


def shown(held: object, cloak: Cloak) -> list[tuple[Place, object]]:
    """As the database says it."""
    ends = list(map(ending, cloak.paths))
    given = [json.dumps(held), ends or None, list(cloak.texts), list(cloak.numbers)]
    with connection.cursor() as cursor:
        cursor.execute(SHOWN, [*given, sorted(settings.RUNS_HIDDEN_KEYS)])
        return [(tuple(place), leaf) for place, leaf in json.loads(cursor.fetchone()[0])]


def left(held: object, cloak: Cloak) -> list[tuple[Place, object]]:
    """What stands on the page as it was."""
    on_page = dict(leaves(masking.mask(held, cloak).value))
    return [
        (place, leaf)
        for place, leaf in leaves(held)
        if place in on_page and repr(on_page[place]) == repr(leaf)
    ]


def alike(found: Iterable[tuple[Place, object]]) -> list[str]:
    return sorted(map(repr, found))


def test_the_database_shows_of_documents_what_pages_show():
    at = random.Random(7)  # noqa: S311 (the same documents each time)
    for _ in range(300):
        cloak = Cloak(
            paths=frozenset(
                tuple(at.choices(NAMES, k=at.randint(1, 2))) for _ in range(at.randint(0, 3))
            ),
            texts=frozenset(at.sample(["DE0212", "5234", "urgent", "ключ"], at.randint(0, 2))),
            numbers=frozenset(at.sample([52_345, 1000, -1000, 10**13], at.randint(0, 2))),
        )
        held = {"args": document(at)}
        assert alike(shown(held, cloak)) == alike(left(held, cloak)), (held, cloak)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("home-phone", True),
        ("HomePHONE", True),
        ("apiKey", True),
        ("api key", True),
        ("API_KEY2", True),
        ("api", False),
        ("discard", False),
        ("emailed", False),
        ("phöne", False),
        ("keyApi", False),
    ],
)
def test_words_in_names_are_the_same(name, hidden):
    assert bool(masking.hides(name)) is hidden
    assert (shown({name: "x"}, masking.BARE) == []) is hidden


@pytest.mark.parametrize("told", ['{"a": NaN}', r'{"a":"\u0000"}', r'["\ud800"]', '{"a":1e999999}'])
def test_what_only_python_reads_is_not_shown_where_something_is_hidden(told):
    cloak = Cloak(paths=frozenset({("pin",)}))
    assert shown({"x": told}, cloak) == []
    assert shown({"x": told}, masking.BARE) != []


def test_no_document_is_too_deep():
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    cloak = Cloak(paths=frozenset({("pin",)}))
    assert shown({"deep": deep, "text": "[" * 9000 + "]" * 9000}, cloak) == []


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_row_is_missed_because_others_go_while_the_first_are_found(limit) -> None:
    """It is looked for in parts: before the second, what stood in the first part is gone."""
    for number in range(8):
        make.run(f"{number}", agent="shows" if number >= limit else "hides")
    likely = Run.objects.filter(idempotency_key=None).order_by("title")

    def and_one_goes(execute: Callable[..., object], sql: str, *args: object) -> object:
        answer = execute(sql, *args)
        if sql.startswith("SELECT"):
            Run.objects.filter(title="0").update(idempotency_key="gone")
        return answer

    with connection.execute_wrapper(and_one_goes):
        found = finding.first(likely, Q(agent="shows"), limit)
    assert [run.title for run in found] == [str(limit + number) for number in range(limit)]
