"""What a person is told before they press a button: a table of states and words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from ledger.inventory import boxes, known
from ledger.inventory.known import Kind, Known
from ledger.models import Effect, EffectAttempt, Look, Stop
from ledger.preview import ahead, elsewhere, kinds
from ledger.preview.ahead import Permit
from ledger.status import Answer, Outcome, Status
from runs.models import Run, Worker
from runs.status import Park
from runs.story import Ahead
from tests.support import standing as make
from tests.support.people import person

TASK = "5f0c1d2e-0000-4000-8000-0000000000aa"
OTHER = "5f0c1d2e-0000-4000-8000-0000000000bb"
DAY = timedelta(hours=24).total_seconds()


@pytest.fixture
def ada() -> User:
    return person("Ada")


@pytest.fixture(autouse=True)
def workers(database: None) -> None:
    """A live worker knows one tool of each class."""
    tools = (
        Known(name="keyed", kind=Kind.EFFECT, idempotency="provider", window=DAY, timeout=20),
        Known(name="found", kind=Kind.EFFECT, idempotency="lookup", lookup=True, timeout=20),
        Known(name="alone", kind=Kind.EFFECT, idempotency="ledger", timeout=20),
    )
    Worker.objects.create(name="w1@here", hostname="here", pid=1, agents={"refund_desk": "1.0"})
    boxes.announce("w1@here", tools)


@pytest.fixture
def run() -> Run:
    return make.parked(Park.CRASH_LOOP)


def effect(run: Run, tool: str = "keyed", *, task: str = TASK, **fields: Any) -> Effect:
    name = uuid4().hex
    step = f"pay@{task}"
    of_tool = {"keyed": "provider", "found": "lookup"}
    usual: dict[str, Any] = {
        "idempotency": of_tool.get(tool, "ledger"),
        "args": {},
        "args_hash": name,
        "fence": 1,
        "step": step,
        "attempts": 1,
        "first_started_at": make.ago(minutes=5),
        "provider_key": name,
        "idempotency_key": f"{run.pk}:{step}:{tool}:{name}",
    }
    return Effect.objects.create(run=run, tool=tool, **usual | fields)


def call(effect: Effect, outcome: str, number: int = 1, **fields: Any) -> EffectAttempt:
    usual: dict[str, Any] = {
        "provider_key": effect.provider_key,
        "fence": 1,
        "holder": make.HOLDER,
        "started_at": make.ago(minutes=5),
        "timeout_at": make.ago(minutes=4),
    }
    if outcome != Outcome.OPEN:
        usual["ended_at"] = make.ago(minutes=4)
    return EffectAttempt.objects.create(
        effect=effect, number=number, outcome=outcome, **usual | fields
    )


def ended(run: Run, task: str, channel: str = "log", idx: int = 0) -> None:
    """LangGraph keeps something that this task wrote."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx,"
            " channel, type, blob, task_path) VALUES (%s, '', 'c1', %s, %s, %s, 'null', '', '')",
            (str(run.pk), task, idx, channel),
        )


def told(about: Ahead) -> list[tuple[str, str]]:
    return [(touch.title, touch.state.value) for touch in about.touches]


def words(about: Ahead) -> str:
    (touch,) = about.touches
    return "".join("<time>" if piece.at else piece.text for piece in touch.says)


def pending(tool: str, *calls: tuple[str, dict[str, Any]], **fields: Any) -> Any:
    return Status.PENDING, tool, calls, fields


def decided(status: str, **fields: Any) -> Any:
    return status, "keyed", (), fields


