"""`noregret portfolio`: strategies over a table of prices or price relatives, and what is refused."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cli import main
from noregret.streams.price_tables import hover_around_one, read_price_table
from tests.experts.portfolio.streams import draw_relatives
from tests.support.command_line import noregret

RELATIVES = draw_relatives(30, 3, seed=2)
PRICES = 20.0 * np.vstack([np.ones(3), np.cumprod(RELATIVES, axis=0)])
FEW = "crp,buy_and_hold,bcrp,best_stock"


def write(path: Path, values: Any, head: str | None = "IBM,KO,GM", dated: bool = False) -> Path:
    lines = [",".join(map(repr, row)) for row in np.asarray(values).tolist()]
    if dated:
        lines = [f"2024-01-{day + 1:02},{line}" for day, line in enumerate(lines)]
        head = None if head is None else f"date,{head}"
    path.write_text("\n".join([*([] if head is None else [head]), *lines]) + "\n")
    return path


def report(path: Path, *arguments: str) -> dict[str, Any]:
    out = path.with_suffix(".json")
    assert main(["portfolio", str(path), *arguments, "--json", str(out), "--no-picture"]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["portfolio", *map(str, arguments), "--no-picture"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("noregret: ")
    assert said.count("\n") == 1
    return said


@pytest.mark.compiles
def test_all_strategies_are_reported_and_drawn(tmp_path: Path) -> None:
    write(tmp_path / "market.csv", RELATIVES, dated=True)
    piped = noregret(
        "portfolio",
        "-",
        "--strategies",
        "crp",
        "--prices",
        "--json",
        "-",
        "--no-picture",
        cwd=tmp_path,
        stdin="a\n1\n2\n1",
    )
    assert (piped.returncode, piped.stderr) == (0, "")
    assert json.loads(piped.stdout)["wealth"]["crp"] == pytest.approx(1.0)
    done = noregret(
        "portfolio", "market.csv", "--strategies", "all", "--cost", "0.001", "--json", "a.json", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "market.csv: read as price relatives, since every column hovers around 1" in done.stdout
    online, _, hindsight = done.stdout.partition("chosen in hindsight, knowing all days (not strategies):")
    assert "olmar(variant=2)" in online
    assert "bcrp" not in online
    assert "best_stock" not in online
    assert "pamr" not in hindsight
    for word in ("wealth", "growth a year", "Sharpe", "drawdown", "regret", "bound"):
        assert word in online
    assert (tmp_path / "market.portfolio.png").read_bytes().startswith(b"\x89PNG")
    said = json.loads((tmp_path / "a.json").read_text())
    race = nr.race_portfolios(RELATIVES, cost=0.001)
    assert said["wealth"] == race.wealth
    assert said["curve"] == {name: curve.tolist() for name, curve in race.curve.items()}
    assert {len(curve) for curve in said["curve"].values()} == {30}
    assert all(said["curve"][name][-1] == pytest.approx(wealth) for name, wealth in said["wealth"].items())
    assert (said["hindsight"], said["values"], said["cost"]) == (["best_stock", "bcrp"], "relatives", 0.001)
    assert (said["days"][0], said["stocks"]) == ("2024-01-01", ["IBM", "KO", "GM"])


@pytest.mark.compiles
def test_prices_and_relatives_of_all_forms_are_the_same_market(tmp_path: Path) -> None:
    expected = report(write(tmp_path / "a.csv", RELATIVES), "--strategies", FEW)
    plain = write(tmp_path / "b.csv", PRICES, head=None, dated=True)
    packed, tight = tmp_path / "c.csv.gz", tmp_path / "d.csv.xz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    tight.write_bytes(lzma.compress(plain.read_bytes()))
    for path, options in ((plain, []), (packed, ["--prices"]), (tight, [])):
        found = report(path, "--strategies", FEW, *options)
        assert found["values"] == "prices"
        assert found["wealth"] == pytest.approx(expected["wealth"], rel=1e-12)
        assert found["stocks"] == ["s01", "s02", "s03"]
        assert found["days"][0] == "2024-01-02"
    assert expected["values"] == "relatives"
    assert expected["days"] is None


def test_what_hovers_around_one_is_told_from_prices() -> None:
    draws = np.random.default_rng(0)
    assert hover_around_one(np.array([[1.0, 2.0], [1.0, 0.5]] * 8))
    assert hover_around_one(RELATIVES)
    assert hover_around_one(np.ones((20, 2)))
    assert hover_around_one(RELATIVES[:3])
    assert not hover_around_one(PRICES)
    near = np.exp(0.01 * np.cumsum(draws.standard_normal((200, 3)), axis=0) * 0.3)  # prices that stay around 1
    assert not hover_around_one(near)
    assert not hover_around_one(np.array([[5.0, 1.0], [6.0, 1.1]]))


GOOD = "a,b\n1.1,0.9\n0.9,1.1\n1.0,1.2\n"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a,b\n1.1,0.9\n-1,1.0\n", [], "m.csv:3, column 'a': a price or price relative must be positive and finite"),
        ("a,b\n1.1,0\n1,1.0\n", ["--prices"], "m.csv:2, column 'b': a price or price relative must be positive"),
        ("a,b\n1.1,0.9\n1.0,\n", [], "m.csv:3, column 'b': the value is missing"),
        ("a,b\n1.1,0.9\n1.0,NA\n", [], "m.csv:3, column 'b': the value is missing"),
        ("a,b\n1.1,0.9\n1.0,x\n", [], "m.csv:3, column 'b': a price must be a number, not 'x'"),
        ("a,b\n1.1,0.9\n1.0,inf\n", [], "m.csv:3, column 'b': a price or price relative must be positive and finite"),
        ("a,b\n1.1,0.9\n1.0\n", [], "m.csv:3: there are 1 cells, and 2 in the first line"),
        ("a,b\n1.1,0.9\n", [], "there is only one day: strategies need price relatives of two days"),
        ("1.1,0.9\n", [], "there is only one day"),
        ("a,b\n11,9\n12,8\n", [], "there is only one day"),
        ("a,b\n11,9\n", ["--prices"], "there are prices of 1 day; a price relative needs those of two days"),
        ("a,b\n", [], "there are no days"),
        ("", [], "is empty"),
        ("\n\n", [], "is empty"),
        ("a,a\n1.1,0.9\n1.0,1.0\n", [], "has the name of another, 'a'"),
        ("date\n2024-01-01\n2024-01-02\n", [], "no column is left for a stock"),
        (GOOD, ["--prices", "--relatives"], "give --prices or --relatives, not both"),
        (GOOD, ["--cost", "1"], "cost must be a number at least 0 and below 1"),
        (GOOD, ["--cost", "nan"], "cost must be a number at least 0 and below 1"),
        (GOOD, ["--strategies", "pmar"], "there is no portfolio strategy 'pmar'; did you mean 'pamr'?"),
        (GOOD, ["--strategies", "hedge"], "there is no portfolio strategy 'hedge'"),
        (GOOD, ["--strategies", "crp,crp"], "a strategy is named twice"),
        (GOOD, ["--strategies", "pamr(variant=7)"], "variant must be at least 0 and at most 2"),
        (GOOD, ["--strategies", "bcrp(eta=1)"], "bcrp is chosen in hindsight and takes no parameters"),
        (GOOD, ["--days-per-year", "0"], "per_year must be the number of days in a year"),
        (GOOD, ["--picture", "x.png"], "give --picture PATH or --no-picture, not both"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    text: str, options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.csv").write_text(text)
    assert said in refused(capsys, tmp_path / "m.csv", *options)


def test_files_that_cannot_be_read_or_would_be_overwritten_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no such file" in refused(capsys, tmp_path / "none.csv")
    path = write(tmp_path / "m.csv", RELATIVES)
    assert "this would overwrite what is to be read" in refused(capsys, path, "--json", path)
    packed = tmp_path / "m.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-30])
    assert "the gzip data end too early" in refused(capsys, packed)


def test_the_first_column_is_a_date_where_it_is_no_number_or_named_so(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("Date,3M,KO\n19620703,1.0,1.1\n19620704,1.1,1.0\n")
    table = read_price_table(str(path))
    assert (table.names, table.days, table.lines) == (["3M", "KO"], ["19620703", "19620704"], [2, 3])
    path.write_text("Mon,1.0,1.1\n\nTue,1.1,1.0\n")
    table = read_price_table(str(path))
    assert (table.names, table.days, table.lines) == (["s01", "s02"], ["Mon", "Tue"], [1, 3])
    assert table.values.tolist() == [[1.0, 1.1], [1.1, 1.0]]
