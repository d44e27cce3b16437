"""JSON lines the obvious way: a line, a record, its leaves."""

import json
import math
import random
import re
from typing import Any

Row = tuple[dict[str, float], Any, int]


def read(text: bytes, label: str = "y") -> tuple[list[Row], list[int]]:
    """All rows, and the numbers of the lines that cannot be used."""
    rows: list[Row] = []
    wrong: list[int] = []
    kinds: dict[str, type] = {}
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode(), object_pairs_hook=pairs, parse_constant=float)
            if not isinstance(record, dict):
                raise ValueError("no record")
            truth = record.pop(label, None)
            if (
                truth is None
                or isinstance(truth, (list, dict))
                or (isinstance(truth, float) and not math.isfinite(truth))
            ):
                raise ValueError("no label")
            found: dict[str, float] = {}
            mine = dict(kinds)
            leaves(record, "", found, mine)
            if not all(map(math.isfinite, found.values())):
                raise ValueError("not finite")
        except (ValueError, RecursionError, OverflowError):
            wrong.append(number)
            continue
        kinds = mine
        whole = isinstance(truth, float) and truth.is_integer()
        rows.append((found, int(truth) if whole else truth, number))
    return rows, wrong


def pairs(some: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(some)) < len(some):
        raise ValueError("a name twice")
    return dict(some)


def leaves(record: dict[str, Any], before: str, found: dict[str, float], kinds: dict[str, type]) -> None:
    for name, value in record.items():
        path = before + name
        if isinstance(value, dict):
            leaves(value, path + ".", found, kinds)
        elif isinstance(value, list):
            bag(value, path, found, kinds)
        elif value is not None and text_of(value):
            kind = str if isinstance(value, str) else float
            if kinds.get(path) is float and kind is str and re.fullmatch(r"[0-9]+", text_of(value)):
                kind, value = float, float(value)
            if kinds.setdefault(path, kind) is not kind:
                raise ValueError(path)
            if kind is str:
                name = f"{path}={text_of(value)}"
                found[name] = found.get(name, 0.0) + 1.0
            else:
                found[path] = found.get(path, 0.0) + float(value)


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value.strip(" \t")
    return (
        json.dumps(value + 0.0 if value == 0 and isinstance(value, float) else value)
        .removesuffix(".0")
        .replace("Infinity", "inf")
    )


def bag(values: list[Any], path: str, found: dict[str, float], kinds: dict[str, type]) -> None:
    for value in values:
        if isinstance(value, dict):
            leaves(value, path + ".", found, kinds)
        elif isinstance(value, list):
            bag(value, path, found, kinds)
        elif value is not None:
            name = f"{path}={text_of(value)}"
            found[name] = found.get(name, 0.0) + 1.0


def generated(rng: random.Random) -> bytes:
    """A line like those in files, or one with a few bytes changed."""

    def value(depth: int) -> Any:
        kinds = ["number", "word", "truth", "null", "whole"] + ["list", "record"] * (depth < 3)
        kind = rng.choice(kinds)
        if kind == "number":
            return rng.gauss(0, 1) * 10.0 ** rng.randrange(-300, 300)
        if kind == "whole":
            return rng.randrange(-(10**6), 10**6)
        if kind == "word":
            return rng.choice(["red", "größe", "", 'a "b"', "x=y", "日本", "\u2028", "\\"])
        if kind == "list":
            return [value(depth + 1) for _ in range(rng.randrange(4))]
        if kind == "record":
            return {name: value(depth + 1) for name in rng.sample(["a", "b", "c.d"], rng.randrange(3))}
        return None if kind == "null" else rng.random() < 0.5

    numbers = {f"n{k}": rng.choice([1, 2.5, -0.0, 1e300, None]) for k in rng.sample(range(4), 2)}
    record = {**numbers, rng.choice("uvw"): value(0), "y": rng.choice([0, 1, "no", 2.0, 1.5, True, None])}
    line = bytearray(json.dumps(record, ensure_ascii=rng.random() < 0.5).encode())
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randrange(len(line))
        line[at : at + rng.randrange(2)] = bytes([rng.choice(b' {}[]",:.-+eE0123456789nulltrueNaInfinity\\\x00\xff\r')])
    return bytes(line.replace(b"\n", b" "))
