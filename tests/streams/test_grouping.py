"""Rows that come in lists stay in them: no batch, skip, limit, pass or shuffle parts a list."""

import json
from collections.abc import Iterator
from itertools import cycle, groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.streams import Batch, Cursor, Source, csv, grouping, jsonl, open_source

QUERY = [q for q, size in enumerate([2, 5, 3, 2, 11, 2, 2, 4, 3, 7]) for _ in range(size)]
Rows = list[tuple[int, float]]


class Parts(Source):
    """Rows in batches of a fixed size, some of which do not know their place."""

    kind = name = "parts"

    def __init__(self, size: int, query: list[int], places: int = 1) -> None:
        super().__init__()
        self.size, self.query, self.places = size, np.array(query), places

    def __iter__(self) -> Iterator[Batch]:
        begin = 0 if self.start is None else self.start["row"]
        for number, at in enumerate(range(begin, len(self.query), self.size)):
            rows = np.arange(at, min(at + self.size, len(self.query)))
            place = {"row": int(rows[-1]) + 1} if number % self.places == 0 else None
            yield Batch(rows[:, None] + 0.5, rows * 1.0, rows, position=place, query=self.query[rows])


def shaped(source: Source, **how: Any) -> Source:
    from noregret.streams.composed import ComposedSource
    from noregret.streams.read_options import ReadOptions

    return ComposedSource([source], ReadOptions(lists=True, **how))


def seen(batches: Any) -> list[Rows]:
    """Every batch as its rows, by query and label."""
    return [list(zip(batch.query.tolist(), np.asarray(batch.y).tolist(), strict=True)) for batch in batches]


def flat(batches: list[Rows]) -> Rows:
    return [row for batch in batches for row in batch]


def unparted(batches: list[Rows]) -> None:
    ends = [(batch[0][0], batch[-1][0]) for batch in batches]
    for before, after in pairwise(ends):
        assert before[1] != after[0]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11, 100])
def test_no_batch_ends_inside_a_list_and_none_is_lost(size: int) -> None:
    found = seen(shaped(Parts(size, QUERY)))
    unparted(found)
    assert flat(found) == [(q, float(t)) for t, q in enumerate(QUERY)]


@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("how", [{}, {"passes": 2}, {"skip": 3, "limit": 31}], ids=str)
def test_from_every_place_it_goes_on_as_if_it_had_not_stopped(how: dict[str, int], places: int) -> None:
    whole = seen(shaped(Parts(4, QUERY, places), **how))
    cursor = Cursor()
    for number, batch in enumerate(shaped(Parts(4, QUERY, places), **how), 1):
        cursor.advance(batch)
        kept = json.loads(json.dumps(cursor.dump()))
        rest = seen(Cursor(kept["at"], kept["past"]).resume(shaped(Parts(4, QUERY, places), **how)))
        assert flat(rest) == flat(whole[number:])
        unparted(rest)


@pytest.mark.parametrize("sizes", [(7,), (4, 12, 3, 20)], ids=str)
def test_it_may_stop_after_every_batch(sizes: tuple[int, ...]) -> None:
    """Also where batches turn out otherwise than before."""
    found: list[Rows] = []
    kept: dict[str, Any] = {"at": None, "past": 0}
    turn = cycle(sizes)
    while batches := list(Cursor(kept["at"], kept["past"]).resume(shaped(Parts(next(turn), QUERY)))):
        cursor = Cursor(kept["at"], kept["past"])
        cursor.advance(batches[0])
        found += seen(batches[:1])
        kept = cursor.dump()
    assert flat(found) == [(q, float(t)) for t, q in enumerate(QUERY)]
    unparted(found)


def test_lists_that_skip_and_limit_would_cut_are_left_out() -> None:
    found = flat(seen(shaped(Parts(4, QUERY), skip=3, limit=21)))
    assert [q for q, _ in groupby(found, key=lambda row: row[0])] == [2, 3, 4]
    assert len(found) == 16


@pytest.mark.parametrize("buffer", [8, 1 << 16])
def test_whole_lists_are_shuffled(buffer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.streams import shuffling

    monkeypatch.setattr(shuffling, "BUFFER", buffer)
    query = QUERY + [0] * 3  # a query that comes twice makes two lists, even if they become neighbours
    orders = []
    for seed in range(6):
        found = seen(shaped(Parts(4, query), shuffle=seed))
        together = [[t for _, t in rows] for batch in found for _, rows in groupby(batch, key=lambda row: row[0])]
        expected = [[float(t) for t, _ in rows] for _, rows in groupby(enumerate(query), key=lambda row: row[1])]
        assert sorted(together) == expected
        orders.append(together)
    assert all(one != expected for one in orders)
    assert orders[0] == [[t for _, t in rows] for batch in seen(shaped(Parts(4, query), shuffle=0))
                         for _, rows in groupby(batch, key=lambda row: row[0])]  # fmt: skip


def test_a_list_ends_with_its_file(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.svm").write_text("1 qid:7 1:1\n0 qid:7 1:2\n")
    source = open_source([tmp_path / "a.svm", tmp_path / "b.svm"], lists=True, passes=2)
    assert [batch.rows for batch in source] == [2, 2, 2, 2]


def test_a_list_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "LONGEST", 9)
    with pytest.raises(nr.BadValue, match="parts:12: the list that begins here has more than 9 rows"):
        list(shaped(Parts(1, QUERY)))


def test_a_list_of_which_one_row_is_left_is_skipped_where_bad_rows_are() -> None:
    source = shaped(Parts(4, [1, 1, 2, 3, 3, 3, 4, 5, 5]), on_bad="skip")
    assert flat(seen(source)) == [(1, 0.0), (1, 1.0), (3, 3.0), (3, 4.0), (3, 5.0), (5, 7.0), (5, 8.0)]
    assert source.skipped == 2


TABLE = [(q, t % 3, t % 7 - 3.0) for t, q in enumerate(QUERY)]


def written(kind: str, folder: Path) -> Path:
    file = folder / f"data.{kind}"
    if kind == "svm":
        file.write_text("".join(f"{rel} qid:{q} 1:{x}\n" for q, rel, x in TABLE))
    elif kind == "csv":
        file.write_text("rel,list,x\n" + "".join(f"{rel},q{q},{x}\n" for q, rel, x in TABLE))
    elif kind == "jsonl":
        file.write_text("".join(f'{{"x": {x}, "list": "q{q}", "rel": {rel}}}\n' for q, rel, x in TABLE))
    else:
        import pyarrow
        import pyarrow.parquet

        columns = {name: [row[at] for row in TABLE] for at, name in enumerate(("list", "rel", "x"))}
        pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=4)
    return file


