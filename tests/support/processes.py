"""Running Python in a process of its own, with a cache folder of its own, and hearing what it compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

PREAMBLE = """
import json, logging, sys, warnings
import numpy as np
import scipy.sparse as sp
compiled, warned = [], []
class Listener(logging.Handler):
    def emit(self, record):
        compiled.append(record.getMessage())
logging.getLogger("noregret").addHandler(Listener())
logging.getLogger("noregret").setLevel(logging.INFO)
warnings.simplefilter("always")
warnings.showwarning = lambda message, *rest: warned.append(str(message))
X = np.round(np.random.default_rng(0).normal(size=(20, 4)), 3)
Y = np.where(X[:, 0] > X[:, 1], 1, -1)
"""
ENDING = '\nprint(json.dumps({"compiled": compiled, "warned": warned, "said": globals().get("said")}))\n'


class Told:
    """What a process compiled, warned of, and left in its variable `said`."""

    def __init__(self, text: str) -> None:
        told = json.loads(text.splitlines()[-1])
        log: list[str] = told["compiled"]
        self.compiled = sorted(
            line.removeprefix("compiled ").rpartition("_")[0] for line in log if line.startswith("compiled ")
        )
        self.log = log
        self.warned: list[str] = told["warned"]
        self.said = told["said"]


def in_a_process(code: str, cache: Path | None = None, path: Path | None = None) -> Told:
    environment = dict(os.environ)
    if cache is not None:
        environment["NOREGRET_CACHE"] = str(cache)
    if path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), *filter(None, [environment.get("PYTHONPATH")])])
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    whole = [sys.executable, "-c", PREAMBLE + code + ENDING]
    ended = subprocess.run(whole, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return Told(ended.stdout)


def modules_after(code: str) -> set[str]:
    """The modules that are loaded after some code ran in a fresh process."""
    whole = f"import sys\n{code}\nprint('\\n' + ' '.join(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.splitlines()[-1].split())
