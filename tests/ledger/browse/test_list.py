"""The list of the ledger, as a browser without scripts sends for it and gets it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.ledger.conftest import make_run
from tests.ledger.rows import effect, in_doubt, page_of
from tests.support.people import person
from tests.support.web import html_of, link, text_of

OLDEST = "2020-01-01T00:00:00%2B00:00~00000000-0000-0000-0000-000000000000"


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
        ("?run=nonsense", "These filters cannot be used Run: This is not"),
        ("?status=nonsense", "These filters cannot be used Status: Select a valid choice."),
        (f"?after={OLDEST}", "The list ends before this place"),
    ],
)
def test_an_empty_list_says_what_that_means(as_ada, query, words):
    response = as_ada.get(f"/ledger/{query}")
    assert response.status_code == 200
    assert words in text_of(response)


def test_pages_by_key_lead_there_and_back(as_ada, monkeypatch):
    monkeypatch.setattr("ledger.browse.search.PAGE", 2)
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