@pytest.mark.parametrize("kind", ["svm", "csv", "jsonl", "parquet"])
def test_every_format_tells_its_lists(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "ROWS", 4)
    monkeypatch.setattr(jsonl, "ROWS", 4)
    how: dict[str, Any] = {} if kind == "svm" else {"query": "list", "label": "rel"}
    source = open_source(written(kind, tmp_path), lists=True, targets=True, **how)
    found = seen(source)
    unparted(found)
    assert [(int(str(q).removeprefix("q")), rel) for q, rel in flat(found)] == [(q, rel) for q, rel, _ in TABLE]
    assert source.columns is None or list(source.columns) == ["x"]
    X, y, query = np.array([[x] for *_, x in TABLE]), [rel for _, rel, _ in TABLE], QUERY
    learner = nr.make("pa1", task="ranking", native=False).learn(X, y, query=query)
    other = nr.make("pa1", task="ranking", native=False)
    told = nr.play(open_source(written(kind, tmp_path), lists=True, targets=True, **how), other)
    assert told["rounds"] == 10
    assert (other.updates, other.mistakes) == (learner.updates, learner.mistakes)
    assert other.scores([{"x": 1.0}] if kind != "svm" else [[1.0]])[0] == pytest.approx(learner.scores([[1.0]])[0])


@pytest.mark.parametrize(
    ("name", "text", "how", "why"),
    [
        ("a.svm", "1 1:1\n0 1:2\n", {}, "no query says which list a row belongs to; libsvm text gives it as qid:3"),
        ("a.svm", "1 qid:1 1:1\n0 1:2\n", {}, "a.svm:2: the row has no query"),
        ("a.csv", "y,q,x\n1,a,2\n0,,3\n", {"query": "q"}, "a.csv:3: column 'q': the query is empty"),
        ("a.csv", "y,q,x\n1,a,2\n", {"query": "p"}, "there is no column 'p'"),
        ("a.csv", "y,q,x\n1,a,2\n0,a,3\n", {}, "no query says which list"),
        ("a.jsonl", '{"y": 1, "q": 2, "x": 1}\n{"y": 1, "x": 1}\n', {"query": "q"}, "a.jsonl:2: field 'q': the query"),
        ("a.svm", "1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:2\n", {}, "a.svm:3: query 2 has this row only"),
        ("a.vw", "1 | a b\n0 | b\n", {}, "no query says which list"),
    ],
)
def test_what_a_file_lacks_is_said(name: str, text: str, how: dict[str, Any], why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    learner = nr.make("pa1", task="ranking", native=False)
    with pytest.raises(nr.BadValue, match=why.replace("(", r"\(")):
        nr.play(open_source(tmp_path / name, lists=True, targets=True, **how), learner)
    assert learner.rounds == ("only" in why)  # the list before the one that is too short was there


def test_arrays_with_their_query_and_sources_that_know_no_lists() -> None:
    X, y = np.array([[x] for *_, x in TABLE]), [rel for _, rel, _ in TABLE]
    race = nr.race((X, y, QUERY), ["pa1", "perceptron"], task="ranking", native=False)
    assert race["pa1"].rounds == 10
    assert set(race["pa1"].measures) == {"pair_accuracy", "ndcg", "ndcg_at_10"}
    assert "pairs right" in str(race)
    best = [one.measures["pair_accuracy"] for one in race]
    assert best == sorted(best, reverse=True)
    assert race.baselines["pair_accuracy_as_they_come"] < 1.0
    with pytest.raises(nr.BadValue, match="query must have an entry for every one of the 41 rows"):
        nr.race((X, y, QUERY[:5]), ["pa1"], task="ranking")
    with pytest.raises(nr.BadValue, match="open the source with lists=True"):
        nr.play(open_source((X, y)), nr.make("pa1", task="ranking"))
    with pytest.raises(nr.BadValue, match="no query says which list"):
        nr.play((X, y), nr.make("pa1", task="ranking"))


def test_other_tasks_read_such_files_as_before(tmp_path: Path) -> None:
    file = written("svm", tmp_path)
    batches = list(open_source(file))
    assert sum(batch.rows for batch in batches) == len(TABLE)
    assert nr.play(file, nr.make("pa1", native=False))["rounds"] == len(TABLE)
