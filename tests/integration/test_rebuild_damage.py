"""Whatever is done to the rows of the read models, a rebuild puts right: that, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from inside import Rows, all_rows
from integration.tampering import GREATEST, LEAST, NOBODYS, Specimen, make_ledger, sql
from paging import read_by
from resolution_ledger import Report
from resolution_ledger.projections.read_models import (
    CLOSED_INSTANCES,
    LOSING_ATTEMPTS,
    READ_MODELS,
    WINNERS,
    ReadModel,
)

LENGTH = 60


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """A ledger in which everything has happened, and whose table of winners is an older one."""
    path = tmp_path_factory.mktemp("rows") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


@pytest.fixture(scope="module")
def sound(specimen: Specimen) -> Rows:
    """What is in the tables of the undamaged ledger."""
    return all_rows(specimen.connection)


def rebuilt(specimen: Specimen, sound: Rows, *statements: str) -> Report:
    """What is reported when the rows that these statements have damaged are rebuilt."""
    specimen.damage(*statements)
    report = specimen.admin.rebuild()
    assert all_rows(specimen.connection) == sound
    assert specimen.admin.verify().findings == ()
    assert specimen.admin.rebuild().count == 0
    return report


VALUES = ["'no such value'", "CAST(x'ff' AS TEXT)", "x'ff'", "x''", "-5", "0.5"]
"""Nothing that is in any column."""

COLUMNS = [(model, column) for model in READ_MODELS for column in model.columns]


@pytest.mark.parametrize(
    ("model", "column"), COLUMNS, ids=[f"{model.table}.{column}" for model, column in COLUMNS]
)
def test_every_column_of_a_row_is_mended(
    specimen: Specimen, sound: Rows, model: ReadModel, column: str
) -> None:
    """Where it is the key, the row is missed under one key and found under another."""
    key = model.columns[0]
    numbers = [str(GREATEST), str(LEAST), "0", "-5"]
    for value in numbers if column == "sequence" else VALUES:
        for place in (0, 1):
            report = rebuilt(
                specimen,
                sound,
                f"UPDATE {model.table} SET {column} = {value} WHERE {key} ="  # noqa: S608
                f" (SELECT {key} FROM {model.table} ORDER BY 1 LIMIT 1 OFFSET {place})",
            )
            assert {finding.kind for finding in report.findings} == {model.kind}
            assert report.count == (2 if column == key else 1)


ALL_DAMAGED = {
    "emptied": tuple(f"DELETE FROM {model.table}" for model in READ_MODELS),  # noqa: S608
    "one emptied": ("DELETE FROM losing_attempts",),
    "one value everywhere": (
        "UPDATE closed_instances SET reason = 'theirs', closed_tick = 'noon'",
        "UPDATE interaction_resolutions SET workspace_key = 'theirs'",
        "UPDATE losing_attempts SET instance_id = 'theirs', attempted_tick = 'noon'",
    ),
    "every row under another's key": (
        "UPDATE losing_attempts SET sequence = -sequence",
        f"UPDATE losing_attempts SET sequence = sequence + {LENGTH + 1}",  # noqa: S608
        "UPDATE interaction_resolutions SET instance_id = upper(instance_id)",
        "UPDATE closed_instances SET instance_id = upper(instance_id)",
    ),
    "every row shifted by one": (
        "UPDATE losing_attempts SET sequence = -sequence",
        "UPDATE losing_attempts SET sequence = 1 - sequence",
    ),
}


@pytest.mark.parametrize("statements", ALL_DAMAGED.values(), ids=ALL_DAMAGED)
@pytest.mark.parametrize("page", [1, 7, 1000])
def test_a_table_is_mended_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
    specimen: Specimen,
    sound: Rows,
    page: int,
    statements: tuple[str, ...],
) -> None:
    read_by(monkeypatch, page)
    assert rebuilt(specimen, sound, *statements).count >= len(sound["losing_attempts"])


NO_WINNERS = {
    "before all others": "''",
    "behind all others": "'z'",
    "of no event": sql(NOBODYS["instance"]),
    "of what was closed": "(SELECT min(instance_id) FROM closed_instances)",
    "with something behind it": f"{sql(NOBODYS['instance'])} || ' '",
    "with a NUL in it": f"{sql(NOBODYS['instance'])} || char(0) || 'x'",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
    "no UTF-8 inside": "CAST(x'62ff62' AS TEXT)",
    "bytes": "x'ff'",
    "no bytes": "x''",
    "a winner's, as bytes": "CAST((SELECT min(instance_id) FROM interaction_resolutions) AS BLOB)",
    "a winner's, in capitals": "(SELECT upper(min(instance_id)) FROM interaction_resolutions)",
    "none": "NULL",
}

NOT_CLOSED = {
    "behind all others": "'z'",
    "of no event": sql(NOBODYS["instance"]),
    "of what was won": "(SELECT min(instance_id) FROM interaction_resolutions)",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
    "bytes": "x'ff'",
    "a closed one, as bytes": "CAST((SELECT min(instance_id) FROM closed_instances) AS BLOB)",
}

NO_LOSERS = {
    "a win's": "1",
    "zero": "0",
    "negative": "-1",
    "the least": str(LEAST),
    "the next": str(LENGTH + 1),
    "the greatest": str(GREATEST),
}

EXTRA_ROWS = [
    *(
        f"INSERT INTO interaction_resolutions VALUES ({key}, 'w', 'r', 'k', 0)"  # noqa: S608
        for key in NO_WINNERS.values()
    ),
    *(
        f"INSERT INTO closed_instances VALUES ({key}, 'w', 'expired', '', 0)"  # noqa: S608
        for key in NOT_CLOSED.values()
    ),
    *(
        f"INSERT INTO losing_attempts VALUES ({key}, 'i', 2, 'lost', 'w', 'r', 'k', '', 0)"  # noqa: S608
        for key in NO_LOSERS.values()
    ),
]


@pytest.mark.parametrize("statement", EXTRA_ROWS, ids=[*NO_WINNERS, *NOT_CLOSED, *NO_LOSERS])
@pytest.mark.parametrize("page", [1, 1000])
def test_a_row_without_an_event_is_removed(
    monkeypatch: pytest.MonkeyPatch, specimen: Specimen, sound: Rows, page: int, statement: str
) -> None:
    read_by(monkeypatch, page)
    report = rebuilt(specimen, sound, statement)
    (finding,) = report.findings
    assert finding.expected is None
    assert finding.found is not None


@pytest.mark.parametrize("of", ["NULL", "'a' || i", "'z' || i", "CAST(i AS BLOB)"])
def test_more_rows_without_an_event_than_a_page_holds_are_removed(
    monkeypatch: pytest.MonkeyPatch, specimen: Specimen, sound: Rows, of: str
) -> None:
    """Rows without any key, too, of which an older table can have many."""
    read_by(monkeypatch, 10)
    rows = f"""
        WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 125)
        INSERT INTO interaction_resolutions SELECT {of}, 'w', 'r', 'k', 0 FROM n
    """  # noqa: S608
    assert rebuilt(specimen, sound, rows).count >= 1


@pytest.mark.parametrize("seed", range(6))
def test_any_mixture_of_damage_is_mended(
    monkeypatch: pytest.MonkeyPatch, specimen: Specimen, sound: Rows, seed: int
) -> None:
    draw = Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    read_by(monkeypatch, draw.choice([1, 2, 3, 10]))
    statements = draw.sample(EXTRA_ROWS, 6)
    for model, count in ((WINNERS, 7), (LOSING_ATTEMPTS, 5), (CLOSED_INSTANCES, 2)):
        key, *columns = model.columns
        for row in draw.sample(sound[model.table], count):
            value = draw.choice(VALUES)
            change = f"UPDATE {model.table} SET {draw.choice(columns)} = {value}"  # noqa: S608
            what = draw.choice([change, f"DELETE FROM {model.table}"])  # noqa: S608
            statements.append(f"{what} WHERE {key} = {row[0]!r}")
    assert rebuilt(specimen, sound, *statements).count == 20
