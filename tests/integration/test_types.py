"""What a type checker makes of programs that use the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOUND = dedent(
    """
    import asyncio
    from collections.abc import AsyncIterator, Iterator
    from typing import assert_never, assert_type

    import resolution_ledger as package
    from resolution_ledger import (
        AsyncResolutionLedger,
        Closed,
        InstanceId,
        LedgerAdmin,
        Lost,
        Outcome,
        Reason,
        RecordedAttempt,
        Replayed,
        ResolutionLedger,
        ResolutionRecord,
        ResponseId,
        StoreError,
        Withdrawn,
        Won,
    )

    reason: Reason = "expired"
    outcome: Outcome = "won"


    def resolve(ledger: ResolutionLedger, record: ResolutionRecord) -> str:
        match ledger.resolve(record):
            case Won():
                return "act"
            case Lost(winner=other) | Replayed(winner=other):
                assert_type(other, ResponseId)
                return other.text
            case Closed(reason=why):
                assert_type(why, Reason)
                return why
            case other:
                assert_never(other)


    def withdraw(ledger: ResolutionLedger, instance: InstanceId) -> str:
        answer = ledger.withdraw(instance, reason, submitted_by="cron")
        if isinstance(answer, Withdrawn):
            return "closed"
        elif isinstance(answer, Closed):
            return answer.reason
        elif isinstance(answer, Lost):
            return answer.winner.text
        else:
            assert_never(answer)


    def wait(ledger: ResolutionLedger, instance: InstanceId) -> str | None:
        found = ledger.wait(instance, timeout=1)
        if found is None:
            return None
        elif isinstance(found, ResponseId):
            return found.text
        elif isinstance(found, Closed):
            return found.reason
        else:
            assert_never(found)


    async def in_a_loop(record: ResolutionRecord) -> None:
        async with AsyncResolutionLedger.open("ledger.db", workspace="ws") as ledger:
            assert_type(ledger, AsyncResolutionLedger)
            match await ledger.resolve(record):
                case Won() | Lost() | Replayed() | Closed():
                    pass
                case other:
                    assert_never(other)
            match await ledger.withdraw(record.instance, "withdrawn"):
                case Withdrawn() | Closed() | Lost():
                    pass
                case other_end:
                    assert_never(other_end)
            match await ledger.wait(record.instance):
                case ResponseId() | Closed() | None:
                    pass
                case other_news:
                    assert_never(other_news)
            assert_type(ledger.watch(), AsyncIterator[RecordedAttempt])
            async for attempt in ledger.watch(after=1):
                assert_type(attempt, RecordedAttempt)
            assert_type(await ledger.history(record.instance), tuple[RecordedAttempt, ...])


    def audit() -> None:
        with LedgerAdmin.open("ledger.db") as admin:
            assert_type(admin.watch(outcome=outcome), Iterator[RecordedAttempt])


    def guarded(ledger: ResolutionLedger, record: ResolutionRecord) -> bool:
        try:
            return isinstance(ledger.resolve(record), Won)
        except StoreError as error:
            return error.outcome_unknown


    assert_type(package.AsyncResolutionLedger.open("x", workspace="y"), AsyncResolutionLedger)
    asyncio.run
    """
)

UNSOUND: dict[str, str] = {
    "a name that is not there": "from resolution_ledger import NoSuchThing  # E: attr-defined",
    "a name with a slip": "from resolution_ledger import AsyncResolutionLeger  # E: attr-defined",
    "a name of the package": """
        import resolution_ledger
        resolution_ledger.no_such_thing  # E: attr-defined
    """,
    "a method that is not there": """
        from resolution_ledger import AsyncResolutionLedger
        async def use(ledger: AsyncResolutionLedger) -> None:
            await ledger.resolved()  # E: attr-defined
    """,
    "another reason": """
        from resolution_ledger import InstanceId, ResolutionLedger
        def use(ledger: ResolutionLedger, instance: InstanceId) -> None:
            ledger.withdraw(instance, "bored")  # E: arg-type
    """,
    "a text instead of an id": """
        from resolution_ledger import ResolutionLedger
        def use(ledger: ResolutionLedger) -> None:
            ledger.winner("text")  # E: arg-type
    """,
    "an answer that was forgotten": """
        from typing import assert_never
        from resolution_ledger import Lost, Replayed, ResolutionLedger, ResolutionRecord, Won
        def use(ledger: ResolutionLedger, record: ResolutionRecord) -> None:
            match ledger.resolve(record):
                case Won() | Lost() | Replayed():
                    pass
                case other:
                    assert_never(other)  # E: arg-type
    """,
    "an end that was forgotten": """
        from typing import assert_never
        from resolution_ledger import AsyncResolutionLedger, InstanceId, ResponseId
        async def use(ledger: AsyncResolutionLedger, instance: InstanceId) -> None:
            found = await ledger.wait(instance)
            if found is not None and not isinstance(found, ResponseId):
                assert_never(found)  # E: arg-type
    """,
    "a call that nobody awaits": """
        from resolution_ledger import AsyncResolutionLedger, Won
        async def use(ledger: AsyncResolutionLedger) -> bool:
            ledger.create()  # E: unused-coroutine
            return True
    """,
}
"""Where the checker is to find which fault, and no other."""

FOUND = re.compile(r"^(.*?):(\d+): error: .*\[([a-z-]+)\]$", re.MULTILINE)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str]]]:
    """The lines and kinds of the errors that the checker finds in each program."""
    folder = tmp_path_factory.mktemp("programs")
    programs = {"sound": SOUND, **UNSOUND}
    files = {name: folder / f"program_{n}.py" for n, name in enumerate(programs)}
    for name, file in files.items():
        file.write_text(dedent(programs[name]))
    config = folder / "mypy.ini"
    config.write_text(
        "[mypy]\nstrict = True\nenable_error_code = unused-coroutine, unused-awaitable\n"
    )
    (folder / "resolution_ledger").symlink_to(ROOT / "src")
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--config-file", config, "--follow-imports", "silent",
            "--cache-dir", folder / "cache", "--no-error-summary",
            *(file.name for file in files.values()),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    errors: dict[str, list[tuple[int, str]]] = {file.name: [] for file in files.values()}
    for name, line, kind in FOUND.findall(done.stdout):
        errors[name].append((int(line), kind))
    return {name: errors[file.name] for name, file in files.items()}


def test_a_program_that_tells_every_answer_apart_is_sound(
    found: dict[str, list[tuple[int, str]]],
) -> None:
    assert found["sound"] == []


@pytest.mark.parametrize("name", UNSOUND)
def test_a_program_with_a_slip_is_found_out(
    found: dict[str, list[tuple[int, str]]], name: str
) -> None:
    expected = [
        (number, line.split("# E: ")[1])
        for number, line in enumerate(dedent(UNSOUND[name]).splitlines(), start=1)
        if "# E: " in line
    ]
    assert found[name] == expected
