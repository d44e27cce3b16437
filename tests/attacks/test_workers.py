"""The processes that attacks run in: what hangs is ended, and what only waits for a processor is not."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("does", "ends_by"),
    [("while True: pass", signal.SIGPROF), ("time.sleep(0.5)", 0), ("time.sleep(30.0)", signal.SIGALRM)],
)
def test_computing_is_limited_more_strictly_than_waiting(does: str, ends_by: int) -> None:
    program = f"import time\nfrom tests.attacks.workers import limit_time\nlimit_time(0.1)\n{does}\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60, check=False)
    assert done.returncode == -ends_by
