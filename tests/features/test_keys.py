"""Numbers for pairs of numbers: those that a dict would give, however much is asked for and forgotten."""

import numpy as np
import pytest

from noregret.features.keys import Keys
from noregret.learner.transform_loops import choose_runner


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("spread", [3, 40, 1 << 40])
def test_keys_are_numbered_as_a_dict_numbers_them(native: bool, spread: int) -> None:
    rng = np.random.default_rng(spread)
    keys, obvious = Keys(choose_runner(native)), {}  # type: ignore[var-annotated]
    for _ in range(60):
        first, second = rng.integers(0, spread, size=30), rng.integers(-spread, spread, size=30)
        asked = list(zip(first.tolist(), second.tolist(), strict=True))
        before = len(obvious)
        assert keys.numbers(first, second, grow=False).tolist() == [obvious.get(key, -1) for key in asked]
        assert keys.numbers(first, second, grow=True).tolist() == [
            obvious.setdefault(key, len(obvious)) for key in asked
        ]
        assert [keys.at(number) for number in range(len(keys))] == list(obvious)
        if rng.random() < 0.5:
            keys.truncate(before)
            obvious = dict(list(obvious.items())[:before])
        assert len(keys) == len(obvious)


@pytest.mark.parametrize("native", [True, False])
def test_saved_keys_are_found_again_and_none_twice(native: bool) -> None:
    keys = Keys(choose_runner(native))
    keys.numbers(np.arange(100), np.arange(100) % 7, grow=True)
    again = Keys(choose_runner(native))
    assert again.restore(keys.dump())
    assert again.numbers(np.arange(100), np.arange(100) % 7, grow=False).tolist() == list(range(100))
    saved = keys.dump()
    saved["left"][50], saved["right"][50] = saved["left"][3], saved["right"][3]
    assert not Keys(choose_runner(native)).restore(saved)
