"""Reading a ledger by small pages, so that a small one has many of them."""

from __future__ import annotations

from functools import partial

import pytest

from resolution_ledger.infra import ranges, runs, trail, transfer, verify


def read_by(patch: pytest.MonkeyPatch, size: int) -> None:
    """From now on, so many events or rows are read at once."""
    patch.setattr(trail, "attempts", partial(trail.attempts, page=size))
    patch.setattr(verify, "log_pages", partial(runs.log_pages, page=size))
    patch.setattr(transfer, "ordered_log_pages", partial(runs.ordered_log_pages, page=size))
    patch.setattr(verify, "stream_pages", partial(runs.stream_pages, page=size))
    patch.setattr(ranges, "PAGE", size)
    patch.setattr(transfer, "PAGE", size)
