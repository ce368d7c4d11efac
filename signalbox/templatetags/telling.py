"""What a run is and says, in lists and on pages. `{% load telling %}`, then:

{% badges row.standing %}     the state of a run, and what is true besides
{% phrase notice.text %}      text of strangers with moments in it: see `runs.story.Phrase`

Written here and not as templates: a list has hundreds of them.
"""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from runs.standing import Standing
from runs.story import Phrase, Piece
from signalbox.templatetags import ui

register = template.Library()


@register.simple_tag
def badges(standing: Standing) -> SafeString:
    shown = (standing.main, *standing.also)
    said = "".join(piece.text for piece in standing.reason)
    drawn = (ui.badge(each.state, each.label, beside=said) for each in shown)
    return format_html_join(" ", "{}", ((each,) for each in drawn))


@register.simple_tag(takes_context=True)
def phrase(context: Context, pieces: Phrase) -> SafeString:
    return format_html_join("", "{}", ((_piece(context, each),) for each in pieces))


def _piece(context: Context, piece: Piece) -> SafeString | str:
    if piece.at is None:
        return ui.visible(piece.text)
    return ui.stamp(piece.at, "time") if piece.exact else ui.when(context, piece.at)
