"""What the pages of a seeded database ask the database for: as much for few rows as for many."""

from __future__ import annotations

import json

from tests.signalbox.seeded.conftest import run, seeding


def asked(env) -> dict[str, int]:
    """How many questions each page asks, by its name."""
    said = run(env, "-m", "benchmarks.pages", "--state", env["SIGNALBOX_STATE"], "--rounds", "2")
    return {page["name"]: page["queries"] for page in json.loads(said.stdout)["pages"]}


def test_no_page_asks_more_questions_the_more_there_is(seeded):
    with seeding(20, steps=5) as env:
        few = asked(env)
    many = asked(seeded)
    assert {name: (few[name], many[name]) for name in few if many[name] > few[name]} == {}
