"""Where the numbers come from: enough to judge them by, nothing that names the machine."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import version


def environment() -> dict[str, str]:
    """Versions and sizes, by what they are."""
    return {
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": sqlite3.sqlite_version,
        "eventsourcing": version("eventsourcing"),
        "CPUs": str(os.cpu_count()),
        "platform": f"{platform.system()} {platform.machine()}",
    }
