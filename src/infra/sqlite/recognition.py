"""How a ledger is recognised by its tables, made, and brought up to date."""

from __future__ import annotations

import sqlite3

from ...domain.errors import CorruptLedger, NotAdopted, NotALedger, NothingToAdopt, SchemaTooNew
from ...projections.read_models import READ_MODELS, WINNERS
from .schema import META, MIGRATIONS, migrate
from .shapes import Shape, parts, shapes, shapes_of

_WINNERS = WINNERS.table
_READ_MODELS = {model.table for model in READ_MODELS}

_META_COLUMNS = (
    ("id", "INTEGER", 1, None, 1, 0),
    ("schema_version", "INTEGER", 1, None, 0, 0),
    ("ledger_id", "TEXT", 1, None, 0, 0),
)
"""Name, type, NOT NULL, default, place in the primary key, hidden."""


def version_of(connection: sqlite3.Connection, target: str, *, incomplete: bool = False) -> int:
    """The schema version of the ledger behind the connection, 0 where there is none.

    :param incomplete: read models and indexes may be missing: it is an operator who opens it.
    :raises NotALedger: if tables or other things of these names exist that are not ours.
    :raises NotAdopted: if there are winners as a one-row table has them, and no log.
    :raises SchemaTooNew: if a newer version of this package has migrated the ledger.
    :raises CorruptLedger: if part of the ledger is missing or altered.
    """
    found = shapes(connection)
    if not found:
        return 0
    if found.keys() == {_WINNERS} and _is_one_row_table(connection, found[_WINNERS]):
        raise NotAdopted(target)
    # These columns of the meta table stay as they are in every version to come, whatever is
    # added: by them a ledger is known, and its version found.
    columns, _ = found.get(META, ((), frozenset()))
    if columns[: len(_META_COLUMNS)] != _META_COLUMNS:
        names = ", ".join(sorted(found))
        raise NotALedger(target, f"it has something else of the name {names}")
    rows = connection.execute("SELECT schema_version FROM resolution_ledger_meta").fetchall()
    version = rows[0][0] if len(rows) == 1 else None
    if not isinstance(version, int) or version < 1:
        raise CorruptLedger(target, f"schema version {version!r}")
    if version > len(MIGRATIONS):
        raise SchemaTooNew(target, found=version, known=len(MIGRATIONS))
    for name, (columns, indexes) in shapes_of(version).items():
        if name not in found:
            if incomplete and name in _READ_MODELS:
                continue
            remedy = ": rebuild makes it anew" if name in _READ_MODELS else ""
            raise CorruptLedger(target, f"{name} is missing{remedy}")
        if found[name][0] != columns or not (incomplete or found[name][1] >= indexes):
            raise CorruptLedger(target, f"{name} is altered")
    return version


def _is_one_row_table(connection: sqlite3.Connection, shape: Shape) -> bool:
    """Whether the winners are what a ledger can take over, and nothing of it is in the way."""
    columns, indexes = shape
    expected_columns, expected_indexes = shapes_of(1)[_WINNERS]
    # A unique key of other columns alone would one day refuse a row that the log demands.
    unique = {str(index[3]) for index in indexes if index[1]}
    other_keys = {columns for columns in unique if "instance_id " not in columns}
    guards = {part.name for part in parts(1) if part.kind == "trigger"}
    names = {name for (name,) in connection.execute("SELECT lower(name) FROM sqlite_master")}
    return (
        columns == expected_columns
        and indexes >= expected_indexes
        and not other_keys
        and not guards & names
    )


def check_encoding(connection: sqlite3.Connection, target: str) -> None:
    """Refuse a database whose texts are not UTF-8: the guards compare them with stored bytes.

    :raises NotALedger: if they are not.
    """
    (encoding,) = connection.execute("PRAGMA encoding").fetchone()
    if encoding != "UTF-8":
        raise NotALedger(target, f"its texts are in {encoding}, a ledger's are in UTF-8")


def establish(connection: sqlite3.Connection, target: str, *, adopting: bool) -> None:
    """Make the schema where there is none. To be called in a transaction.

    :param adopting: the winners of a one-row table are there, and stay as they are.
    :raises NotAdopted: if they are, and nobody adopts them.
    :raises NothingToAdopt: if they are not.
    """
    try:
        version = version_of(connection, target)
    except NotAdopted:
        if not adopting:
            raise
        version = 0
    else:
        if adopting:
            raise NothingToAdopt(target)
    check_encoding(connection, target)
    bring_up_to_date(connection, target, version)


def bring_up_to_date(connection: sqlite3.Connection, target: str, version: int) -> None:
    """Migrate a ledger of ``version`` (0: there is none). To be called in a transaction.

    :raises NotALedger: if something else has the name of what is to be made.
    """
    if version > 0:
        taken = shapes(connection).keys() - {part.name for part in parts(version)}
        if taken:
            raise NotALedger(
                target, f"it has something else of the name {', '.join(sorted(taken))}"
            )
    migrate(connection, version)


def tables_of(version: int) -> frozenset[str]:
    """The tables of a ledger of this version."""
    return frozenset(shapes_of(version))
