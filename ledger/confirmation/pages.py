"""The address at which providers tell what has become of effects: `/hooks/<provider>/`.

Nobody signs in here: the signature alone says who tells. Every answer is short and says nothing
that its caller does not know.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from ledger.confirmation import hooks, inbox, signature
from ledger.confirmation.news import BadEvent
from ledger.confirmation.recording import TooEarly
from ledger.confirmation.signature import BadSignature

RETRY_AFTER = 5
"""Seconds after which a provider may try an event again that came too early."""


@csrf_exempt
@login_not_required
@never_cache
@require_POST
def receive(request: HttpRequest, provider: str) -> JsonResponse:
    """Take one event.

    200: it is recorded, or was already. 400: not proved or not readable. 404: nobody of this name
    is expected. 413: too long. 503: too early, deliver it again.
    """
    hook = hooks.find(provider)
    if hook is None:
        raise Http404
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.LEDGER_HOOK_LIMIT:
        inbox.refuse(provider, "it is too long")
        return JsonResponse({"refused": "it is too long"}, status=413)
    try:
        header = request.headers.get(signature.HEADER, "")
        heard = inbox.take(hook, header, request.body)
    except (BadSignature, BadEvent) as refusal:
        inbox.refuse(provider, str(refusal))
        return JsonResponse({"refused": str(refusal)}, status=400)
    except TooEarly:
        return JsonResponse(
            {"refused": "too early"}, status=503, headers={"Retry-After": str(RETRY_AFTER)}
        )
    return JsonResponse({"heard": heard.value})
