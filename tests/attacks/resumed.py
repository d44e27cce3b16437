"""Models that say where their source stood and how it was read, in ways that cannot be: resumed or refused."""

import copy
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import noregret as nr
from noregret.learner.model_file import unpack
from tests.attacks.mutations import IN_HEADER, seal
from tests.support.command_line import noregret

ROWS = [(number % 5, number % 3, int(number % 5 > 2)) for number in range(60)]
FILES = {
    "t.csv": "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS),
    "t.svm": "".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in ROWS),
    "t.jsonl": "".join(f'{{"a": {a}, "b": {b}, "y": {y}}}\n' for a, b, y in ROWS),
    "t.vw": "".join(f"{2 * y - 1} | a:{a} b:{b}\n" for a, b, y in ROWS),
}
NAMES = (*FILES, "t.parquet", "iris", "many")
WAYS: tuple[tuple[str, ...], ...] = ((), ("--limit", "40"), ("--passes", "2"), ("--shuffle", "3"), ("--skip", "7"))


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    columns = zip(*ROWS, strict=True)
    pq.write_table(pa.table(dict(zip("aby", map(list, columns), strict=True))), folder / "t.parquet")


def words(name: str) -> list[str]:
    return ["t.svm", "t.svm"] if name == "many" else [name]


@cache
def interrupted(name: str, way: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and arrays of a model that was saved; its source is told not to have ended."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder)
        done = noregret("learn", *words(name), "--learner", "pa1", "--set", "native=False", "--save", "m.nr", "--quiet",
                        *way, cwd=folder)  # fmt: skip
        assert done.returncode == 0, done.stderr
        learner = nr.load(folder / "m.nr")
        header, arrays = learner.dump()
        assert learner.source is not None
        return {"kind": learner.kind, **header, "source": {**learner.source, "ended": False}}, arrays


def attack(number: int) -> str:
    """Resume a model whose source was changed."""
    rng = np.random.default_rng(number)
    name, way = NAMES[number % len(NAMES)], WAYS[int(rng.integers(len(WAYS)))]
    header, arrays = interrupted(name, way)
    header = copy.deepcopy(header)
    inner = {"source": header["source"]}
    done = []
    for _ in range(rng.choice((1, 2, 3))):
        done.append(IN_HEADER[rng.integers(len(IN_HEADER))]((inner, {}), rng))
    content = seal({**header, "source": inner.get("source")}, arrays)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder)
        (folder / "m.nr").write_bytes(content)
        ended = noregret("learn", *words(name), "--resume", "m.nr", "--quiet", cwd=folder)
        title = f"resumed {number} ({name} {way}: {'; '.join(done)})"
        assert ended.returncode in (0, 2), f"{title}: exit code {ended.returncode}: {ended.stderr}"
        assert "Traceback" not in ended.stderr, f"{title}: {ended.stderr}"
        if ended.returncode == 0:
            unpack((folder / "m.nr").read_bytes(), "m.nr")
        else:
            assert (folder / "m.nr").read_bytes() == content, f"{title}: a refused command changed the model"
    return "resumed" if ended.returncode == 0 else "refused"
