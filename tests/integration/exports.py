"""Exported ledgers: sound ones, and the tools to forge one."""

from __future__ import annotations

import io
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

import chains
from answers import answer
from integration.one_row_program import make_table, row
from integration.tampering import make_ledger
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE
from submissions import some_submission

Export = list[bytes]
"""The lines of one, each with its end: line n, from 0, is the event of sequence n."""

LENGTH = 60
"""Events of the export that is tampered with."""


def export_of(target: Path | str) -> Export:
    """The export of the ledger at a path."""
    file = io.BytesIO()
    with LedgerAdmin.open(target) as admin:
        admin.export(file)
    return file.getvalue().splitlines(keepends=True)


def imported(export: Export, path: Path) -> str:
    """Make a ledger of the export; the checkpoint of its end."""
    with LedgerAdmin.open(path) as admin:
        return admin.import_(io.BytesIO(b"".join(export)))


def _empty(_: Path) -> Export:
    return export_of(":memory:")


def _adopted(folder: Path) -> Export:
    make_table(folder / "old.db", [row(n, n, n, tick=-n) for n in range(20)])
    with LedgerAdmin.open(folder / "old.db") as admin:
        assert admin.adopt() == 20
    return export_of(folder / "old.db")


def _two_workspaces(folder: Path) -> Export:
    with ExitStack() as stack:
        doors = {
            workspace: stack.enter_context(
                ResolutionLedger.open(folder / "two.db", workspace=workspace, durability="normal")
            )
            for workspace in (WORKSPACE, OTHER_WORKSPACE)
        }
        draw = Random(3)  # noqa: S311 (a reproducible draw, no secret)
        for _ in range(400):
            workspace, submission = some_submission(draw, 20)
            answer(doors[workspace], submission)
    return export_of(folder / "two.db")


def _long(folder: Path) -> Export:
    make_ledger(folder / "long.db", 2500)
    return export_of(folder / "long.db")


def _imported_again(folder: Path) -> Export:
    make_ledger(folder / "original.db", 200)
    imported(export_of(folder / "original.db"), folder / "copy.db")
    return export_of(folder / "copy.db")


CLEAN: dict[str, Callable[[Path], Export]] = {
    "of an empty ledger": _empty,
    "of a ledger that was adopted": _adopted,
    "of two workspaces": _two_workspaces,
    "of a long ledger": _long,
    "of a ledger that was imported": _imported_again,
}
"""Sound exports, each made in a folder of its own."""


def sample(folder: Path) -> Export:
    """Of a ledger with every outcome in it, adopted wins first."""
    make_ledger(folder / "sample.db", LENGTH)
    return export_of(folder / "sample.db")


def spelled(values: object) -> bytes:
    """A line, spelled as an export spells it."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def changed(line: bytes, **fields: object) -> bytes:
    """The line with other values in some of its fields."""
    return spelled(json.loads(line) | fields)


def state_of(line: bytes) -> bytes:
    """What the line's event says."""
    return b64decode(json.loads(line)["state"])


def number_of(export: Export, **fields: object) -> int:
    """The number of the first line that has these values."""
    return next(
        number for number, line in enumerate(export) if fields.items() <= json.loads(line).items()
    )


def rehashed(export: Export) -> Export:
    """The export as a forger would hand it in: every hash fits again, and the first line."""
    header, *events = map(json.loads, export)
    chain = chains.hashes(
        header["ledger"],
        (
            (line["sequence"], line["stream"], line["position"], line["tag"], state_of(text))
            for line, text in zip(events, export[1:], strict=True)
        ),
    )
    hashes = [b64encode(h).decode() for h in (chains.origin(header["ledger"]), *chain)]
    return [
        changed(export[0], length=len(events), hash=hashes[-1]),
        *(changed(line, hash=text) for line, text in zip(export[1:], hashes[1:], strict=True)),
    ]


def renumbered(export: Export) -> Export:
    """The same with sequences and positions that have no gap."""
    positions: dict[str, int] = {}
    events = []
    for sequence, event in enumerate(map(json.loads, export[1:]), start=1):
        position = positions[event["stream"]] = positions.get(event["stream"], 0) + 1
        events.append(spelled(event | {"sequence": sequence, "position": position}))
    return rehashed([export[0], *events])
