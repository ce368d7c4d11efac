"""Every error of the audit app. The docstring is the message an operator reads."""

from __future__ import annotations

from accounts import speech


class AuditError(speech.Spoken):
    """Something went wrong with the audit log. Look at the server's log."""


class NotCanonical(AuditError):
    """A value has no canonical JSON form (RFC 8785). Pass it as text."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path}: {what}.")
        self.path = path
        self.what = what


class UnknownVerb(AuditError):
    """The audit log does not know this verb. Add it to `audit.verbs.VERBS`."""

    def __init__(self, verb: str) -> None:
        super().__init__(
            f"The audit log does not know the verb {verb!r}. Add it to `audit.verbs.VERBS`."
        )
        self.verb = verb


class NoSigningKey(AuditError):
    """There is no key to sign with. Set AUDIT_SIGNING_KEY: `manage.py audit_key --new` makes it."""

    http_status = 503


class NotAKey(AuditError):
    """This is not the base64 of a key's 32 bytes. Copy the whole text of the key."""


class AnchorNotWritten(AuditError):
    """An anchor could not be written down. Make room, or name another file in AUDIT_ANCHOR_FILE."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} cannot be written: {why}. Make room, or name another file in"
            " AUDIT_ANCHOR_FILE."
        )


class AnchorsUnreadable(AuditError):
    """A file of anchors cannot be read. Name one that `manage.py anchor` wrote."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} cannot be read as anchors: {why}. Name a file that manage.py anchor wrote;"
            " a line that was cut off when the power failed may be taken out."
        )
