"""The list of keys says what the script does, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from signalbox import context
from signalbox.shortcuts import table
from tests.support.people import person

SCRIPT = Path(settings.BASE_DIR, "static/js/keys.js")
TEMPLATES = Path(settings.BASE_DIR, "templates")


def test_every_key_of_the_script_is_listed() -> None:
    block = re.search(r"const KEYS = \{(.*?)^\};", SCRIPT.read_text(), re.DOTALL | re.MULTILINE)
    assert block is not None
    scripted = {
        quoted or bare for quoted, bare in re.findall(r'^  (?:"(.)"|(\w)):', block[1], re.M)
    }
    marked = set()
    for path in TEMPLATES.rglob("*.html"):
        marked |= set(re.findall(r'data-key="(\S)"', path.read_text()))
    groups = (table.EVERYWHERE, table.LISTS, table.REQUEST)
    listed = {each for group in groups for key in group.keys for each in key.keys if len(each) == 1}
    assert scripted | marked == listed - {"K"}


def test_no_two_places_of_the_menu_have_one_key() -> None:
    keys = [place.key for place in context.PLACES]
    assert len(set(keys)) == len(keys)


@pytest.mark.django_db
def test_the_list_names_the_places_that_somebody_may_see(client) -> None:
    client.force_login(person("Ben"))
    page = client.get("/keys/").text
    assert "<dd>Approvals</dd>" in page
    assert "<dd>Audit</dd>" not in page
    assert "<html" not in client.get("/keys/", headers={"HX-Request": "true"}).text


@pytest.mark.django_db
def test_the_list_says_that_keys_are_switched_off(client) -> None:
    client.force_login(person("Ben", shortcuts=False))
    assert "Single keys are switched off" in client.get("/keys/").text
    assert 'data-keys="off"' in client.get("/keys/").text
