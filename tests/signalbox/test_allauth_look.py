"""Pages of allauth in our look."""

from __future__ import annotations

from django.template import Context, Template
from django.utils import translation

from signalbox.templatetags.allauth_look import sentence


def test_a_title_of_a_library_becomes_a_sentence() -> None:
    source = "{% load allauth_look %}{% filter sentence %}\n Change\n Password {% endfilter %}"
    assert Template(source).render(Context()) == "Change password"
    assert sentence("<b>") == "&lt;b&gt;"
    with translation.override("de"):
        assert sentence("Zwei-Faktor-Authentifizierung") == "Zwei-Faktor-Authentifizierung"
