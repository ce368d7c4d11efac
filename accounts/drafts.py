"""What stands in a form that arrives when its writer's session has ended: kept for them alone.

1. The page of the form was made for somebody, and its form carries their signed name (`sign`).
2. Kept is only what the view lists (`keeps`): no passwords, no codes, nothing typed to confirm. It
   is kept on the server, in the session of this browser.
3. Once the same person has signed in, in this browser, it stands in the form again
   (`accounts.proof.kept`). Whoever else signs in there does not get it, and it is forgotten.
4. Nothing is sent by itself: what the form was for has not been done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase, QueryDict

from accounts import proof
from accounts.models import User

WRITER = "writer"
"""The field of a form that says for whom its page was made."""
_SALT = "accounts.drafts"

View = Callable[..., HttpResponseBase]
Typed = Callable[[QueryDict], dict[str, str]]
V = TypeVar("V", bound=View)


def sign(user: User) -> str:
    """For the field WRITER of a form on a page of theirs."""
    return signing.dumps(str(user.pk), salt=_SALT)


def keeps(*names: str, typed: Typed | None = None) -> Callable[[V], V]:
    """Mark a view: these fields of its form are kept, or what `typed` makes of the form.

    Its GET must put what `proof.kept` returns into the form again.
    """

    def mark(view: V) -> V:
        view.__dict__["draft"] = typed or (lambda sent: fields(sent, names))
        return view

    return mark


def fields(sent: QueryDict, names: tuple[str, ...]) -> dict[str, str]:
    return {name: str(sent[name]) for name in names if name in sent}


def keep(request: HttpRequest, view: View) -> bool:
    """Keep what somebody sent whose session has ended; whether there was anything to keep."""
    typed: Typed | None = getattr(view, "draft", None)
    writer = _writer(request)
    if typed is None or not writer:
        return False
    proof.keep(request, typed(request.POST), owner=writer)
    return True


def _writer(request: HttpRequest) -> str:
    """The id of the person for whom the form's page was made; empty if it does not say."""
    age = settings.SESSION_COOKIE_AGE
    try:
        return str(signing.loads(request.POST.get(WRITER, ""), salt=_SALT, max_age=age))
    except signing.BadSignature:
        return ""
