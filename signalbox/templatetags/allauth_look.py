"""Pages of allauth in our look. `{% load allauth_look %}`, then:

{% filter sentence %}…{% endfilter %}   "Change Password": a heading as a plain sentence
{% filter column %}…{% endfilter %}     a cell in the head of a table
{% allauth_fields form %}               errors of the whole form, then all its fields
"""

from __future__ import annotations

from django import forms, template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from accounts import speech

register = template.Library()


@register.filter
def sentence(text: str) -> SafeString:
    """allauth Writes Its Headings Like This: make a plain sentence of one, in English."""
    plainly = " ".join(conditional_escape(text).split())
    return mark_safe(plainly.capitalize() if speech.is_english() else plainly)  # noqa: S308  # escaped


@register.filter
def column(heading: str) -> SafeString:
    """The first cell of a column of allauth's; one without a heading is no heading."""
    words = heading.strip()
    return mark_safe(f'<th scope="col">{conditional_escape(words)}</th>' if words else "<td></td>")  # noqa: S308  # escaped


@register.inclusion_tag("components/_allauth_fields.html")
def allauth_fields(form: forms.BaseForm) -> dict[str, object]:
    """A form of allauth in our look: it has labels, so no words inside the controls."""
    for one in form.fields.values():
        one.widget.attrs.pop("placeholder", None)
    return {"form": form}
