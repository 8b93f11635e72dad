"""Rows that no ledger could hold stop an adoption: they are listed, and nothing is changed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from inside import files_in
from integration import one_row_program
from integration.rebuilders import open_admin
from resolution_ledger import CannotAdopt
from resolution_ledger.infra import adoption
from samples import instance, key, response

INSERT = "INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?)"

GOOD = [one_row_program.row(i, 1, 1, i) for i in range(10)]


@pytest.fixture(params=one_row_program.FORMS.values(), ids=one_row_program.FORMS)
def path(request: pytest.FixtureRequest, path: Path) -> Path:
    """Where the database of an older program is."""
    one_row_program.make_table(path, GOOD, request.param)
    return path


OF_ANOTHER_CODEC = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"

ID, ANSWER, KEY = instance(99).text, response(99).text, key(99).text

NOT_CANONICAL: dict[str, one_row_program.Row] = {
    "an id in capitals": (ID.upper(), "w", ANSWER, KEY, 0),
    "an id of another codec": (
        "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
        "w",
        ANSWER,
        KEY,
        0,
    ),
    "an empty id": ("", "w", ANSWER, KEY, 0),
    "an id with a space behind": (f"{ID} ", "w", ANSWER, KEY, 0),
    "an id with a NUL behind": (f"{ID}\0", "w", ANSWER, KEY, 0),
    "an id that is bytes": (ID.encode(), "w", ANSWER, KEY, 0),
    "a response in capitals": (instance(80).text, "w", ANSWER.upper(), KEY, 0),
    "a response that is no id": (instance(81).text, "w", "yes", KEY, 0),
    "a response that is bytes": (instance(82).text, "w", ANSWER.encode(), KEY, 0),
    "an empty key": (instance(83).text, "w", ANSWER, "", 0),
    "a key with a NUL": (instance(84).text, "w", ANSWER, "a\0", 0),
    "a key that is too long": (instance(85).text, "w", ANSWER, "\u00e9" * 257, 0),
    "an empty workspace": (instance(86).text, "", ANSWER, KEY, 0),
    "a workspace that is too long": (instance(87).text, "w" * 513, ANSWER, KEY, 0),
    "a workspace that is bytes": (instance(88).text, b"w", ANSWER, KEY, 0),
    "a tick that is text": (instance(89).text, "w", ANSWER, KEY, "noon"),
    "a tick that is a fraction": (instance(90).text, "w", ANSWER, KEY, 0.5),
    "a tick that is too great": (instance(91).text, "w", ANSWER, KEY, float(2**63)),
    "a tick that is bytes": (instance(92).text, "w", ANSWER, KEY, b"0"),
}


def test_rows_that_are_not_canonical_are_all_listed_and_nothing_is_changed(
    path: Path, tmp_path: Path
) -> None:
    """And once they are corrected, or gone, the rest can be adopted."""
    with closing(one_row_program.connect(path)) as connection:
        connection.executemany(INSERT, NOT_CANONICAL.values())
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(CannotAdopt) as error:
        admin.adopt()
    assert files_in(tmp_path) == before
    listed = [name for name, _ in error.value.rows]
    assert sorted(listed) == sorted(str(row[0]) for row in NOT_CANONICAL.values())
    assert all(reason for _, reason in error.value.rows)
    assert str(len(listed) - 3) in str(error.value)
    with closing(one_row_program.connect(path)) as connection:
        assert one_row_program.decide(connection, 50, 1) is None
        for row in NOT_CANONICAL.values():
            connection.execute("DELETE FROM interaction_resolutions WHERE instance_id = ?", row[:1])
    with open_admin(path) as admin:
        assert admin.adopt() == len(GOOD) + 1


@pytest.mark.parametrize("name", NOT_CANONICAL)
@pytest.mark.parametrize("when", ["first", "last"])
def test_one_row_that_is_not_canonical_stops_it(
    path: Path, tmp_path: Path, name: str, when: str
) -> None:
    row = NOT_CANONICAL[name]
    if row[4] == 0:
        row = *row[:4], -1 if when == "first" else 1000
    with closing(one_row_program.connect(path)) as connection:
        connection.execute(INSERT, row)
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(CannotAdopt) as error:
        admin.adopt()
    assert [listed for listed, _ in error.value.rows] == [str(row[0])]
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("column", range(4))
def test_a_row_that_is_no_utf_8_is_listed_like_any_other(
    path: Path, tmp_path: Path, column: int
) -> None:
    row = one_row_program.row(50, 1, 1, 0)
    values = ["CAST(? AS TEXT)" if place == column else "?" for place in range(5)]
    with closing(one_row_program.connect(path)) as connection:
        connection.execute(
            f"INSERT INTO interaction_resolutions VALUES ({', '.join(values)})",  # noqa: S608
            [b"\xff" if place == column else value for place, value in enumerate(row)],
        )
        connection.execute(INSERT, NOT_CANONICAL["an empty key"])
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(CannotAdopt) as error:
        admin.adopt()
    assert len(error.value.rows) == 2
    assert files_in(tmp_path) == before


def test_rows_without_any_id_stop_it(tmp_path: Path) -> None:
    """As a table with a rowid can have them."""
    path = tmp_path / "rowid.db"
    nobody = (None, "w", ANSWER, KEY, 0)
    one_row_program.make_table(path, [*GOOD, nobody, nobody])
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(CannotAdopt) as error:
        admin.adopt()
    assert len(error.value.rows) == 2
    assert files_in(tmp_path) == before


def test_of_very_many_rows_some_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    one_row_program.make_table(path, [(f"no id {n}", "w", ANSWER, KEY, 0) for n in range(1500)])
    with open_admin(path) as admin, pytest.raises(CannotAdopt) as error:
        admin.adopt()
    assert len(error.value.rows) == adoption.LISTED == 1000