LOST = (Outcome.OPEN, {})
UNHEARD = (Outcome.UNKNOWN, {})
TABLE = [
    ("done", decided(Status.SENT), "reused"),
    ("confirmed", decided(Status.CONFIRMED), "reused"),
    ("done, result not kept", decided(Status.SENT, result_cut=True), "not_kept"),
    ("refused for certain", decided(Status.FAILED), "refused"),
    ("in doubt", decided(Status.IN_DOUBT), "settle"),
    ("lost, provider knows the key", pending("keyed", LOST), "again"),
    ("unheard, provider knows the key", pending("keyed", UNHEARD), "again"),
    (
        "unheard, the key may be forgotten",
        pending("keyed", UNHEARD, first_started_at=make.ago(days=2)),
        "will_doubt",
    ),
    (
        "the provider repeats itself",
        pending("keyed", (Outcome.UNKNOWN, {"replayed": True})),
        "will_doubt",
    ),
    ("unheard, can be asked", pending("found", UNHEARD), "asked"),
    ("lost, nobody can be asked", pending("alone", LOST), "will_doubt"),
    ("refused for now", pending("keyed", (Outcome.RETRYABLE, {})), "tried"),
    ("looked up: absent", pending("found", (Outcome.ABSENT, {})), "tried"),
    (
        "a person allowed one attempt",
        pending("alone", (Outcome.ABSENT, {}), retry_allowed=True),
        "allowed",
    ),
    ("reserved and never called", pending("keyed", attempts=0), "will_run"),
    ("nobody declares it", pending("foreign", UNHEARD), "unknown"),
]


