"""The example of stock prediction: experts call the next day, and the algorithms follow the best of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import noregret as nr
from examples.up_or_down import advise
from tests.experts.portfolio.streams import draw_relatives

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_experts_know_only_the_days_before() -> None:
    relatives = draw_relatives(30, 3, seed=1)
    calls, truth = advise(relatives, 1)
    assert truth == ["Up" if x > 1.0 else "Down" for x in relatives[5:, 1]]
    other = relatives.copy()
    other[20:] = 1.0 / other[20:]
    changed, _ = advise(other, 1)
    assert changed[:16] == calls[:16]  # the calls for days 5 to 20, which are made the evening before
    assert changed[16:] != calls[16:]
    assert calls[3]["as yesterday"] == truth[2] != calls[3]["turns"]


def test_unchanged_prices_do_not_count() -> None:
    relatives = draw_relatives(30, 2)
    relatives[10:15, 0] = 1.0
    assert len(advise(relatives, 0)[1]) == 20
    assert len(advise(relatives, 1)[1]) == 25


def test_on_prices_that_swing_the_algorithms_follow_who_expects_a_turn() -> None:
    values = np.exp(0.1 * np.random.default_rng(2).standard_normal((200, 2)))
    calls, truth = advise(values[1:] / values[:-1], 0)
    race = nr.race_experts(calls, truth, ["adahedge"], native=False)
    learner = race.learners["adahedge"]
    bound = learner.bound()
    assert learner.best_expert == "turns"
    assert bound is not None
    assert learner.regret <= bound.value


def test_the_market_of_the_examples_is_what_its_script_writes(tmp_path: Path) -> None:
    script = tmp_path / "make_market.py"
    script.write_text((EXAMPLES / "make_market.py").read_text())
    subprocess.run([sys.executable, str(script)], check=True, timeout=60)
    assert (tmp_path / "market.csv").read_text() == (EXAMPLES / "market.csv").read_text()
