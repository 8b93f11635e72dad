"""``resolution-ledger`` and ``python -m resolution_ledger``."""

from __future__ import annotations

import sys

_WHAT_TO_INSTALL = "The command line needs more packages: pip install 'resolution-ledger[cli]'"
_OF_THE_EXTRA = ("click", "rich")


def main() -> int:
    """Run the command line, or say what it takes to have one."""
    try:
        from .cli import run

        return run()
    except KeyboardInterrupt:  # before there is anything to interrupt
        return 130
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_EXTRA:
            raise
        print(_WHAT_TO_INSTALL, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