@pytest.mark.parametrize(("made", "kind"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_each_state_has_its_word(run, ada, made, kind) -> None:
    status, tool, calls, fields = made
    one = effect(run, tool, status=status, **fields)
    for number, (outcome, more) in enumerate(calls, 1):
        call(one, outcome, number, **more)
    about = ahead.of(run, ada)
    assert told(about) == [(tool, kind)]
    sentence = next(state.sentence for state in kinds.ALL if state.value == kind)
    assert words(about).startswith(str(sentence))
    assert about.unknown == "Other calls that this step makes are not known beforehand."


def test_what_has_to_wait_says_until_when(run, ada) -> None:
    call(effect(run, status=Status.PENDING, retry_at=make.soon(minutes=3)), Outcome.RETRYABLE)
    about = ahead.of(run, ada)
    assert told(about) == [("keyed", "tried")]
    assert words(about).endswith(" Not before <time>.")


def test_a_call_of_the_live_driver_is_under_way_and_that_of_a_lost_one_is_not(ada) -> None:
    run = make.running()
    call(effect(run, status=Status.PENDING), Outcome.OPEN, timeout_at=make.soon(minutes=1))
    assert told(ahead.of(run, ada)) == [("keyed", "under_way")]
    make.lease(run, expires_at=make.ago(seconds=1))
    assert told(ahead.of(run, ada)) == [("keyed", "again")]


def test_silence_of_who_was_asked_ends_in_doubt(run, ada, settings) -> None:
    one = effect(run, "found", status=Status.PENDING)
    call(one, Outcome.UNKNOWN)
    for _ in range(settings.LEDGER_TRIES):
        Look.objects.create(
            effect=one, provider_key="k", attempt=1, answer=Answer.SILENT, counts=True
        )
    assert told(ahead.of(run, ada)) == [("found", "will_doubt")]


# --- which effects are met again ------------------------------------------------------------------


def test_effects_of_tasks_that_have_ended_are_not_met_again(run, ada) -> None:
    effect(run, task=OTHER, status=Status.SENT)
    ended(run, OTHER)
    assert ahead.of(run, ada).touches == ()
    effect(run, status=Status.SENT, provider_ref="re_1")
    about = ahead.of(run, ada)
    assert [(touch.state.value, touch.detail) for touch in about.touches] == [("reused", "re_1")]


@pytest.mark.parametrize("channel", ["__interrupt__", "__resume__", "__error__"])
def test_a_question_an_answer_and_an_error_do_not_end_a_task(run, ada, channel) -> None:
    effect(run, status=Status.SENT)
    ended(run, TASK, channel, -1)
    assert told(ahead.of(run, ada)) == [("keyed", "reused")]


def test_effects_of_tool_calls_belong_to_their_task(run, ada) -> None:
    effect(run, status=Status.SENT, step=f"tools@{TASK}/call_1")
    effect(run, status=Status.SENT, step=f"a@b@{OTHER}/x@y")
    assert len(ahead.of(run, ada).touches) == 2
    ended(run, TASK)
    ended(run, OTHER)
    assert ahead.of(run, ada).touches == ()


def test_what_nobody_knows_the_end_of_is_told_wherever_it_was_begun(run, ada) -> None:
    call(effect(run, task=OTHER, status=Status.PENDING), Outcome.UNKNOWN)
    effect(run, task=OTHER, status=Status.IN_DOUBT)
    effect(run, task=OTHER, status=Status.FAILED)
    ended(run, OTHER)
    assert told(ahead.of(run, ada)) == [("keyed", "settle"), ("keyed", "held")]


def test_what_needs_a_person_comes_first_and_the_rest_is_counted(run, ada) -> None:
    for _ in range(30):
        effect(run, status=Status.SENT)
    effect(run, status=Status.FAILED)
    effect(run, status=Status.IN_DOUBT)
    about = ahead.of(run, ada)
    assert [touch.state.value for touch in about.touches[:3]] == ["settle", "refused", "reused"]
    assert (len(about.touches), about.more) == (20, 12)


def test_the_number_of_queries_does_not_depend_on_how_much_there_is(run, ada) -> None:
    def asked() -> int:
        person = User.objects.get(pk=ada.pk)
        with CaptureQueriesContext(connection) as queries:
            ahead.of(run, person, permit=Permit(tool="keyed", args_hash="x"))
        return len(queries)

    call(effect(run, status=Status.PENDING), Outcome.UNKNOWN)
    few = asked()
    for tool in ("keyed", "found", "alone") * 5:
        call(effect(run, tool, status=Status.PENDING), Outcome.UNKNOWN)
        effect(run, tool, status=Status.SENT)
    assert asked() == few
    assert few <= 15


# --- what forbids it ------------------------------------------------------------------------------


def notices(about: Ahead) -> list[str]:
    return ["".join(piece.text for piece in hold.text) for hold in about.holds]


def stop(scope: str, name: str = "") -> None:
    Stop.objects.create(scope=scope, name=name, reason="Wrong amounts.", set_by="Ada")


def test_an_effect_in_doubt_holds_everything_back(run, ada) -> None:
    effect(run, status=Status.IN_DOUBT)
    call(effect(run, status=Status.PENDING), Outcome.RETRYABLE)
    about = ahead.of(run, ada)
    assert told(about) == [("keyed", "settle"), ("keyed", "held")]
    (said,) = notices(about)
    assert said.startswith("A call of keyed is in doubt.")
    assert about.holds[0].action == "Settle the effect"


@pytest.mark.parametrize(
    ("scope", "name", "held"),
    [
        ("everything", "", True),
        ("agent", "refund_desk", True),
        ("agent", "other", False),
        ("tool", "keyed", True),
        ("tool", "found", False),
    ],
)
def test_a_stop_holds_back_what_it_names(run, ada, scope, name, held) -> None:
    stop(scope, name)
    call(effect(run, status=Status.PENDING), Outcome.RETRYABLE)
    effect(run, status=Status.SENT)
    about = ahead.of(run, ada)
    assert told(about) == [("keyed", "held" if held else "tried"), ("keyed", "reused")]
    if held:
        said = "".join(piece.text for piece in about.touches[0].says)
        assert "not now" in said
        assert "emergency stop" in said
    assert len(about.holds) == (held and scope != "tool")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"read_only": True}, "This run is read-only"),
        ({"cancel_asked_at": make.ago(seconds=1), "cancelled_by": "Ben"}, "was cancelled by Ben"),
    ],
)
def test_a_run_that_may_send_nothing_says_so(run, ada, changes, said) -> None:
    Run.objects.filter(pk=run.pk).update(**changes)
    call(effect(run, status=Status.PENDING), Outcome.RETRYABLE)
    about = ahead.of(make.again(run), ada)
    assert told(about) == [("keyed", "held")]
    assert said in notices(about)[0]


# --- what a question is about ---------------------------------------------------------------------


