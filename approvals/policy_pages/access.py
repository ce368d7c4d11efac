"""Who may read the policies, and who may change them."""

from __future__ import annotations

from django.http import HttpRequest

from accounts import errors as people
from accounts import groups
from accounts.models import User
from accounts.speech import later as _
from approvals.policies import versions
from runs import web

SEE_REQUESTS = "approvals.view_request"
SEE = "audit.view_entry"


def reader(request: HttpRequest) -> User:
    """Whoever may read the policies. Raises NotPermitted."""
    user = web.reader(request, SEE_REQUESTS)
    if not user.has_perm(SEE):
        raise people.NotPermitted(
            SEE,
            label=_("see the policies in force"),
            groups=groups.right(SEE).groups,
            who=user.label,
        )
    return user


def editor(request: HttpRequest) -> User:
    """Whoever may change them. Raises NotPermitted."""
    return web.reader(request, versions.PERMISSION)
