"""Running the real command, as a user would."""

import os
import subprocess
import sys
from pathlib import Path

SAMPLE = "".join(f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5} {k % 11 + 3}:1\n" for k in range(200))


OWN_RULE = (Path(__file__).parents[2] / "examples" / "my_rule.py").read_text()


def noregret(
    *words: str, cwd: Path, stdin: str | bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `noregret WORDS` in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "noregret", *words],
        cwd=cwd,
        env={**os.environ, **environment},
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=120,
    )
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, and one or two lines on standard error that say these things and show no traceback."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.startswith("noregret: ")]
    assert lines, done.stderr
    complaint = done.stderr[done.stderr.index(lines[0]) :]
    assert complaint.count("\n") <= 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    for part in parts:
        assert part in complaint, (part, done.stderr)
