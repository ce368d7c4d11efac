"""Plain mails through the outbox, for what is not a notice of approvals: a subject and a text."""

from __future__ import annotations

import smtplib
from collections.abc import Iterable

from django.core.mail import EmailMessage

from audit import canonical
from ledger import outbox
from ledger.outbox import Letter
from ledger.outcomes import Outcome


def queue(destination: str, to: Iterable[str], subject: str, text: str, *, key: str) -> None:
    """In a transaction: one mail to each address; one for each `key`, however often it is asked."""
    for address in sorted(set(to)):
        letter = {"to": address, "subject": subject, "text": text}
        outbox.add(destination, canonical.visible(letter), dedupe=f"{key} {address}"[:400])


def send(letter: Letter) -> Outcome:
    """The handler of every destination that `queue` is used with."""
    told = letter.payload if isinstance(letter.payload, dict) else {}
    mail = EmailMessage(
        subject=f"[Signalbox] {told.get('subject', '')}",
        body=str(told.get("text", "")),
        to=[str(told.get("to", ""))],
        headers={"Signalbox-Event-Id": str(letter.id)},
    )
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused:
        return Outcome.refused("the mail server does not take mail for this address")
    except (smtplib.SMTPException, OSError) as error:
        return Outcome.unknown(type(error).__name__)
    return Outcome.success("")
