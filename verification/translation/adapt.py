"""Measure how a translator adapts: every update on new domains, beside no update, and what it forgets.

    python -m verification.translation.adapt base.nr --stage tune --out DIR --processes 16
    python -m verification.translation.adapt base.nr --stage measure --out DIR --processes 16

Each writes DIR/STAGE.jsonl, which `python -m verification.translation.tables` turns into tables and a figure.
"""

import argparse
import json
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from noregret.neural.translation.updates import OPTIMIZERS
from verification.reproduce.data import Missing, folder
from verification.translation.domains import FILES
from verification.translation.jobs import Job, measure, read_sets, start

GRID: dict[str, tuple[float, ...]] = {
    "sgd": (0.003, 0.01, 0.02, 0.05, 0.1),
    "adagrad": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "adadelta": (0.01, 0.03, 0.1, 0.3, 1.0),
    "adam": (1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
    "pa": (0.003, 0.01, 0.02, 0.05, 0.1),
}
MARGINS = (0.0, 0.5)  # of pa
REPLAYED = ("sgd", "adagrad")
REPORTED = ("water_and_winter", "test_2017_mscoco", "house_style")
PART = 700  # pairs of a job
EVERY = 4  # strokes are counted of every fourth pair: they cost more than all else


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.translation.adapt", description=__doc__)
    parser.add_argument("model", help="a model of verification.translation.train")
    parser.add_argument("--stage", choices=["tune", "measure"], required=True)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where the records go")
    parser.add_argument("--etas", type=float, nargs="+", help="tune with these rates of the grid only")
    parser.add_argument("--limit", type=int, default=2000, help="at most so many pairs of each set")
    parser.add_argument("--processes", type=int, default=1)
    told = parser.parse_args(arguments)
    try:
        data = folder(told.data, FILES[0])
    except Missing as missing:
        print(f"python -m verification.translation.adapt: {missing}", file=sys.stderr)
        return 2
    told.out.mkdir(parents=True, exist_ok=True)
    sizes = {name: min(told.limit, len(pairs.sources)) for name, pairs in read_sets(data).items()}
    jobs = tuning(sizes, told.etas) if told.stage == "tune" else measuring(sizes)
    jobs.sort(key=cost, reverse=True)
    with (
        open(told.out / f"{told.stage}.jsonl", "w", encoding="utf-8") as file,
        get_context("spawn").Pool(told.processes, start, (told.model, data)) as pool,
    ):
        for done, one in enumerate(pool.imap_unordered(measure, jobs), 1):
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
            file.flush()
            print(f"{done} of {len(jobs)}: {one['method']} on {one['job']['set']}, {one['seconds']:.0f} s", flush=True)
    return 0


def tuning(sizes: dict[str, int], etas: list[float] | None = None) -> list[Job]:
    """Every rate of every update, with greedy decoding."""
    options: list[dict[str, Any]] = [
        {"optimizer": name, "eta": eta, "beam": 1, "margin": margin}
        for name, rates in GRID.items()
        for eta in rates
        if etas is None or eta in etas
        for margin in (MARGINS if name == "pa" else (0.0,))
    ]
    jobs = [Job(name, {"beam": 1}, updates=False, stop=sizes[name]) for name in sizes if name.startswith("tuning")]
    return jobs + [Job(job.set, one, stop=job.stop) for job in jobs for one in options]


def measuring(sizes: dict[str, int]) -> list[Job]:
    """Every update at its usual rate, in parts, and the base domain after all of the first stream."""
    jobs = []
    for name in REPORTED:
        for first in range(0, sizes[name], PART):
            part: dict[str, Any] = {"start": first, "stop": min(first + PART, sizes[name]), "strokes": EVERY}
            jobs.append(Job(name, updates=False, **part))
            jobs += [Job(name, {"optimizer": optimizer}, **part) for optimizer in OPTIMIZERS]
    shifted = REPORTED[0]
    jobs.append(Job(shifted, updates=False, plays=False, base=sizes["base"]))
    for optimizer in OPTIMIZERS:
        after: dict[str, Any] = {"options": {"optimizer": optimizer}, "stop": sizes[shifted], "base": sizes["base"]}
        jobs.append(Job(shifted, plays=False, **after))
        if optimizer in REPLAYED:
            jobs.append(Job(shifted, replay=True, start=sizes[shifted] // 2, **after))
    return jobs


def cost(job: Job) -> float:
    """About how long a job takes, in steps: the longest begin first."""
    learned = (job.stop if job.updates else 0) * (2 if job.replay else 1)
    played = (job.stop - job.start) * (2 + (6 if job.strokes else 0)) if job.plays else 0
    return learned + played + (2000 if job.base else 0)


if __name__ == "__main__":
    sys.exit(main())
