"""Start-up times: the import, the first compiled round, compiling everything."""

import os
import subprocess
import sys
import tempfile
from time import perf_counter

from benchmarks.measure import Row, Times, installed

TITLE = "Start-up, each in its own process"

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"

FIRST_ROUND = """
import numpy, scipy.sparse, noregret
X = scipy.sparse.csr_array(numpy.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
noregret.make("pa1").learn(X, numpy.array([1, -1]))
"""

# The guard lets a compiler that starts worker processes import this as their main module.
EVERYTHING = """
import noregret
if __name__ == "__main__":
    noregret.warm()
"""


def inside(module: str) -> float:
    """Seconds the import takes, by the clock of the process that does it."""
    done = subprocess.run([sys.executable, "-c", IMPORT.format(module)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def wall(program: str, cache: str | None = None) -> float:
    """Seconds from starting Python on a program to its end."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NOREGRET_CACHE"] = cache
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(program)
        start = perf_counter()
        subprocess.run([sys.executable, path], check=True, capture_output=True, env=environment)
        return perf_counter() - start


def command(*words: str, cache: str | None = None, cwd: str | None = None) -> float:
    """Seconds a command takes, from its start to its end."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NOREGRET_CACHE"] = cache
    start = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "noregret", *words], check=True, capture_output=True, env=environment, cwd=cwd
    )
    return perf_counter() - start


def commands() -> Times:
    """Waiting times of commands: the catalogue, a small race with a filled cache, the very first race."""
    times: Times = {"learners": [], "small race": [], "first race": []}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "small.svm"), "w") as file:
            file.writelines(f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5} {k % 11 + 3}:1\n" for k in range(200))
        command("race", "small.svm", cwd=folder)
        for _ in range(7):
            times["learners"].append(command("learners"))
            times["small race"].append(command("race", "small.svm", cwd=folder))
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            times["first race"].append(command("race", cache=cache))
    return times


def from_nothing() -> float:
    with tempfile.TemporaryDirectory() as cache:
        return wall(EVERYTHING, cache)


def run() -> list[Row]:
    modules = ["noregret", "sklearn.linear_model", *(["river.linear_model"] if installed("river") else [])]
    imports: Times = {module: [] for module in modules}
    walls: Times = {"import": [], "first round": [], "everything": []}
    wall(FIRST_ROUND)  # fills the cache on disk
    for _ in range(7):
        for module in modules:
            imports[module].append(inside(module))
        walls["import"].append(wall("import noregret"))
        walls["first round"].append(wall(FIRST_ROUND))
    for _ in range(2):
        walls["everything"].append(from_nothing())

    typed = commands()
    others = ", ".join(f"{module} {min(imports[module]):.2f} s" for module in modules[1:])

    def seconds(work: str, times: list[float], at_most: float | None, peer: str = "") -> Row:
        shown = f"{min(times):.3f} s"
        return Row(work, shown, peer, min(times), "s", at_most=at_most, seconds={work: times})

    return [
        seconds("import noregret, the import alone", imports["noregret"], 0.15, others),
        seconds("import noregret, the whole process", walls["import"], None),
        seconds("a process to its first compiled round, cache filled", walls["first round"], 1.2),
        seconds("warm(): compile everything, cache empty", walls["everything"], 15.0),
        seconds("`noregret learners`", typed["learners"], 0.4),
        seconds("`noregret race small.svm`, the default learners, cache filled, to its end", typed["small race"], 2.0),
        seconds("`noregret race`, the very first: compiling, then digits", typed["first race"], 30.0),
    ]
