"""The contenders by name, for processes that are told which one to open."""

from __future__ import annotations

from .ordinary import ORDINARY_KIND
from .ours import OURS_KIND
from .plain import PLAIN_KIND

KINDS = {kind.name: kind for kind in (OURS_KIND, PLAIN_KIND, ORDINARY_KIND)}
