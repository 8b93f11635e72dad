"""Many callers at once, and few connections."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from integration.crowds import ANSWER, CROWD, FILES, wait_in_a_crowd
from processes import run_alone


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files cannot be counted here")
def test_a_crowd_that_waits_for_one_answer_is_told_with_few_files_open(path: Path) -> None:
    told, opened = run_alone(wait_in_a_crowd, str(path))
    assert told == [str(ANSWER)] * CROWD
    assert opened < FILES // 2
