"""The model of a disk without power, and the states that are made of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from torture.power.disk import (
    Change,
    Disk,
    Left,
    Mark,
    Name,
    Recording,
    Resize,
    Step,
    Sync,
    SyncNames,
    Write,
    applied,
)
from torture.power.states import SECTOR, Cut, Thoroughness, by_sectors, cuts, survivors

A, B = 0, 1
BEFORE = {"a": b"aaaa", "b": b""}


def draws(seed: int = 1) -> Random:
    return Random(seed)  # noqa: S311 - so that a test is the same each time


def left_by(*steps: Step, how: Thoroughness | None = None) -> list[Cut]:
    return list(cuts(Recording(BEFORE, steps), draws(), how or Thoroughness()))


def contents(cuts: Sequence[Cut], name: str) -> set[bytes | None]:
    return {
        cut.left.contents[cut.left.names[name]] if name in cut.left.names else None for cut in cuts
    }


def some_writes(count: int, length: int = 1) -> list[Change | Name]:
    return [Write(A, n * length, bytes([n + 1]) * length) for n in range(count)]


# What a disk keeps


def test_what_was_synced_stays_and_what_was_not_may_go() -> None:
    disk = Disk(BEFORE)
    for step in (Write(A, 0, b"x"), Sync(A), Write(A, 1, b"y")):
        disk.take(step)
    assert disk.after([]).contents[A] == b"xaaa"
    assert disk.after(disk.pending).contents[A] == b"xyaa"


def test_the_sync_of_a_file_is_no_sync_of_another_or_of_names() -> None:
    disk = Disk(BEFORE)
    for step in (Write(B, 0, b"x"), Name("c", B), Write(A, 0, b"y"), Sync(A)):
        disk.take(step)
    assert disk.pending == [Write(B, 0, b"x"), Name("c", B)]
    disk.take(SyncNames())
    assert disk.pending == [Write(B, 0, b"x")]
    assert disk.after([]) == Left({"a": A, "b": B, "c": B}, {A: b"yaaa", B: b""})


def test_a_file_that_lost_its_name_and_one_that_was_made_anew_under_it_are_two() -> None:
    new = Write(2, 0, b"new")
    disk = Disk(BEFORE)
    for step in (Name("a", None), Name("a", 2), new):
        disk.take(step)
    assert disk.after([new]).contents[A] == b"aaaa"
    assert disk.after([Name("a", 2)]).contents[2] == b""
    assert disk.after(disk.pending).contents[2] == b"new"


@pytest.mark.parametrize(
    ("change", "content"),
    [
        (Write(A, 1, b"xy"), b"axya"),
        (Write(A, 6, b"x"), b"aaaa\0\0x"),
        (Write(A, 6, b""), b"aaaa\0\0"),
        (Write(A, 2, b""), b"aaaa"),
        (Resize(A, 2), b"aa"),
        (Resize(A, 6), b"aaaa\0\0"),
    ],
)
def test_a_change_of_a_file(change: Change, content: bytes) -> None:
    assert applied(b"aaaa", [change]) == content


# What may survive


def test_every_subset_of_a_few_changes_may_survive() -> None:
    pending = some_writes(5)
    whole = [s for s in survivors(pending, draws(), Thoroughness(drawn=0)) if set(s) <= {*pending}]
    assert {tuple(s) for s in whole} >= {
        tuple(pending[n] for n in range(5) if number >> n & 1) for number in range(2**5)
    }


def test_of_more_changes_each_beginning_end_single_and_all_but_one_may_survive() -> None:
    pending = some_writes(20)
    found = [tuple(s) for s in survivors(pending, draws(), Thoroughness(drawn=0))]
    for n in range(20):
        for chosen in (pending[:n], pending[n:], [pending[n]], pending[:n] + pending[n + 1 :]):
            assert tuple(chosen) in found


def test_of_very_many_changes_some_are_drawn_and_the_same_ones_from_the_same_seed() -> None:
    pending, how = some_writes(200), Thoroughness(most=5, drawn=5)
    found, again = (list(survivors(pending, draws(), how)) for _ in range(2))
    assert found == again != list(survivors(pending, draws(2), how))
    assert [] in found
    assert pending in found
    assert len(found) < 100


def test_after_each_beginning_the_last_write_is_torn() -> None:
    pending = some_writes(3, length=2 * SECTOR)
    found = [list(s) for s in survivors(pending, draws(), Thoroughness(drawn=0))]
    for n in range(3):
        assert any(s[:n] == pending[:n] and len(s) > n and not {*s[n:]} & {*pending} for s in found)


@pytest.mark.parametrize("garbage", [False, True])
def test_a_torn_write_does_no_harm_outside_itself(*, garbage: bool) -> None:
    content = bytes(range(256)) * 16
    write = Write(A, 700, b"\xff" * 1500)
    how = Thoroughness(drawn=100, garbage=garbage)
    torn = {applied(content, [*s]) for s in survivors([write], draws(), how)}
    assert len(torn) > 5
    for each in torn:
        assert each[:700] == content[:700]
        assert each[2200:] == content[2200:]
        old_or_new = all(byte in {content[n], 0xFF} for n, byte in enumerate(each))
        assert old_or_new or garbage


def test_garbage_is_only_made_where_it_is_asked_for() -> None:
    write = Write(A, 0, b"\xff" * SECTOR)

    def made(*, garbage: bool) -> set[bytes]:
        found = survivors([write], draws(), Thoroughness(garbage=garbage))
        return {applied(b"\xaa" * SECTOR, [*s]) for s in found}

    assert all(set(each) <= {0xAA, 0xFF} for each in made(garbage=False))
    assert any(set(each) - {0xAA, 0xFF} for each in made(garbage=True))


def test_a_write_past_the_end_may_leave_its_length_and_none_of_its_bytes() -> None:
    assert b"aaaa" + bytes(6) in contents(left_by(Write(A, 4, b"x" * 6)), "a")


def test_a_write_falls_into_the_sectors_that_it_lies_in() -> None:
    parts = list(by_sectors(Write(A, SECTOR - 1, b"x" + b"y" * SECTOR + b"z")))
    assert parts == [
        Write(A, SECTOR - 1, b"x"),
        Write(A, SECTOR, b"y" * SECTOR),
        Write(A, 2 * SECTOR, b"z"),
    ]


# Cuts of a recording


def test_before_a_sync_a_write_may_be_lost_and_after_it_it_is_there() -> None:
    found = left_by(Write(A, 0, b"x"), Sync(A), Mark(b"told"))
    assert contents(found, "a") == {b"aaaa", b"xaaa"}
    assert contents([cut for cut in found if cut.marks], "a") == {b"xaaa"}


def test_a_mark_before_the_sync_may_be_followed_by_a_loss() -> None:
    """What ``synchronous=OFF`` looks like."""
    found = left_by(Write(A, 0, b"x"), Mark(b"told"), Sync(A))
    assert contents([cut for cut in found if cut.marks], "a") == {b"aaaa", b"xaaa"}


def test_a_new_name_may_be_lost_though_its_file_was_synced_until_the_names_are() -> None:
    made = Name("c", 2), Write(2, 0, b"x"), Sync(2)
    found = left_by(*made, Mark(b"told"))
    assert contents([cut for cut in found if cut.marks], "c") == {b"x", None}
    found = left_by(*made, SyncNames(), Mark(b"told"))
    assert contents([cut for cut in found if cut.marks], "c") == {b"x"}


def test_a_removed_name_may_come_back_until_the_names_are_synced() -> None:
    found = left_by(Name("a", None), Mark(b"told"), SyncNames(), Mark(b"told"))
    assert contents([cut for cut in found if cut.marks == 1], "a") == {b"aaaa", None}
    assert contents([cut for cut in found if cut.marks == 2], "a") == {None}


def test_writes_to_two_files_reach_the_disk_in_any_order() -> None:
    found = left_by(Write(A, 0, b"x"), Write(B, 0, b"y"))
    both = {(cut.left.contents[A][:1], cut.left.contents[B]) for cut in found}
    assert both >= {(b"a", b""), (b"x", b""), (b"a", b"y"), (b"x", b"y")}


def test_a_state_is_made_once_for_as_long_as_nothing_more_is_acknowledged() -> None:
    found = left_by(Write(A, 0, b"aa"), Sync(A), Write(A, 2, b"a"), Sync(A))
    assert [cut.left.contents[A] for cut in found] == [b"aaaa"]
    assert len(left_by(Write(A, 0, b"a"), Mark(b"told"))) == 2
