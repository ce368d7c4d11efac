"""The table of verbs."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

from audit.verbs import TONES, VERBS

ICONS = re.findall(r'id="([a-z-]+)"', (settings.BASE_DIR / "static" / "icons.svg").read_text())


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_can_be_shown(name):
    verb = VERBS[name]
    assert re.fullmatch(r"[a-z]+\.[a-z_]+", name)
    assert verb.label
    assert verb.icon in ICONS
    assert verb.tone in TONES
    assert verb.sentence[0].isupper()
    assert verb.sentence.endswith(".")


def test_labels_tell_the_verbs_of_one_thing_apart():
    shown = [(name.partition(".")[0], verb.label) for name, verb in VERBS.items()]
    assert len(set(shown)) == len(shown)
