"""The pages of the ledger, as a browser without scripts sends and gets them."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models import F
from django.urls import reverse

from accounts import clock, proof
from accounts.actors import Actor
from accounts.models import User
from audit import canonical
from audit.models import ClockTimestamp, Entry
from ledger import stops
from ledger.models import Effect, EffectAttempt, Incident, Look, Stop
from runs.models import Lease, Run, Worker
from runs.status import Park
from tests.ledger.conftest import make_run
from tests.support import standing as make
from tests.support.people import PASSWORD, person
from tests.support.web import html_of, link, text_of

ARGS = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}


def effect(run: Run | None = None, *, tool: str = "payments.refund", **fields) -> Effect:
    """One effect of a run, with a call where it says that there was one."""
    run = run or make_run()
    args = fields.pop("args", ARGS)
    key = f"{run.pk}:refund@{uuid4().hex[:8]}:{tool}:{canonical.digest(args)}"
    given = {"step": "refund@t", "status": "sent", "idempotency": "provider", "fence": 1}
    given |= {"idempotency_key": key, "provider_key": key, "attempts": 1} | fields
    return Effect.objects.create(
        run=run, tool=tool, args=args, args_hash=canonical.digest(args), **given
    )


def call(one: Effect, outcome: str = "succeeded", **fields) -> EffectAttempt:
    started = clock.now() - timedelta(minutes=5)
    given = {"number": 1, "provider_key": one.provider_key, "fence": 1, "holder": "w1@host:7"}
    given |= {"started_at": started, "timeout_at": started + timedelta(seconds=20)}
    given |= {"ended_at": None if outcome == "open" else started + timedelta(seconds=2)}
    return EffectAttempt.objects.create(effect=one, outcome=outcome, **given | fields)


def in_doubt(**fields) -> Effect:
    one = effect(status="in_doubt", **fields)
    call(one, "unknown", error="ReadTimeout: no answer within 20 s")
    return one


def asked_in_vain(one: Effect) -> Look:
    """The provider was asked what became of it, and did not answer."""
    given = {"provider_key": one.provider_key, "attempt": 1, "counts": False}
    return Look.objects.create(effect=one, answer="silent", error="No answer", **given)


def page_of(one: Effect, name: str = "effect") -> str:
    return reverse(f"ledger:{name}", args=[one.uid])


@pytest.fixture
def as_ada(client):
    client.force_login(person("Ada"))
    return client


def prove(client) -> None:
    """Sign in once more, as people do who are asked to."""
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


# --- the list -------------------------------------------------------------------------------------


def test_the_list_shows_the_newest_effects_first(as_ada):
    effect(tool="mail.send", provider_ref="msg_1")
    one = effect(provider_ref="re_1")
    text = text_of(as_ada.get("/ledger/"))
    assert text.index("re_1") < text.index("msg_1")
    assert "payments.refund currency EUR · order_id 10382 · amount_cents 60000" in text
    assert "2 done" in text
    assert page_of(one) in html_of(as_ada.get("/ledger/"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=in_doubt", ["carrier.book"]),
        ("status=by_hand", ["mail.send"]),
        ("tool=mail.send", ["mail.send"]),
        ("agent=other", ["carrier.book"]),
        ("q=re_77", ["payments.refund"]),
        ("q=nothing+like+it", []),
        ("status=in_doubt&tool=mail.send", []),
    ],
)
def test_filters_stand_in_the_address(as_ada, query, found):
    in_doubt(run=make_run("other"), tool="carrier.book")
    effect(tool="mail.send", status="confirmed", settled_by="Ada", settle_reason="Seen.")
    effect(provider_ref="re_77")
    html = html_of(as_ada.get(f"/ledger/?{query}")).replace("<wbr>", "")
    rows = html.partition("<tbody>")[2]
    tools = ("carrier.book", "mail.send", "payments.refund")
    assert [name for name in tools if f">{name}<" in rows] == found


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-11-30T00:00:00+23:59",
        "2026-11-30T00:00:00",
        "2026-02-30T00:00:00+00:00",
    ],
)
@pytest.mark.parametrize("page", ["/ledger/", "/ledger/reconcile/"])
def test_places_that_no_list_has_written_are_taken_for_none(as_ada, page, moment):
    for name in ("after", "before", "as_of"):
        asked = {name: f"{moment}~{uuid4()}"}
        assert as_ada.get(page, asked).status_code == 200


def test_a_filter_that_is_wrong_does_not_keep_the_others_from_being_shown(as_ada):
    answer = as_ada.get("/ledger/", {"role": "boss", "person": "Ada"})
    assert "Select a valid choice" in text_of(answer)


def test_the_effects_of_one_run_are_a_filter(as_ada):
    mine, other = effect(provider_ref="re_1"), effect(provider_ref="re_2")
    text = text_of(as_ada.get(f"/ledger/?run={mine.run_id}"))
    assert "re_1" in text
    assert other.provider_ref not in text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Nothing done yet"),
        ("?status=in_doubt", "No effect is in doubt"),
        ("?q=re_1", "No effect for these filters"),
        ("?run=nonsense", "These filters cannot be used"),
        ("?status=nonsense", "These filters cannot be used"),
    ],
)
def test_an_empty_list_says_what_that_means(as_ada, query, words):
    response = as_ada.get(f"/ledger/{query}")
    assert response.status_code == 200
    assert words in text_of(response)


def test_pages_by_key_lead_there_and_back(as_ada, monkeypatch):
    monkeypatch.setattr("ledger.browse.pages.SIZE", 2)
    for number in range(5):
        effect(provider_ref=f"re_{number}")
    seen, address = [], "/ledger/?q=re_"
    for _ in range(3):
        response = as_ada.get(address)
        seen.append([f"re_{n}" for n in range(5) if f"re_{n}" in text_of(response)])
        older = link(response, r'href="([^"]+)" rel="next"')
        newer = link(response, r'href="([^"]+)" rel="prev"')
        address = f"/ledger/{older}"
    assert seen == [["re_3", "re_4"], ["re_1", "re_2"], ["re_0"]]
    assert not older
    assert "q=re_" in newer
    assert "re_2" in text_of(as_ada.get(f"/ledger/{newer}"))


def test_the_list_counts_what_is_new_and_moves_nothing(as_ada):
    effect(provider_ref="re_old")
    live = link(as_ada.get("/ledger/"), r'id="counts"[^>]* hx-get="([^"]+)"')
    effect(status="in_doubt", provider_ref="re_new")
    fragment = as_ada.get(live, headers={"HX-Request": "true"})
    html = html_of(fragment)
    assert "<html" not in html
    assert "1 new: show" in html
    assert "1 in doubt" in html
    assert "re_new" not in html
    assert "HX-Request" in fragment["Vary"]


def test_values_of_people_are_hidden_in_the_list(as_ada):
    effect(args={"email": "eve@example.org", "order_id": "1"})
    assert "eve@example.org" not in html_of(as_ada.get("/ledger/"))


def test_who_may_see_nothing_is_told_which_permission_is_missing(client):
    client.force_login(person("Dee"))
    for address in ("/ledger/", "/ledger/stops/", page_of(effect())):
        response = client.get(address)
        assert response.status_code == 403
        assert "ledger.view_effect" in text_of(response)


# --- one effect -----------------------------------------------------------------------------------


def test_the_page_of_an_effect_tells_everything_about_it(as_ada):
    one = effect(provider_ref="re_2", attempts=2, permit=uuid4(), result={"id": "re_2"})
    call(one, "retryable", http_status=429, error="Too many requests")
    call(one, number=2, provider_ref="re_2", http_status=201, holder="w2@host:9", fence=4)
    Look.objects.create(
        effect=one, provider_key=one.provider_key, attempt=1, answer="absent", counts=False
    )
    text = text_of(as_ada.get(page_of(one)))
    for words in (
        "The provider deduplicates by key",
        "HTTP 429",
        "Too many requests",
        "w2@host:9 fence 4",
        "HTTP 201 re_2",
        "too early to believe a no",
        one.idempotency_key,
        "an approval that you may not see",
    ):
        assert words in text


def test_pages_say_that_an_ended_run_never_performed_an_effect(as_ada):
    one = effect(status="pending", attempts=0, retry_at=clock.now())
    Run.objects.filter(pk=one.run_id).update(status="cancelled", ended_at=ClockTimestamp())
    said = "Not performed; the run has ended."
    page = html_of(as_ada.get(page_of(one)))
    assert f"<p><b>{said}</b></p>" in page
    assert "Nothing was sent." in page
    assert "Tried again" not in page
    for place in ("/ledger/", f"/runs/{one.run_id}/effects/"):
        listed = html_of(as_ada.get(place))
        assert f'title="{said}"' in listed
        assert "Not performed</span>" in listed
    going_on = html_of(as_ada.get(page_of(effect(status="pending", attempts=0))))
    assert said not in going_on
    assert "Nothing has been sent yet." in going_on


def test_a_second_success_is_shown_at_the_top(as_ada):
    one = effect()
    Incident.objects.create(kind="duplicate", run=one.run, effect=one, facts={"second": "re_B"})
    text = text_of(as_ada.get(page_of(one)))
    assert "A second success for one effect." in text
    assert "re_B" in text


def test_hidden_values_of_an_effect_are_shown_to_who_may_and_that_is_recorded(as_ada, client):
    one = effect(args={"email": "eve@example.org"}, result={"card": "4242"})
    assert "eve@example.org" not in html_of(as_ada.get(page_of(one)))
    assert "2 values hidden" in text_of(as_ada.get(page_of(one)))
    shown = html_of(as_ada.get(page_of(one) + "?reveal=1"))
    assert "eve@example.org" in shown
    assert Entry.objects.get(verb="payload.viewed").data == {"what": f"effect {one.uid}"}
    client.force_login(person("Cy"))
    assert client.get(page_of(one) + "?reveal=1").status_code == 403


def test_hostile_text_of_a_provider_is_shown_as_text(as_ada):
    evil = "<img src=x onerror=alert(1)>\u202e"
    one = effect(provider_ref=evil, error=evil, args={evil: evil}, result={"a": evil})
    call(one, "refused", error=evil, provider_ref=evil, response={evil: evil})
    for address in (page_of(one), "/ledger/", f"/ledger/?q={evil}"):
        response = as_ada.get(address)
        assert "<img" not in html_of(response)
        assert "\u202e" not in text_of(response)
        assert r"\u{202E}" in text_of(response)


def test_an_effect_tells_what_the_audit_log_says_to_who_may_read_it(as_ada, client):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one))
    client.force_login(person("Cy"))
    assert "In the audit log" in text_of(client.get(page_of(one)))
    client.force_login(person("Ben"))
    assert "In the audit log" not in text_of(client.get(page_of(one)))


def test_an_unknown_effect_is_not_found(as_ada):
    assert as_ada.get(reverse("ledger:effect", args=[uuid4()])).status_code == 404


# --- settling -------------------------------------------------------------------------------------


def settlement(one: Effect, **more: str) -> dict[str, str]:
    sent = {"verdict": "happened", "reference": "re_9", "reason": "Seen in the dashboard."}
    return sent | {"typed": str(one.uid)[-4:]} | more


def test_an_effect_in_doubt_is_settled_by_hand(as_ada):
    one = in_doubt()
    assert page_of(one, "settle") in html_of(as_ada.get(page_of(one)))
    prove(as_ada)
    response = as_ada.post(page_of(one, "settle"), settlement(one))
    assert response["Location"] == page_of(one)
    one.refresh_from_db()
    assert (one.status, one.provider_ref, one.settled_by) == ("confirmed", "re_9", "Ada")
    text = text_of(as_ada.get(page_of(one)))
    assert "Settled: it happened." in text
    assert "Seen in the dashboard." in text


def test_what_the_verdict_makes_necessary_is_not_called_optional(as_ada):
    text = text_of(as_ada.get(page_of(in_doubt(), "settle")))
    assert "The provider's reference Required if it happened" in text
    assert "Evidence optional" in text


def test_saying_that_it_did_not_happen_allows_one_attempt(as_ada):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one, verdict="did_not_happen", reference=""))
    one.refresh_from_db()
    assert (one.status, one.retry_allowed) == ("pending", True)
    assert "one more allowed" in text_of(as_ada.get(page_of(one)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": ""}, "Choose what you found out."),
        ({"verdict": "perhaps"}, "Select a valid choice"),
        ({"reference": ""}, "Say what proves that it happened."),
        ({"reason": " "}, "A reason is required."),
        ({"typed": "nope"}, "Is it the right effect?"),
    ],
)
def test_a_settlement_that_lacks_something_changes_nothing_and_is_kept(as_ada, change, words):
    one = in_doubt()
    prove(as_ada)
    response = as_ada.post(page_of(one, "settle"), settlement(one) | change)
    assert response.status_code == 422
    assert words in text_of(response)
    if "reason" not in change:
        assert "Seen in the dashboard." in html_of(response)
    one.refresh_from_db()
    assert one.status == "in_doubt"


def test_settling_wants_a_recent_sign_in_and_does_nothing_on_the_way_back(as_ada):
    one = in_doubt()
    asked = as_ada.post(page_of(one, "settle"), settlement(one))
    assert asked["Location"].startswith("/accounts/reauthenticate/?next=")
    back = as_ada.post(asked["Location"], {"password": PASSWORD})
    assert back["Location"] == page_of(one, "settle")
    page = as_ada.get(back["Location"])
    assert "Nothing was settled yet" in text_of(page)
    assert "Seen in the dashboard." in html_of(page)
    one.refresh_from_db()
    assert one.status == "in_doubt"
    as_ada.post(page_of(one, "settle"), settlement(one))
    one.refresh_from_db()
    assert one.status == "confirmed"
    assert not as_ada.session.get(proof.KEPT)


def test_who_is_second_learns_who_was_first(as_ada, client):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one))
    response = as_ada.post(page_of(one, "settle"), settlement(one, verdict="did_not_happen"))
    assert response.status_code == 409
    text = text_of(response)
    assert "Ada has settled this effect" in text
    assert "There is nothing to settle" in text


def test_who_may_not_settle_sees_no_way_to(client):
    one = in_doubt()
    client.force_login(person("Cy"))
    assert page_of(one, "settle") not in html_of(client.get(page_of(one)))
    for method in (client.get, client.post):
        response = method(page_of(one, "settle"))
        assert response.status_code == 403
        assert "ledger.settle_effect" in text_of(response)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("holds", "Still drives the run"),
        ("alive", "Alive"),
        ("quiet", "Quiet"),
        ("gone", "Known to have ended"),
    ],
)
def test_the_page_says_what_is_known_of_the_worker_that_made_the_call(as_ada, state, words):
    one = in_doubt()
    if state == "holds":
        Lease.objects.filter(pk=one.run_id).update(
            fence=1, expires_at=ClockTimestamp() + timedelta(minutes=1)
        )
    else:
        Lease.objects.filter(pk=one.run_id).update(fence=4)
    if state != "gone":
        Worker.objects.create(name="w1@host", hostname="host", pid=7)
    if state == "quiet":
        Worker.objects.update(seen_at=F("seen_at") - timedelta(hours=1))
    text = text_of(as_ada.get(page_of(one, "settle")))
    Worker.objects.all().delete()
    assert f"w1@host:7 {words}" in text
    assert ("the run is at fence 4 now" in text) is (state != "holds")


def test_looking_at_a_settlement_changes_nothing(as_ada):
    one = in_doubt()
    before = Entry.objects.count()
    for method in (as_ada.get, as_ada.head, as_ada.options):
        method(page_of(one, "settle"), {"verdict": "happened"}, headers={"Sec-Purpose": "prefetch"})
    one.refresh_from_db()
    assert one.status == "in_doubt"
    assert Entry.objects.count() == before


# --- emergency stops ------------------------------------------------------------------------------


def test_a_stop_is_set_shown_everywhere_and_lifted(as_ada):
    sent = {"scope": "tool", "name": "payments.refund", "reason": "The provider answers twice."}
    assert as_ada.post("/ledger/stops/", sent)["Location"] == "/ledger/stops/"
    stop = Stop.objects.get()
    assert (stop.scope, stop.name, stop.set_by) == ("tool", "payments.refund", "Ada")
    assert "The tool payments.refund is stopped." in text_of(as_ada.get("/ledger/"))
    page = as_ada.get("/ledger/stops/")
    assert "The provider answers twice." in text_of(page)

    address = reverse("ledger:lift", args=[stop.pk])
    assert address in html_of(page)
    assert "Lift this stop?" in text_of(as_ada.get(address))
    assert as_ada.post(address, {"reason": ""}).status_code == 422
    assert Stop.objects.filter(lifted_at__isnull=True).exists()
    as_ada.post(address, {"reason": "It answers once again."})
    assert "Nothing is stopped" in text_of(as_ada.get("/ledger/stops/"))
    again = as_ada.post(address, {"reason": "Once more."})
    assert again.status_code == 409
    assert "Ada has lifted" in text_of(again)


def test_who_lifts_a_stop_sees_first_what_goes_on_then(as_ada):
    ada = User.objects.get(first_name="Ada")
    stop = stops.set("everything", "", actor=Actor.person(ada, entry="page"), reason="x")
    address = reverse("ledger:lift", args=[stop.pk])
    assert "No run that you see is parked" in text_of(as_ada.get(address))
    held = make.parked(Park.EMERGENCY_STOP, "Refund order 10405")
    make.parked(Park.BAD_ANSWER, "Refund order 10340")
    page = as_ada.get(address)
    assert reverse("runs:run", args=[held.pk]) in html_of(page)
    assert "10405" in text_of(page)
    assert "10340" not in text_of(page)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": ""}, "Choose what to stop."),
        ({"scope": "everything"}, "Leave this empty to stop everything."),
        ({"name": ""}, "Name the agent or the tool."),
        ({"reason": ""}, "A reason is required."),
    ],
)
def test_a_stop_that_lacks_something_is_not_set_and_is_kept(as_ada, change, words):
    sent = {"scope": "agent", "name": "refund_desk", "reason": "Wrong totals."}
    response = as_ada.post("/ledger/stops/", sent | change)
    assert response.status_code == 422
    assert words in text_of(response)
    assert "reason" in change or "Wrong totals." in html_of(response)
    assert not Stop.objects.exists()


def test_a_stop_that_is_on_is_not_set_twice(as_ada):
    sent = {"scope": "everything", "name": "", "reason": "Restore."}
    as_ada.post("/ledger/stops/", sent)
    response = as_ada.post("/ledger/stops/", sent)
    assert response.status_code == 409
    assert "already on" in text_of(response)
    assert Stop.objects.count() == 1


def test_who_may_not_stop_sees_what_is_stopped_and_no_more(client):
    stop = Stop.objects.create(scope="everything", reason="Restore.", set_by="Ada")
    client.force_login(person("Ben"))
    page = client.get("/ledger/stops/")
    assert "Restore." in text_of(page)
    assert "Stop something" not in text_of(page)
    sent = {"scope": "tool", "name": "x", "reason": "y"}
    assert client.post("/ledger/stops/", sent).status_code == 403
    assert client.post(reverse("ledger:lift", args=[stop.pk]), {"reason": "z"}).status_code == 403
    assert Entry.objects.filter(verb="stop.refused", actor_label="Ben").exists()
    stop.refresh_from_db()
    assert stop.lifted_at is None


def test_the_list_hides_addresses_and_cards_under_any_name(as_ada):
    effect(args={"to": "eve@example.org", "subject": "Hello", "from": "4242 4242 4242 4242"})
    page = text_of(as_ada.get("/ledger/"))
    assert "to hidden (email)" in page
    assert "from hidden (card)" in page


def test_parts_of_hidden_values_find_nothing_for_who_may_not_see_them(as_ada, client):
    effect(args={"email": "eve@example.org"})
    assert "payments.refund" in text_of(as_ada.get("/ledger/?q=eve@"))
    client.force_login(person("Cy"))
    assert "No effect for these filters" in text_of(client.get("/ledger/?q=eve@"))
