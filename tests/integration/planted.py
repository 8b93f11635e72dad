"""Bugs to plant in a client of a race: each a function, as ``module:function``.

They change the ledger in the process that calls them, before it makes its first call.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from resolution_ledger.domain import decision
from resolution_ledger.infra import store as stores
from resolution_ledger.infra.sqlite.connection import OpenConnection
from resolution_ledger.infra.sqlite.session import SQLiteSession

_ADDING = ("add_winner", "add_losing_attempt", "add_closed_instance")


def deferred_begin() -> None:
    """A transaction that reads first, and finds out at its first write that it is not alone."""

    def begin_deferred(connection: OpenConnection) -> None:
        if not connection.connection.in_transaction:
            connection.connection.execute("BEGIN")
            connection.check_file()

    OpenConnection.begin = begin_deferred  # type: ignore[method-assign]


def read_model_in_a_second_transaction() -> None:
    """The event is committed, and then its row: whoever dies in between leaves a log alone."""
    late: dict[int, list[tuple[Any, Any, Any]]] = {}
    commit, roll_back = OpenConnection.commit, OpenConnection.roll_back

    def later(add: Any) -> Any:
        def note(session: SQLiteSession, row: Any) -> None:
            late.setdefault(get_ident(), []).append((add, session, row))

        return note

    for name in _ADDING:
        setattr(SQLiteSession, name, later(getattr(SQLiteSession, name)))

    def commit_twice(connection: OpenConnection) -> None:
        commit(connection)
        rows = late.pop(get_ident(), [])
        if rows:
            connection.begin()
            for add, session, row in rows:
                add(session, row)
            commit(connection)

    def forget(connection: OpenConnection) -> None:
        late.pop(get_ident(), None)
        roll_back(connection)

    OpenConnection.commit = commit_twice  # type: ignore[method-assign]
    OpenConnection.roll_back = forget  # type: ignore[method-assign]


def no_key_check() -> None:
    """One key serves for any number of responses."""

    def decide(state: decision.InstanceState, cause: Any) -> decision.Decision:
        state.key_owners.clear()
        return decision.decide(state, cause)

    stores.decide = decide  # type: ignore[attr-defined]


def no_roll_back() -> None:
    """A failed call leaves its transaction open, and the next one goes on in it."""
    begin = OpenConnection.begin

    def begin_or_go_on(connection: OpenConnection) -> None:
        if not connection.connection.in_transaction:
            begin(connection)

    OpenConnection.begin = begin_or_go_on  # type: ignore[method-assign]
    OpenConnection.roll_back = lambda _: None  # type: ignore[method-assign]
    OpenConnection.is_at_rest = lambda connection: connection.usable  # type: ignore[method-assign]
