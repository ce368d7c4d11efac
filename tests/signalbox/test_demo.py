"""The demo's people and runs, and what keeps it away from data that is not its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from agents.fakepay import faults
from agents.refund_desk import orders, payments
from agents.refund_desk.graph import refund_of
from agents.returns_desk import carrier
from ledger import registry
from ledger.models import Effect, Stop
from runs.models import Run
from signalbox.demo import banner, seed, session
from signalbox.embedded import places
from signalbox.management.commands import demo

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
def test_seeding_again_adds_nothing(settings):
    settings.DEMO = True
    seed.seed()
    seed.seed()

    assert User.objects.count() == len(seed.PEOPLE)
    assert Run.objects.count() == len(seed.RUNS)


@pytest.mark.django_db
def test_once_a_call_is_in_doubt_its_tool_is_stopped_and_another_run_started(settings):
    settings.DEMO = True
    seed.seed()
    assert not seed.follow_up()

    run = Run.objects.get(idempotency_key=f"demo-{seed.DOUBTFUL}")
    in_doubt(run)
    assert seed.follow_up()
    assert seed.follow_up()

    assert [stop.name for stop in Stop.objects.all()] == [seed.TOOL]
    assert Run.objects.get(idempotency_key=f"demo-{seed.STOPPED}").agent == "returns_desk"
    assert Run.objects.count() == len(seed.RUNS) + 1


@pytest.mark.django_db
def test_a_follow_up_that_nobody_may_do_any_more_does_not_end_the_demo(settings):
    settings.DEMO = True
    seed.seed()
    run = Run.objects.get(idempotency_key=f"demo-{seed.DOUBTFUL}")
    in_doubt(run)
    User.objects.get(email="ada@demo.example").groups.clear()

    assert seed.follow_up()
    assert not Stop.objects.exists()


def test_what_the_demo_knows_of_its_agents_is_true():
    assert seed.CARRIER == carrier.ADDRESS
    assert registry.find(seed.TOOL) is not None
    slow = orders.load(order_id=seed.SLOW)
    assert not payments.needs_permit(refund_of(slow))
    assert payments.REFUND_TIMEOUT.total_seconds() > seed.SLOW_SECONDS
    for order in (seed.DOUBTFUL, seed.STOPPED):
        assert orders.load(order_id=order)
    for fault in seed.faults():
        assert faults.read(fault) is not None


def test_the_banner_says_what_to_type_and_which_orders():
    said = banner.text(
        web="http://localhost:1",
        provider="http://localhost:2",
        pids={"worker-1": 7},
        logs=ROOT,
        mails=ROOT,
    )
    assert '{"order_id": "10366"}' in said
    assert max(len(line) for line in said.splitlines()) <= 110
    for order in (seed.SLOW, seed.DOUBTFUL, seed.STOPPED):
        assert order in said


@pytest.mark.django_db
def test_everybody_of_the_demo_may_sign_in_only_in_demo_mode(settings):
    seed.people()
    everybody = list(User.objects.all())

    settings.DEMO = True
    assert all(user.may_sign_in for user in everybody)
    settings.DEMO = False
    assert not any(user.may_sign_in for user in everybody)


@pytest.mark.django_db
def test_an_account_that_is_not_the_demos_is_left_alone():
    real = User.objects.create_user("ada@demo.example", "a real password")

    seed.people()

    real.refresh_from_db()
    assert not real.is_demo
    assert real.check_password("a real password")
    assert not real.groups.exists()


def test_a_reset_leaves_data_alone_that_the_demo_did_not_begin(settings, tmp_path):
    settings.STATE_DIR = tmp_path / "state"
    (settings.STATE_DIR / "postgres").mkdir(parents=True)

    with pytest.raises(CommandError, match="not begun by the demo"):
        call_command("demo", "--reset")

    assert (settings.STATE_DIR / "postgres").exists()


def test_a_second_demo_in_one_folder_is_refused(tmp_path):
    with (
        session.only_one(tmp_path),
        pytest.raises(session.DemoError, match="already"),
        session.only_one(tmp_path),
    ):
        pass


def test_the_demo_never_uses_a_configured_database(tmp_path):
    code = "import manage, sys; sys.argv = ['manage.py', 'demo', '--help']; manage.main()"
    show = "import atexit; from django.conf import settings as s\n"
    show += "atexit.register(lambda: print(s.DATABASE_URL, s.BROKER_URL, s.DEMO, sep='|'))\n"
    said = _python(show + code, DATABASE_URL="postgres://real.example/real", BROKER_URL="redis://x")

    assert said.stdout.splitlines()[-1] == "||True"


def test_a_command_without_services_says_why_in_one_line(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    code = "import manage, sys; sys.argv = ['manage.py', 'migrate']; sys.exit(manage.main())"

    said = _python(code, **places.environment(blocked), SECRET_KEY="set " * 8)

    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert "SIGNALBOX_STATE" in said.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "bogus"),
        ("EMAIL_URL", "bogus"),
        ("DATABASE_URL", "foo"),
        ("RUNS_LEASE_SECONDS", "-5"),
        ("FAKEPAY_URL", "foo"),
        ("SIGNALBOX_PROXIES", "-1"),
        ("SECRET_KEY", "x"),
    ],
)
def test_a_wrong_variable_ends_any_command_in_one_line_that_names_it(tmp_path, name, value):
    code = "import manage, sys; sys.argv = ['manage.py', 'check']; sys.exit(manage.main())"

    said = _python(code, **places.environment(tmp_path) | {name: value})

    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert name in said.stderr


def test_demos_in_two_folders_keep_their_people_apart(tmp_path):
    code = "from django.conf import settings as s; print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME)"

    def cookies(state: str, demo: str) -> str:
        return _python(code, SIGNALBOX_DEMO=demo, SIGNALBOX_STATE=str(tmp_path / state)).stdout

    first, second = cookies("a", "1").split(), cookies("b", "1").split()
    assert not set(first) & set(second)
    assert first == cookies("a", "1").split()
    assert cookies("a", "0").split() == ["sessionid", "csrftoken"]


@pytest.mark.parametrize("port", ["99999", "0", "-1", "x"])
def test_what_is_no_port_is_refused_before_anything_starts(port, capsys):
    with pytest.raises(CommandError, match="no port"):
        call_command("demo", f"--port={port}")


def test_progress_is_not_painted_like_an_error():
    shown = Terminal()
    demo.Command(stderr=shown, force_color=True)._progress("Starting")
    assert shown.getvalue() == "Starting …\n"


def in_doubt(run: Run) -> None:
    Effect.objects.create(
        idempotency_key=f"{run.pk}:collect",
        run=run,
        step="collect@1",
        tool=seed.TOOL,
        args={},
        args_hash="0" * 64,
        status="in_doubt",
        attempts=1,
        fence=1,
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "signalbox.settings"} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
