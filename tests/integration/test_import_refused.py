"""Exports that are not sound: the line is named, and nothing is written."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from inside import all_rows, definitions, files_in
from integration.edits import ALL_EDITS, EDITS
from integration.exports import (
    LENGTH,
    Export,
    changed,
    export_of,
    imported,
    rehashed,
    sample,
)
from integration.forgeries import TAMPERED, WRONG_STATES
from integration.forging import Forge, at, written
from integration.one_row_program import make_table, row
from integration.tampering import Specimen, edit, make_empty, make_ledger
from resolution_ledger import (
    CorruptLedger,
    InvalidExport,
    LedgerAdmin,
    NotAdopted,
    NotALedger,
)
from resolution_ledger.domain.records import Outcome
from samples import instance


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """Of a ledger with every outcome in it, adopted wins first."""
    return sample(tmp_path_factory.mktemp("sound"))


def refused_at(export: Export) -> int:
    """The line that is named of an export that is not sound."""
    with LedgerAdmin.open(":memory:") as admin, pytest.raises(InvalidExport) as error:
        admin.import_(io.BytesIO(b"".join(export)))
    return error.value.line


DEEP = b"[" * 30_000 + b"]" * 30_000

OTHERS: dict[str, tuple[int, Forge]] = {
    "a mark before it": (1, written(0, b"{", b"\xef\xbb\xbf{")),
    "another format": (1, at(0, format="ledger")),
    "a negative length": (1, at(0, length=-1)),
    "a length past all": (LENGTH + 1, at(0, length=2**64)),
    "an identity in upper case": (1, at(0, ledger="00112233445566778899AABBCCDDEEFF")),
    "an identity with an end of line": (1, at(0, ledger="00112233445566778899aabbccddeeff\n")),
    "a first line that is a list": (1, lambda export: [b"[]\n", *export[1:]]),
    "a first line that is nothing": (1, lambda export: [b"null\n", *export[1:]]),
    "two first lines": (2, lambda export: [export[0], *export]),
    "deep lists": (2, lambda export: [export[0], DEEP + b"\n", *export[1:]]),
    "deep lists in a field": (15, written(14, b'"tag":', b'"tag":' + DEEP + b',"gat":')),
    "a number past all": (15, written(14, b'"sequence":14', b'"sequence":14' + b"0" * 5000)),
    "a position past all": (15, at(14, position=2**64)),
    "a negative sequence": (15, at(14, sequence=-14)),
    "a sequence that is nothing": (15, at(14, sequence=None)),
    "a stream that is no UTF-8": (15, written(14, b'"stream":"', b'"stream":"\xff')),
    "a stream with half a letter": (15, written(14, b'"stream":"', b'"stream":"\\ud800')),
    "a stream with a NUL": (15, written(14, b'"stream":"', b'"stream":"\\u0000')),
    "a stream in upper case": (15, at(14, stream=instance(1).text.upper())),
    "a tag with a NUL": (15, written(14, b'"tag":"', b'"tag":"\\u0000')),
    "an escaped sign": (15, written(14, b'="', b'\\u003d"')),
    "a blank before the end": (15, written(14, b"\n", b" \n")),
    "a blank before it": (15, written(14, b"{", b" {")),
    "a comment": (15, written(14, b"}", b"/**/}")),
    "two events in a line": (15, written(14, b"\n", b"")),
    "base64 for addresses": (15, at(14, state="_" * 88)),
    "a hash that is shorter": (15, at(14, hash="AAAA")),
    "a hash that is empty": (15, at(14, hash="")),
    "a line of blanks": (15, lambda export: [*export[:14], b" " * 70_000 + b"\n", *export[14:]]),
    "a NUL at the end": (LENGTH + 2, lambda export: [*export, b"\0"]),
    "another export behind it": (LENGTH + 2, lambda export: [*export, *export]),
}


@pytest.mark.parametrize(("line", "forge"), OTHERS.values(), ids=OTHERS)
def test_the_line_that_is_not_sound_is_named(export: Export, line: int, forge: Forge) -> None:
    """Whatever is wrong with it."""
    forged = forge(export)
    assert forged != export
    assert refused_at(forged) == line


FORGERIES = {**TAMPERED, **WRONG_STATES, **{name: forge for name, (_, forge) in OTHERS.items()}}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_nothing_is_written_of_an_export_that_is_not_sound(
    tmp_path: Path, export: Export, forge: Forge
) -> None:
    """Where there was no file there is none, and an empty ledger stays the one that it was."""
    new, empty = tmp_path / "new.db", tmp_path / "empty.db"
    with pytest.raises(InvalidExport):
        imported(forge(export), new)
    assert files_in(tmp_path) == {}
    make_empty(empty)
    with closing(sqlite3.connect(empty)) as connection:
        before = all_rows(connection), definitions(connection)
        with pytest.raises(InvalidExport):
            imported(forge(export), empty)
        assert (all_rows(connection), definitions(connection)) == before
    imported(export, new)
    assert export_of(new) == export


def test_each_line_counts(export: Export) -> None:
    """Left out, repeated, or exchanged with the next one."""
    for n in range(1, LENGTH + 1):
        before, line, after = export[:n], export[n], export[n + 1 :]
        # The last one is missed where the log ends.
        assert refused_at([*before, *after]) == min(n + 1, LENGTH), n
        assert refused_at([*before, line, line, *after]) == n + 2
        assert refused_at([*before, line[:-1]]) == n + 1
        if after:
            assert refused_at([*before, line]) == n + 1
            assert refused_at([*before, after[0], line, *after[1:]]) == n + 1


OTHER_VALUES: dict[str, Callable[[str], object]] = {
    "sequence": lambda _: 7_000,
    "stream": lambda _: instance(4_711).text,
    "position": lambda _: 7_000,
    "tag": lambda tag: {"won": "adopted", "adopted": "won"}.get(tag, "won"),
    "state": lambda state: f"{state[:20]}{'B' if state[20] == 'A' else 'A'}{state[21:]}",
    "hash": lambda digest: f"{'B' if digest[0] == 'A' else 'A'}{digest[1:]}",
}


@pytest.mark.parametrize("field", OTHER_VALUES)
def test_each_field_of_each_line_counts(export: Export, field: str) -> None:
    """The line that was changed is the one that is named."""
    for n in range(1, LENGTH + 1):
        value = OTHER_VALUES[field](json.loads(export[n])[field])
        assert refused_at(at(n, **{field: value})(export)) == n + 1


def test_each_byte_counts(tmp_path: Path) -> None:
    """Of a whole export: whichever of them is changed, it is refused in its line."""
    make_ledger(tmp_path / "short.db", 8)
    export = export_of(tmp_path / "short.db")
    whole = b"".join(export)
    for offset in range(0, len(whole), 7):
        forged = bytearray(whole)
        forged[offset] ^= 1
        line = whole[:offset].count(b"\n") + 1
        named = refused_at([bytes(forged)])
        # What the first line says of the end shows at the end.
        assert named == line or (line == 1 and named in {2, len(export)}), offset


def test_a_chain_that_was_hashed_anew_is_refused_where_it_leaves_the_rules(
    export: Export,
) -> None:
    """Each loser made a winner, each refusal a loss, in turn."""
    for n in range(1, LENGTH + 1, 2):
        tag = json.loads(export[n])["tag"]
        for other in set(get_args(Outcome)) - {tag}:
            forged = rehashed([*export[:n], changed(export[n], tag=other), *export[n + 1 :]])
            if {tag, other} == {"won", "adopted"} and other == "won":
                continue  # that it was witnessed here is what only a checkpoint can disprove
            assert refused_at(forged) == n + 1, (n, tag, other)


class Interrupted(io.BytesIO):
    """A file that is never read to its end."""

    def readline(self, size: int | None = -1) -> bytes:  # type: ignore[override]
        if self.tell() > 5_000:
            raise KeyboardInterrupt
        return super().readline(size)


def test_whoever_interrupts_an_import_leaves_all_as_it_was(tmp_path: Path, export: Export) -> None:
    """Also the operator, who can begin again at once."""
    empty = tmp_path / "empty.db"
    make_empty(empty)
    with LedgerAdmin.open(empty) as admin:
        before = admin.checkpoint()
        with pytest.raises(KeyboardInterrupt):
            admin.import_(Interrupted(b"".join(export)))
        assert admin.checkpoint() == before
        admin.import_(io.BytesIO(b"".join(export)))
        assert admin.verify().length == LENGTH


def test_what_else_is_in_the_database_stays_as_it_is(tmp_path: Path, export: Export) -> None:
    """And what is none, or has other winners, is left alone."""
    theirs = tmp_path / "theirs.db"
    with closing(sqlite3.connect(theirs)) as connection, connection:
        connection.execute("CREATE TABLE theirs AS SELECT 5 AS number")
    imported(export, theirs)
    assert export_of(theirs) == export
    with closing(sqlite3.connect(theirs)) as connection:
        assert connection.execute("SELECT * FROM theirs").fetchall() == [(5,)]
    older, text = tmp_path / "older.db", tmp_path / "text.db"
    make_table(older, [row(1, 1, 1, 0)])
    text.write_bytes(b"no database" * 1000)
    for target, error in ((older, NotAdopted), (text, NotALedger)):
        before = target.read_bytes()
        with pytest.raises(error):
            imported(export, target)
        assert target.read_bytes() == before


@pytest.mark.parametrize("sequence", [5, 9, 11], ids=["a closing", "a withdrawal", "an answer"])
def test_no_edit_of_an_event_is_moved(tmp_path: Path, sequence: int) -> None:
    """Either it cannot be exported, and is named, or its export is refused."""
    make_ledger(tmp_path / "ledger.db", 20)
    edits = [(column, name) for column, name in ALL_EDITS if column != "fingerprint"]
    named = []
    with Specimen(tmp_path / "ledger.db") as specimen:
        for column, name in edits:
            specimen.damage(edit(column, EDITS[column][name], sequence))
            file = io.BytesIO()
            try:
                specimen.admin.export(file)
            except CorruptLedger as error:
                named.append(error.sequence)
                continue
            assert refused_at([file.getvalue()]) >= 1, (column, name)
    assert len(named) > 10
    assert set(named) == {sequence}
