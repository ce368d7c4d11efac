"""Advices as notices and links, for one reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import speech
from accounts.models import User
from runs import stop
from runs.advice import blocks, whom
from runs.advice.house import House
from runs.advice.table import ADVICES, Advice
from runs.models import Run
from runs.standing import Standing
from runs.status import Status
from runs.story import Notice, Phrase, phrase
from runs.story import told as sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do about a run, in short: for a row of a list."""

    says: str
    url: str = ""
    action: str = ""


def notices(run: Run, stands: Standing, house: House, user: User) -> Iterator[Notice]:
    """What holds the run up and what to do, for this reader; what the layers above tell left out.

    That a run waits for a worker as it should is no news.
    """
    for key in blocks.keys(run, stands, house):
        if key != "queued":
            yield notice(key, run, user, told=_detail(run, key))


def steps(run: Run, stands: Standing, house: House, user: User) -> list[Step]:
    """The same in short: the sentence that says what to do, and the link."""
    return [_step(key, run, user) for key in blocks.keys(run, stands, house)]


def notice(  # noqa: PLR0913 (the parts of a notice)
    key: str,
    run: Run,
    user: User,
    *,
    told: Phrase = (),
    url: str = "",
    look_url: str = "",
    also: Iterable[str] = (),
) -> Notice:
    """The advice of this key for this reader.

    `told` says more precisely what is wrong, and stands in the place of the advice's own words;
    `url` is the place where it is done, `look_url` where it can be looked at, if that is another;
    `also` are more sentences.
    """
    advice = ADVICES[key]
    may = _may(advice, user)
    ask = () if may else (whom.to_ask(advice.permission),)
    said = told or phrase(str(advice.wrong))
    place = url or _place(advice, run)
    seen = place if may else (look_url or place) if advice.look else ""
    action = advice.action if may else advice.look
    return Notice(
        key=key,
        tone=advice.tone,
        text=said + phrase(*(f" {each}" for each in (str(advice.todo), *also, *ask))),
        url=seen if action else "",
        action=str(action) if seen else "",
    )


def _detail(run: Run, key: str) -> Phrase:
    """What is known of this run besides the sentence of the table."""
    wrong = str(ADVICES[key].wrong)
    if run.cancel_asked_at and not run.ended:
        why = run.cancel_reason.rstrip(".")
        asked = _("%(person)s asked to cancel ") % {"person": run.cancelled_by}
        return phrase(asked, run.cancel_asked_at, f": {why}.")
    if run.status == Status.PARKED:
        detail = speech.shown(run.park_detail).strip().rstrip(".")
        return phrase(wrong, f" {detail}." if detail else "")
    if key == "retrying":
        return sentence(
            _("An error may pass by itself, so the run is tried again {at}."), at=run.due_at
        )
    if key == "failed" and (run.error_class or run.error):
        return phrase(stop.told(run.error_class, run.error).removesuffix("."), ".")
    return phrase(wrong)


def _step(key: str, run: Run, user: User) -> Step:
    told = notice(key, run, user)
    advice = ADVICES[key]
    ask = "" if _may(advice, user) else f" {whom.to_ask(advice.permission)}"
    return Step(says=f"{advice.todo}{ask}", url=told.url, action=told.action)


def _may(advice: Advice, user: User) -> bool:
    return not advice.permission or user.has_perm(advice.permission)


def _place(advice: Advice, run: Run) -> str:
    if advice.place == "runs:new":
        return f"{reverse(advice.place)}?agent={run.agent}"
    if advice.place == "runs:workers":
        return reverse(advice.place)
    return reverse(advice.place, args=[run.pk]) if advice.place else ""
