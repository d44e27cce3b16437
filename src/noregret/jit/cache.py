"""The folder of compiled loops: what a loop is known by, how long was waited, what is said when one cannot be made."""

import contextlib
import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from noregret.tasks.assemble import Plan
from noregret.tasks.task import Task

BOUNDS = bool(os.environ.get("NOREGRET_BOUNDS_CHECK"))
OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": BOUNDS}
MADE_WITH = (sorted(OPTIONS.items()), version("numba"))

_waited = threading.local()


def waits() -> float:
    """The seconds this thread has waited for loops to be compiled or read from disk: nobody's running time."""
    return float(getattr(_waited, "seconds", 0.0))


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        _waited.seconds = waits() + time.perf_counter() - began


def writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def discarded(folder: Path, symbol: str) -> bool:
    """Remove the files of one loop from the cache; says whether there were any."""
    files = list(folder.glob(f"*/*.{symbol}-*"))
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()
    return bool(files)


def files_hash(files: Iterable[Path], options: Any) -> str:
    """A hash of texts and of how they are compiled."""
    digest = hashlib.sha256(repr(options).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def source_hash(task: type[Task], options: Any) -> str:
    """A hash of our own texts a loop is made from: the algebra, its task, the entry, `native`."""
    here = Path(__file__).parents[1]
    files = sorted((here / "algebra").glob("*.py"))
    moves = [move for choice in task.options.values() for move in choice.among.values() if hasattr(move, "__code__")]
    texts = {text.__code__.co_filename for text in (task.play, task.score_rows, *moves)}
    files += [*map(Path, sorted(texts)), here / "tasks/hooks.py", here / "tasks/entry.py"]
    files += [here / "tasks/assemble.py", here / "jit/layout.py", here / "jit/compiler.py"]
    return files_hash(files, options)


def explain(plan: Plan, error: Exception) -> str:
    """One or two lines that name the rule's file and line."""
    code = plan.card.rule.__code__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [re.match(r'File "(.*)", line (\d+)|.*Raised from (.*) \((\d+)\)$', line) for line in lines]
    found = [(one[1] or one[3], one[2] or one[4]) for one in told if one is not None]
    numbers = [number for file, number in found if Path(file).resolve() == Path(code.co_filename).resolve()]
    where = f"{code.co_filename}:{numbers[-1] if numbers else code.co_firstlineno}"
    noise = ("Failed in", "File", "-", "During", "Overload", "There are", "- Of")
    reason = next((line for line in lines if not line.startswith(noise)), "it uses something that cannot be compiled")
    reason = re.sub(r"\.* Raised from .*", "", reason)
    called = re.match(r"No implementation of function Function\(<(?:verb|function|built-in function) (\w+)", reason)
    if called is not None:
        reason = f"{called[1]} has no meaning for what it is given there"
    return f"{where}: rule {plan.card.name} cannot be compiled: {reason[:200]}"
