"""fakepay performs, deduplicates and misbehaves as told, and its storage tells the truth."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.agents.fakepay_process import MODULE, Fakepay, python, running, wait_until


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fakepay]:
    with running(tmp_path_factory.mktemp("fakepay") / "fakepay.sqlite3") as fakepay:
        yield fakepay


@pytest.fixture
def fakepay(shared: Fakepay) -> Fakepay:
    """A process shared by the tests, in its first state: empty, switches as started."""
    shared.http.delete("/_control/faults")
    shared.http.post("/_control", json={"dedup": True, "visibility_delay": 0})
    shared.change("DELETE FROM keys; DELETE FROM refunds; DELETE FROM mails; DELETE FROM requests")
    return shared


# --- the process ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_asked_to_even_while_it_serves_a_request(tmp_path: Path, stop) -> None:
    with running(tmp_path / "f.sqlite3") as fakepay, ThreadPoolExecutor() as pool:
        cut = pool.submit(fakepay.refund, Fault="delay:60")
        wait_until(lambda: fakepay.rows("SELECT key FROM keys"))
        fakepay.process.send_signal(stop)
        assert fakepay.process.wait(timeout=10) == 0
        with pytest.raises(httpx.TransportError):
            cut.result()


def test_a_taken_port_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = python(*MODULE, "--port", port, "--storage", str(tmp_path / "f.sqlite3"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr


def test_an_unusable_storage_is_told_in_one_line(tmp_path: Path) -> None:
    done = python(*MODULE, "--port", "0", "--storage", str(tmp_path / "missing" / "f.sqlite3"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_wrong_usage_exits_with_2(tmp_path: Path) -> None:
    done = python(*MODULE, "--storage", str(tmp_path / "f.sqlite3"), "--visibility-delay", "-1")
    assert done.returncode == 2


def test_the_server_imports_nothing_of_django_or_signalbox() -> None:
    code = (
        "import sys, agents.fakepay.__main__\n"
        "own = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(own & {'django', 'signalbox', 'runs', 'ledger', 'httpx'}))"
    )
    assert python("-c", code).stdout == "[]\n"


# --- refunds and mails ---------------------------------------------------------------------------


def test_a_refund_is_performed_recorded_and_found(fakepay: Fakepay) -> None:
    refund = fakepay.refund("k-1", cents=1999, order="A-7").json()
    assert refund["id"].startswith("re_")
    assert (refund["order_id"], refund["amount_cents"], refund["key"]) == ("A-7", 1999, "k-1")
    assert fakepay.rows("SELECT id, key, order_id, amount_cents, currency FROM refunds") == [
        (refund["id"], "k-1", "A-7", 1999, "EUR")
    ]
    assert fakepay.http.get(f"/v1/refunds/{refund['id']}").json() == refund
    assert fakepay.http.get("/v1/refunds", params={"key": "k-1"}).json()["data"] == [refund]
    assert fakepay.http.get("/v1/refunds", params={"key": "k-2"}).json()["data"] == []


def test_a_mail_is_sent_once_per_key_and_found(fakepay: Fakepay) -> None:
    body = {"to": "ada@example.org", "subject": "Refund", "text": "Dear Ada,\n…", "order_id": "A-1"}
    sent = [
        fakepay.http.post("/v1/mails", json=body, headers={"Idempotency-Key": "m-1"})
        for _ in range(2)
    ]
    assert sent[0].text == sent[1].text
    mail = sent[0].json()
    assert mail["id"].startswith("ml_")
    assert fakepay.rows("SELECT recipient, text FROM mails") == [(body["to"], body["text"])]
    assert fakepay.http.get(f"/v1/mails/{mail['id']}").json() == mail
    assert fakepay.http.get("/v1/mails", params={"key": "m-1"}).json()["data"] == [mail]


def test_every_request_is_recorded_with_its_end(fakepay: Fakepay) -> None:
    fakepay.refund("k-1", Fault="delay:0")
    fakepay.http.get("/v1/refunds", params={"key": "k-1"})
    fakepay.http.get("/v1/refunds/re_none")
    fakepay.http.delete("/v1/refunds")
    assert fakepay.rows("SELECT method, path, key, fault, answer FROM requests ORDER BY id") == [
        ("POST", "/v1/refunds", "k-1", "delay:0", "200"),
        ("GET", "/v1/refunds", "k-1", "", "200"),
        ("GET", "/v1/refunds/re_none", None, "", "404"),
        ("DELETE", "/v1/refunds", None, "", "405"),
    ]


def test_a_request_that_does_not_arrive_whole_performs_nothing(fakepay: Fakepay) -> None:
    host, _, port = fakepay.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"POST /v1/refunds HTTP/1.1\r\nContent-Length: 80\r\n\r\n{")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert fakepay.answers() == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"order_id": "A-1", "amount_cents": 1200}', 422),
        (b'{"order_id": "A-1", "amount_cents": 0, "currency": "EUR"}', 422),
        (b'{"order_id": "A-1", "amount_cents": true, "currency": "EUR"}', 422),
        (b'{"order_id": "A-1", "amount_cents": 12.0, "currency": "EUR"}', 422),
        (b'{"order_id": "A-1", "amount_cents": 1200, "currency": "euros"}', 422),
        (b'{"order_id": "A\\n1", "amount_cents": 1200, "currency": "EUR"}', 422),
        (b'{"order_id": "A-1", "amount_cents": 1200, "currency": "EUR", "reason": "\\ud800"}', 422),
        (b'{"order_id": "A-1", "amount_cents": 1200, "currency": "EUR", "to": "B"}', 422),
    ],
)
def test_what_fails_validation_performs_and_stores_nothing(
    fakepay: Fakepay, body: bytes, status: int
) -> None:
    answer = fakepay.http.post("/v1/refunds", content=body, headers={"Idempotency-Key": "k-1"})
    assert answer.status_code == status
    assert fakepay.refunds() == 0
    assert fakepay.refund("k-1").status_code == 200


def test_a_key_has_at_most_255_characters(fakepay: Fakepay) -> None:
    assert fakepay.refund("k" * 255).status_code == 200
    assert fakepay.refund("k" * 256).status_code == 400
    assert fakepay.refunds() == 1


# --- deduplication -------------------------------------------------------------------------------


def test_the_same_key_gets_the_same_answer_and_one_refund(fakepay: Fakepay) -> None:
    first, second = fakepay.refund("k-1"), fakepay.refund("k-1")
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.text == second.text
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert fakepay.refunds() == 1


def test_the_same_key_with_other_parameters_is_refused(fakepay: Fakepay) -> None:
    fakepay.refund("k-1", cents=1200)
    other = fakepay.refund("k-1", cents=1201)
    assert other.status_code == 400
    assert other.json()["error"]["type"] == "idempotency_error"
    assert fakepay.refunds() == 1
    assert fakepay.refund("k-1", cents=1200).status_code == 200


def test_requests_without_a_key_all_perform(fakepay: Fakepay) -> None:
    assert [fakepay.refund(None).status_code for _ in range(2)] == [200, 200]
    assert fakepay.refunds() == 2


@pytest.mark.race
def test_a_key_in_flight_answers_409_and_that_is_not_stored(fakepay: Fakepay) -> None:
    with ThreadPoolExecutor() as pool:
        first = pool.submit(fakepay.refund, "k-1", Fault="delay:1.5")
        wait_until(lambda: fakepay.rows("SELECT key FROM keys"))
        second = fakepay.refund("k-1")
        assert second.status_code == 409
        assert second.json()["error"]["code"] == "in_progress"
        assert first.result().status_code == 200
    assert fakepay.refund("k-1").text == first.result().text
    assert fakepay.refunds() == 1


@pytest.mark.race
def test_twenty_requests_with_one_key_at_once_make_one_refund(fakepay: Fakepay) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: fakepay.refund("k-1", Fault="delay:0.2"), range(20)))
    told = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert told
    assert len({answer.text for answer in told}) == 1
    assert fakepay.refunds() == 1
    assert len(fakepay.answers()) == 20


def test_without_deduplication_every_request_refunds(tmp_path: Path) -> None:
    with running(tmp_path / "f.sqlite3", "--no-dedup") as fakepay:
        assert len({fakepay.refund("k-1").json()["id"] for _ in range(3)}) == 3
        assert fakepay.refunds() == 3


def test_deduplication_is_switched_while_it_runs_or_for_one_request(fakepay: Fakepay) -> None:
    fakepay.refund("k-1")
    fakepay.refund("k-1", Dedup="off")
    assert fakepay.refunds() == 2
    fakepay.http.post("/_control", json={"dedup": False})
    fakepay.refund("k-1")
    assert fakepay.refunds() == 3
    fakepay.http.post("/_control", json={"dedup": True})
    assert "Idempotent-Replayed" in fakepay.refund("k-1").headers
    assert fakepay.refunds() == 3


def test_look_ups_by_key_hide_what_is_younger_than_the_visibility_delay(tmp_path: Path) -> None:
    with running(tmp_path / "f.sqlite3", "--visibility-delay", "3600") as fakepay:
        refund = fakepay.refund("k-1").json()

        def found() -> list[object]:
            answer = fakepay.http.get("/v1/refunds", params={"key": "k-1"})
            return list(answer.json()["data"])

        assert found() == []
        assert fakepay.http.get(f"/v1/refunds/{refund['id']}").status_code == 200
        fakepay.change("UPDATE refunds SET at = strftime('%Y-%m-%dT%H:%M:%fZ', at, '-1 hour')")
        assert found() != []


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "status", "refunds", "after"),
    [
        ("500_before", 500, 0, (500, 0)),
        ("500_after", 500, 1, (500, 1)),
        ("402", 402, 0, (402, 0)),
        ("429:7", 429, 0, (200, 1)),
        ("409", 409, 0, (200, 1)),
        ("503", 503, 0, (200, 1)),
        ("drop_before", None, 0, (200, 1)),
        ("drop_after", None, 1, (200, 1)),
        ("500_after,drop_after", None, 1, (500, 1)),
        ("delay:0.01,500_before,drop_after", None, 0, (500, 0)),
    ],
)
def test_a_fault_shows_as_told_and_the_key_remembers_what_ran(
    fakepay: Fakepay, fault: str, status: int | None, refunds: int, after: tuple[int, int]
) -> None:
    if status is None:
        with pytest.raises(httpx.RemoteProtocolError):
            fakepay.refund("k-1", Fault=fault)
    else:
        assert fakepay.refund("k-1", Fault=fault).status_code == status
    assert fakepay.refunds() == refunds
    assert fakepay.answers() == [str(status) if status else "dropped"]
    assert (fakepay.refund("k-1").status_code, fakepay.refunds()) == after


def test_429_says_when_to_come_back(fakepay: Fakepay) -> None:
    assert fakepay.refund(Fault="429").headers["Retry-After"] == "1"
    assert fakepay.refund(Fault="429:7").headers["Retry-After"] == "7"


@pytest.mark.parametrize(("fault", "refunds"), [("delay:1.5", 0), ("delay_after:1.5", 1)])
def test_a_delay_comes_before_or_after_performing(
    fakepay: Fakepay, fault: str, refunds: int
) -> None:
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(fakepay.refund, "k-1", Fault=fault)
        wait_until(lambda: fakepay.refunds() == refunds and fakepay.rows("SELECT key FROM keys"))
        assert fakepay.refund("k-1").status_code == 409
        assert (fakepay.refunds(), slow.done()) == (refunds, False)
        assert slow.result().elapsed.total_seconds() >= 1.5
    assert fakepay.refunds() == 1


def test_a_replay_can_be_dropped_as_well(fakepay: Fakepay) -> None:
    fakepay.refund("k-1")
    with pytest.raises(httpx.RemoteProtocolError):
        fakepay.refund("k-1", Fault="drop_after")
    assert fakepay.answers() == ["200", "dropped"]
    assert fakepay.refunds() == 1


def test_a_look_up_can_fail_too(fakepay: Fakepay) -> None:
    fakepay.arm("500_before", match={"method": "GET", "key_prefix": "k-"})
    assert fakepay.http.get("/v1/refunds", params={"key": "k-1"}).status_code == 500
    assert fakepay.http.get("/v1/refunds", params={"key": "k-1"}).status_code == 200


@pytest.mark.parametrize(
    "fault", ["explode", "delay", "delay:-1", "delay:nan", "402,429", "drop_before,drop_after"]
)
def test_a_fault_that_does_not_exist_is_refused(fakepay: Fakepay, fault: str) -> None:
    assert fakepay.refund(Fault=fault).status_code == 400
    assert fakepay.http.post("/_control/faults", json={"fault": fault}).status_code == 400
    assert fakepay.refunds() == 0


def test_an_armed_fault_hits_the_nth_request_of_its_order(fakepay: Fakepay) -> None:
    fakepay.arm("402", match={"order_id": "A-1"}, skip=1, times=2)
    told = [fakepay.refund(f"k-{n}", order="A-1").status_code for n in range(5)]
    assert told == [200, 402, 402, 200, 200]
    assert fakepay.http.get("/_state").json()["armed"] == []


def test_armed_faults_wait_for_what_they_match(fakepay: Fakepay) -> None:
    fakepay.arm("402", match={"key_prefix": "refund:7:"})
    fakepay.arm("500_before", match={"path": "/v1/mails"})
    assert fakepay.refund("refund:8:A-1").status_code == 200
    assert fakepay.refund("refund:7:A-1", Fault="delay:0").status_code == 200
    assert fakepay.refund("refund:7:A-2").status_code == 402
    mail = {"to": "ada@example.org", "subject": "Hi", "text": ""}
    assert fakepay.http.post("/v1/mails", json=mail).status_code == 500


@pytest.mark.parametrize(
    "wanted",
    [[], {}, {"fault": 402}, {"fault": "402", "times": 0}, {"fault": "402", "match": {"x": "y"}}],
)
def test_a_fault_that_cannot_be_armed_is_refused(fakepay: Fakepay, wanted: object) -> None:
    assert fakepay.http.post("/_control/faults", json=wanted).status_code == 400


# --- what survives a kill ------------------------------------------------------------------------


def kill_during(fakepay: Fakepay, fault: str, *, refunds: int) -> None:
    """Kill -9 while a refund with this fault is being served."""
    with ThreadPoolExecutor() as pool:
        cut = pool.submit(fakepay.refund, "k-1", Fault=fault)
        wait_until(lambda: fakepay.refunds() == refunds and fakepay.rows("SELECT key FROM keys"))
        fakepay.process.kill()
        with pytest.raises(httpx.TransportError):
            cut.result()


@pytest.mark.parametrize(
    ("fault", "status"), [("delay_after:60", 200), ("delay_after:60,500_after", 500)]
)
def test_a_refund_performed_before_a_kill_is_there_and_its_answer_is_replayed(
    tmp_path: Path, fault: str, status: int
) -> None:
    with running(tmp_path / "f.sqlite3") as fakepay:
        kill_during(fakepay, fault, refunds=1)
        assert fakepay.refunds() == 1
        assert fakepay.answers() == [None]
    with running(tmp_path / "f.sqlite3") as fakepay:
        again = fakepay.refund("k-1")
        assert again.status_code == status
        assert "Idempotent-Replayed" in again.headers
        assert fakepay.refunds() == 1


def test_a_refund_not_performed_before_a_kill_can_be_asked_for_again(tmp_path: Path) -> None:
    with running(tmp_path / "f.sqlite3") as fakepay:
        kill_during(fakepay, "delay:60", refunds=0)
        assert fakepay.answers() == [None]
    with running(tmp_path / "f.sqlite3") as fakepay:
        assert fakepay.refund("k-1").status_code == 200
        assert fakepay.refunds() == 1


# --- what people and pages see -------------------------------------------------------------------


def test_the_state_tells_counts_lists_and_switches(fakepay: Fakepay) -> None:
    fakepay.refund("k-1", order="A-1")
    fakepay.refund("k-2", order="A-2")
    state = fakepay.http.get("/_state", params={"limit": 1}).json()
    assert state["counts"] == {"requests": 2, "refunds": 2, "orders": 2, "mails": 0}
    assert [refund["order_id"] for refund in state["refunds"]] == ["A-2"]
    assert (state["dedup"], state["visibility_delay"]) == (True, 0)


@pytest.mark.parametrize(
    "wanted", [{"dedup": 1}, {"visibility_delay": -1}, {"visibility_delay": "1"}, {"other": 1}, []]
)
def test_a_wrong_switch_changes_nothing(fakepay: Fakepay, wanted: object) -> None:
    before = fakepay.http.get("/_control").json()
    assert fakepay.http.post("/_control", json=wanted).status_code == 400
    assert fakepay.http.get("/_control").json() == before


def test_the_page_shows_what_was_performed_escaped_and_without_script(fakepay: Fakepay) -> None:
    fakepay.refund("<script>k", order="<b>A-1</b>")
    fakepay.refund("<script>k", order="<b>A-1</b>")
    answer = fakepay.http.get("/")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<strong>1 refund performed</strong> for 1 order." in answer.text
    assert "2 requests received." in answer.text
    assert "&lt;b&gt;A-1&lt;/b&gt;" in answer.text
    assert "12.00 EUR" in answer.text
    assert "<script" not in answer.text
    assert "<b>" not in answer.text


# --- faults that stay ----------------------------------------------------------------------------

ALWAYS = (
    '{"match": {"order_id": "A-1"}, "fault": "402"}',
    '{"match": {"to": "carrier@example.org", "order_id": "A-2"}, "fault": "drop_after"}',
)


def test_a_fault_that_stays_hits_the_first_request_of_each_key_after_every_start(
    tmp_path: Path,
) -> None:
    options = [part for text in ALWAYS for part in ("--always", text)]
    for start in ("a", "b"):
        with running(tmp_path / "f.sqlite3", *options) as fakepay:
            assert fakepay.refund(f"{start}-1").status_code == 402
            assert fakepay.refund(f"{start}-1#2").status_code == 200  # the same, tried again
            assert fakepay.refund(f"{start}-3").status_code == 402
            assert fakepay.refund(f"{start}-2", order="A-9").status_code == 200


def test_a_fault_may_be_meant_for_mails_to_one_address(tmp_path: Path) -> None:
    with running(tmp_path / "f.sqlite3", "--always", ALWAYS[1]) as fakepay:

        def mail(key: str, to: str) -> httpx.Response:
            body = {"to": to, "subject": "s", "text": "t", "order_id": "A-2"}
            return fakepay.http.post("/v1/mails", json=body, headers={"Idempotency-Key": key})

        assert mail("k-1", "ada@example.org").status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            mail("k-2", "carrier@example.org")
        assert fakepay.rows("SELECT count(*) FROM mails") == [(2,)]


@pytest.mark.parametrize(
    "body",
    [
        "nonsense",
        "[]",
        '{"fault": "402", "mach": {}}',
        '{"fault": "402", "match": {"order": "1"}}',
        '{"fault": "402", "match": []}',
        '{"fault": "402", "match": {"order_id": 1}}',
        '{"fault": "403"}',
        '{"fault": "402", "times": 0}',
        '{"fault": "402", "times": "1"}',
    ],
)
def test_what_cannot_be_armed_is_refused_in_words_and_not_in_pythons(
    fakepay: Fakepay, body: str
) -> None:
    for path in ("/_control/faults", "/_control"):
        answer = fakepay.http.post(path, content=body)
        said = answer.json()["error"]["message"]
        assert answer.status_code == 400
        assert not any(word in said for word in ("__init__", "argument", "NoneType", "Expecting"))
    wrong = python(*MODULE, "--storage", "f", "--always", body)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_an_unknown_name_is_named_with_those_that_are_known(fakepay: Fakepay) -> None:
    wanted = {"fault": "402", "match": {"order": "1"}}
    answer = fakepay.http.post("/_control/faults", json=wanted)
    assert answer.json()["error"]["message"] == (
        "match has method, path, order_id, to, key_prefix, but no order."
    )
