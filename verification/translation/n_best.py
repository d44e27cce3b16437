"""Write n-best lists of a translator as JSON lines, for rerankers.

    python -m verification.translation.n_best base.nr --out DIR [--count 50]

writes DIR/NAME.jsonl for every test set; a line is {"source", "reference", "candidates": [{"text", "score"}, ...]}.
"""

import argparse
import json
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import noregret as nr
from noregret.neural.translation.tensors import torch
from verification.reproduce.data import Missing, folder
from verification.translation.domains import FILES, Pairs, read_pairs, shifted_stream, split_domains

CHUNK = 16
TRANSLATOR: Any = None  # of this process
COUNT = 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.translation.n_best", description=__doc__)
    parser.add_argument("model", help="a model of verification.translation.train")
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where the lists go")
    parser.add_argument("--count", type=int, default=50, help="candidates of a sentence")
    parser.add_argument("--only", nargs="+", help="some of the test sets")
    parser.add_argument("--limit", type=int, help="so many sentences of each")
    parser.add_argument("--processes", type=int, default=1)
    told = parser.parse_args(arguments)
    try:
        data = folder(told.data, FILES[0])
    except Missing as missing:
        print(f"python -m verification.translation.n_best: {missing}", file=sys.stderr)
        return 2
    told.out.mkdir(parents=True, exist_ok=True)
    with get_context("spawn").Pool(told.processes, start, (told.model, told.count)) as pool:
        for name, pairs in test_sets(data).items():
            if told.only and name not in told.only:
                continue
            chosen = pairs.between(0, told.limit)
            with open(told.out / f"{name}.jsonl", "w", encoding="utf-8") as file:
                for line in pool.imap(list_one, zip(*chosen, strict=True), CHUNK):
                    file.write(line)
            print(f"{name}: {len(chosen.sources):,} lists written", flush=True)
    return 0


def test_sets(data: Path) -> dict[str, Pairs]:
    """By name: the tests of the base domain, and the stream of the new one."""
    stream, _ = shifted_stream(data)
    return {
        "validation": split_domains(read_pairs(data, "val"))[0],
        "test_2016": split_domains(read_pairs(data, "test_2016_flickr"))[0],
        "test_2017_mscoco": read_pairs(data, "test_2017_mscoco"),
        "water_and_winter": stream,
    }


def start(model: str, count: int) -> None:
    """Load the model once in each process."""
    global TRANSLATOR, COUNT
    torch().set_num_threads(1)
    TRANSLATOR, COUNT = nr.load(model), count


def list_one(pair: tuple[str, str]) -> str:
    """The line of a pair."""
    found = TRANSLATOR.n_best(pair[0], COUNT)
    candidates = [{"text": one.text, "score": round(one.score, 5), "log_p": round(one.logarithm, 4)} for one in found]
    return json.dumps({"source": pair[0], "reference": pair[1], "candidates": candidates}, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
