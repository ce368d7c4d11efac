"""What somebody is expected to do about a run now, as notices above its pages."""

from __future__ import annotations

from django.utils.translation import gettext as _

from accounts import speech
from accounts.models import User
from runs import ports
from runs.advice import blocks, house, telling
from runs.models import Run
from runs.queries import Row
from runs.status import Status
from runs.story import Notice
from runs.story import told as sentence


def of(row: Row, user: User) -> list[Notice]:
    """The most pressing first: what the layers above tell, then the advice about the run itself."""
    run = row.run
    told = [notice for story in ports.stories() if (notice := story.notice(run, user))]
    if run.cancel_asked_at and not run.ended:
        told = [notice for notice in told if notice.key in blocks.OUTLIVES]
    elif run.status == Status.WAITING and not told:  # for a question that this person may not see
        told.append(telling.notice("waiting", run, user))
    elif run.park_reason in blocks.TOLD_ABOVE and not told:  # and there is nothing left to tell
        told.append(telling.notice("parked.waking", run, user))
    told += telling.notices(run, row.standing, house.look(), user)
    return told + _erased(run) if run.ended else told


def _erased(run: Run) -> list[Notice]:
    """What retention has taken away of it."""
    labels = {keeper.kind: keeper.label for keeper in ports.keepers()}
    gone = list(run.erasures.order_by("at", "pk"))
    if not gone:
        return []
    named = ", ".join(speech.inside(labels.get(each.kind, each.kind)) for each in gone)
    text = sentence(
        _("Erased because the run ended long ago: {named}; last {at}."), named=named, at=gone[-1].at
    )
    return [Notice(tone="neutral", text=text)]