def approving(run: Run, ada: User, tool: str = "keyed", args_hash: str = "h") -> Ahead:
    return ahead.of(run, ada, permit=Permit(tool=tool, args_hash=args_hash))


def test_what_was_never_done_will_run(run, ada) -> None:
    about = approving(run, ada)
    assert told(about) == [("keyed", "permitted")]
    assert about.touches[0].asked


def test_what_this_very_step_has_done_is_told_once_and_reused(run, ada) -> None:
    effect(run, status=Status.SENT, args_hash="h")
    assert told(approving(run, ada)) == [("keyed", "reused")]


def test_what_an_earlier_step_did_would_happen_a_second_time(run, ada) -> None:
    effect(run, task=OTHER, status=Status.SENT, args_hash="h", provider_ref="re_1")
    ended(run, OTHER)
    (touch,) = approving(run, ada).touches
    assert (touch.state.value, touch.detail) == ("repeated", "re_1")


def test_what_has_a_key_of_the_agents_own_is_the_same_in_every_step(run, ada) -> None:
    effect(
        run,
        task=OTHER,
        status=Status.SENT,
        args_hash="h",
        idempotency_key=f"refund:{run.pk}:7",
    )
    ended(run, OTHER)
    assert told(approving(run, ada)) == [("keyed", "reused")]


def test_what_another_run_did_leaves_the_call_to_be_made(run, ada) -> None:
    effect(make.run(), status=Status.SENT, args_hash="h")
    assert told(approving(run, ada))[0] == ("keyed", "permitted")


def test_a_stop_holds_back_what_is_asked(run, ada) -> None:
    stop("tool", "keyed")
    assert told(approving(run, ada)) == [("keyed", "held")]


def test_who_may_not_see_effects_gets_no_link(run) -> None:
    effect(run, status=Status.SENT)
    assert [touch.url for touch in ahead.of(run, person("Dee")).touches] == [""]


# --- before it ends -------------------------------------------------------------------------------


ENDS = [
    (Status.SENT, None, "stays"),
    (Status.CONFIRMED, None, "stays"),
    (Status.FAILED, None, "nothing"),
    (Status.IN_DOUBT, None, "doubt_stays"),
    (Status.PENDING, Outcome.RETRYABLE, "never"),
    (Status.PENDING, Outcome.UNKNOWN, "maybe"),
    (Status.PENDING, Outcome.OPEN, "maybe"),
]


@pytest.mark.parametrize(("status", "outcome", "kind"), ENDS)
def test_cancelling_tells_what_stays(run, ada, status, outcome, kind) -> None:
    one = effect(run, status=status, task=OTHER)
    ended(run, OTHER)
    if outcome:
        call(one, outcome)
    about = ahead.at_the_end(run, ada)
    assert told(about) == [("keyed", kind)]
    assert about.holds == ()


def test_cancelling_counts_what_it_does_not_show(run, ada) -> None:
    assert ahead.at_the_end(run, ada).touches == ()
    for _ in range(25):
        effect(run, status=Status.SENT)
    effect(run, status=Status.IN_DOUBT)
    about = ahead.at_the_end(run, ada)
    assert about.touches[0].state.value == "doubt_stays"
    assert (len(about.touches), about.more) == (20, 6)


# --- the table itself -----------------------------------------------------------------------------


def test_every_kind_has_a_sentence_and_its_own_name() -> None:
    assert len({kind.value for kind in kinds.ALL}) == len(kinds.ALL)
    for kind in kinds.ALL:
        assert kind.sentence.endswith(".")
        assert kind.label


def test_workers_that_do_not_agree_on_a_tool_leave_it_unknown(run, ada) -> None:
    Worker.objects.create(name="w2@here", hostname="here", pid=2, agents={"refund_desk": "2.0"})
    boxes.announce("w2@here", (Known(name="keyed", kind=Kind.EFFECT, idempotency="ledger"),))
    call(effect(run, status=Status.PENDING), Outcome.UNKNOWN)
    assert told(ahead.of(run, ada)) == [("keyed", "unknown")]


