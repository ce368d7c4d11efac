"""Making an anchor: sign the head, write it down outside, tell others, record it."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts import clock
from audit import models, signing, trail
from audit.anchors import keeping
from audit.anchors.statement import Anchor
from audit.seal import GENESIS
from audit.signatures import stamp
from audit.trail import Actor


def make(*, actor: Actor, accept_unsigned: bool = False, reason: str = "") -> Anchor:
    """Anchor the newest seal. Raises NoSigningKey and AnchorNotWritten; then nothing is recorded.

    The file comes first: should the rest fail, an anchor too many is there, which is as true.
    """
    with transaction.atomic(durable=True):
        head = models.Seal.objects.order_by("-seq").first()
        seq, seal_hash = (head.seq, head.hash) if head else (0, GENESIS)
        now = clock.now()
        accepts = seq if accept_unsigned else 0
        anchor = _signed(Anchor(at=stamp(now), seq=seq, hash=seal_hash, accepts=accepts))
        keeping.append(anchor)
        models.Anchor(
            at=now,
            seq=seq,
            hash=seal_hash,
            accepts=accepts,
            key_id=anchor.key_id,
            signature=anchor.signature,
        ).save(force_insert=True)
        trail.record(
            "log.anchored",
            actor=actor,
            target=("log", str(seq)),
            reason=reason,
            data={"seq": seq, "hash": seal_hash, "accepts": accepts},
        )
        for sink in settings.AUDIT_ANCHOR_SINKS:
            import_string(sink)(anchor)
    return anchor


def _signed(anchor: Anchor) -> Anchor:
    signed = signing.sign(anchor.statement)
    return replace(anchor, key_id=signed.key_id, signature=signed.text)
