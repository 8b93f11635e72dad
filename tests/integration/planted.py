"""Bugs to plant in a client of a race, each once made by somebody: ``module:function``.

They change the ledger in the process that calls them, before it makes its first call.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from resolution_ledger.domain import decision
from resolution_ledger.domain.errors import StoreBusy
from resolution_ledger.infra import log
from resolution_ledger.infra import store as stores
from resolution_ledger.infra.sqlite import leading
from resolution_ledger.infra.sqlite.connection import OpenConnection
