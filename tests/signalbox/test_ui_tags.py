"""The components that every page uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.conf import settings
from django.template import Context, Template
from django.utils import timezone

import approvals.status
import ledger.status
import runs.status
from runs.status import State
from signalbox import visible as visible_text
from signalbox.templatetags import ui

NOW = datetime(2026, 11, 29, 15, 21, 4, 112_345, tzinfo=UTC)


def render(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context)).strip()


def states() -> list[State]:
    tables = [
        getattr(module, name)
        for module in (runs.status, ledger.status, approvals.status)
        for name in dir(module)
        if name.isupper()
    ]
    found = [table for table in tables if isinstance(table, State)]
    return found + [
        state for table in tables if isinstance(table, dict) for state in table.values()
    ]


def test_every_state_of_every_table_can_be_drawn() -> None:
    assert len(states()) > 30
    for state in states():
        html = ui.badge(state)
        assert f"tone-{state.tone}" in html
        assert state.tone in ui.TONES
        assert f"#{state.icon}" in html


def test_every_icon_that_a_template_names_exists() -> None:
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        for piece in path.read_text().split('{% icon "')[1:]:
            assert piece.split('"')[0] in ui.ICONS, path


def test_an_icon_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="unicorn"):
        ui.icon("unicorn")


def test_a_badge_has_an_icon_a_word_and_the_sentence() -> None:
    html = render("{% badge state %}", state=runs.status.STATES["waiting"])
    assert 'class="badge tone-human"' in html
    assert "Waiting for approval" in html
    assert 'title="Paused until a person decides; no worker is held."' in html
    assert "Retrying at 14:03" in render(
        '{% badge state label="Retrying at 14:03" %}', state=runs.status.OVERLAYS["retrying"]
    )


def test_a_tooltip_does_not_say_once_more_what_stands_beside_the_badge() -> None:
    state = runs.status.STATES["waiting"]
    assert "title=" not in ui.badge(state, beside=str(state.sentence))
    assert "title=" in ui.badge(state, beside="deadline in 3 min")


def test_a_relative_time_carries_the_exact_one() -> None:
    html = render("{% when t %}", t=NOW - timedelta(minutes=3), server_now=NOW)
    assert html == (
        '<time datetime="2026-11-29T15:18:04.112Z" title="2026-11-29 15:18:04 UTC" data-relative>'
        "3 min ago</time>"
    )


def test_a_stamp_is_in_the_readers_zone_and_its_tooltip_in_utc_too() -> None:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        html = render('{% stamp t %} {% stamp t "time" %} {% stamp t "ms" %}', t=NOW)
    assert ">2026-11-29 16:21:04<" in html
    assert ">16:21:04.112<" in html
    assert ">2026-11-29 16:21:04.112<" in html
    assert 'title="2026-11-29 16:21:04 CET · 2026-11-29 15:21:04 UTC"' in html
    assert 'datetime="2026-11-29T15:21:04.112Z"' in html


def test_no_time_is_a_dash() -> None:
    dashes = render("{% when t %}{% stamp t %}{{ t|duration }}", t=None)
    assert dashes == "\N{EM DASH}" * 3


def test_filters_of_words() -> None:
    html = render('{{ d|duration }} {{ n|bytes }} {{ m|money:"EUR" }}', d=134, n=2048, m=12000)
    assert html == "2m 14s 2 KB €120.00"


def test_an_id_is_short_and_can_be_copied_whole() -> None:
    html = render("{% ident i %}", i="019acf3e-7b20-7000-8000-0000<c41e>")
    assert ">00&lt;c41e&gt;</code>" in html
    assert 'data-copy="019acf3e-7b20-7000-8000-0000&lt;c41e&gt;"' in html
    assert " hidden>" in html


def test_a_notice_takes_one_action_and_escapes_what_stands_in_it() -> None:
    html = render(
        '{% notice "human" href=url action="Review" %}{{ text }}{% endnotice %}',
        text="<b>",
        url="/a/?b=1&c=2",
    )
    assert 'class="notice tone-human"' in html
    assert '<a href="/a/?b=1&amp;c=2">Review</a>' in html
    assert "&lt;b&gt;" in html
    with pytest.raises(ValueError, match="pink"):
        ui.notice("", "pink")


def test_an_empty_state_says_what_it_means() -> None:
    html = render(
        '{% empty_state "inbox" "Nothing needs you" tone="ok" %}<p>Good.</p>{% endempty_state %}'
    )
    assert "<h2>Nothing needs you</h2><p>Good.</p>" in html
    assert "tone-ok" in html


def test_a_pager_without_pages_is_nothing() -> None:
    assert render("{% pager %}") == ""
    html = render('{% pager older="?after=1" note="50 shown" %}')
    assert 'rel="next"' in html
    assert 'rel="prev"' not in html
    assert "50 shown" in html


class Reason(forms.Form):
    reason = forms.CharField(help_text="Kept in the audit log.", widget=forms.Textarea)
    typed = forms.CharField(required=False)
    sure = forms.BooleanField(label="I understand")
    how = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], widget=forms.RadioSelect)
    token = forms.CharField(widget=forms.HiddenInput)


def test_a_field_is_tied_to_its_label_its_hint_and_its_errors() -> None:
    html = render("{% fields form %}", form=Reason({"token": "t"}))
    assert '<label for="id_reason">' in html
    assert 'aria-describedby="id_reason_helptext id_reason_error"' in html
    assert 'id="id_reason_helptext"' in html
    assert 'id="id_reason_error"' in html
    assert 'aria-invalid="true"' in html
    assert "<legend>How</legend>" in html
    assert html.count("<small>optional</small>") == 1
    assert '<input type="hidden" name="token"' in html
    assert html.count('name="token"') == 1


def test_a_label_can_be_given() -> None:
    html = render('{% field form.typed label="Type c41e" %}', form=Reason())
    assert ">Type c41e <small>" in html


def test_a_live_region_asks_its_address() -> None:
    html = render('<div id="x" {% live url 10 %}></div>', url="/runs/?a=1&b=2")
    assert 'data-live="10"' in html
    assert 'hx-get="/runs/?a=1&amp;b=2"' in html


def test_a_diff_says_in_words_what_its_colours_say() -> None:
    html = render("{% diff a b %}", a={"x": 1, "y": 1}, b={"x": 2, "y": 1})
    assert '<tr class="mod"><td>~<span class="vh"> changed</span></td>' in html
    assert "1 value unchanged" in html
    assert "No difference" in render("{% diff a a %}", a=1)


def test_a_name_breaks_at_its_joints() -> None:
    assert ui.joints("w1@host:7") == "w1@<wbr>host:<wbr>7"
    assert ui.joints("a.b & c_<d>") == "a.<wbr>b &amp; c_&lt;d&gt;"
    assert ui.joints("pay\u202e.x") == visible_text.visible("pay\u202e.x")