def test_a_tool_survives_being_written_down(t) -> None:
    declared = t.provider_with_lookup.__ledger_tool__
    about = Known.read(known.of_tool(declared).kept())
    back = about.as_tool()
    assert back is not None
    for name in ("name", "idempotency", "window", "visibility", "call_timeout"):
        assert getattr(back, name) == getattr(declared, name)
    assert (back.lookup is None) == (declared.lookup is None)


# --- the same call in other runs ------------------------------------------------------------------


def asked_again(run: Run, by: User) -> list[str]:
    """What is told besides what approving this call in `run` does there."""
    about = ahead.of(run, by, permit=Permit(tool="keyed", args_hash="same"))
    return ["".join("<time>" if p.at else p.text for p in t.says) for t in about.touches[1:]]


def test_what_another_run_has_done_with_the_same_arguments_is_told(run: Run, ada: User) -> None:
    before = make.parked(Park.CRASH_LOOP)
    Run.objects.filter(pk=before.pk).update(title="Refund order 10366")
    effect(before, args_hash="same", status=Status.CONFIRMED, provider_ref="re_1")
    effect(before, args_hash="other", status=Status.CONFIRMED)
    about = ahead.of(run, ada, permit=Permit(tool="keyed", args_hash="same"))
    assert told(about) == [("keyed", "permitted"), ("keyed", "elsewhere")]
    assert about.touches[1].detail == "re_1"
    assert about.touches[1].url
    assert asked_again(run, ada) == [
        "The run \u201cRefund order 10366\u201d did exactly this, with the same arguments, <time>."
        " Approving does it again."
    ]


def test_a_run_that_one_may_not_see_is_not_named(run: Run) -> None:
    ben = person("Ben")
    effect(make.parked(Park.CRASH_LOOP), args_hash="same", status=Status.SENT, provider_ref="re_1")
    about = ahead.of(run, ben, permit=Permit(tool="keyed", args_hash="same"))
    assert (about.touches[1].detail, about.touches[1].url) == ("", "")
    assert asked_again(run, ben) == [
        "Another run did exactly this, with the same arguments, <time>. Approving does it again."
    ]


@pytest.mark.parametrize(
    ("status", "attempts", "kinds_told"),
    [
        (Status.SENT, 1, ["elsewhere"]),
        (Status.IN_DOUBT, 1, ["maybe_elsewhere"]),
        (Status.PENDING, 1, ["maybe_elsewhere"]),
        (Status.PENDING, 0, []),
        (Status.FAILED, 1, []),
    ],
)
def test_only_what_happened_or_may_have_is_told(
    run: Run, ada: User, status: str, attempts: int, kinds_told: list[str]
) -> None:
    other = make.parked(Park.CRASH_LOOP)
    effect(other, args_hash="same", status=status, attempts=attempts)
    about = ahead.of(run, ada, permit=Permit(tool="keyed", args_hash="same"))
    assert [touch.state.value for touch in about.touches[1:]] == kinds_told


def test_what_was_taken_back_is_not_told(run: Run, ada: User) -> None:
    other = make.parked(Park.CRASH_LOOP)
    done = effect(other, args_hash="same", status=Status.CONFIRMED)
    effect(other, tool="found", undoes=done, status=Status.CONFIRMED)
    assert asked_again(run, ada) == []


def test_many_runs_that_did_the_same_are_counted_in_two_queries(run: Run, ada: User) -> None:
    for _ in range(3):
        effect(make.parked(Park.CRASH_LOOP), args_hash="same", status=Status.SENT)
    (says,) = asked_again(run, ada)
    assert says.endswith("Other runs called it 3 times in all.")
    with CaptureQueriesContext(connection) as few:
        elsewhere.of(run, "keyed", "same", ada)
    for _ in range(elsewhere.MOST):
        effect(make.parked(Park.CRASH_LOOP), args_hash="same", status=Status.SENT)
    with CaptureQueriesContext(connection) as many:
        (touch,) = elsewhere.of(run, "keyed", "same", ada)
    assert len(few) == len(many)
    assert "called it 20 or more times" in touch.says[-1].text
