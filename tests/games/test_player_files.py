"""Whatever stands in the file of a player, loading ends in a player or in an error of the library."""

import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import FORMAT, pack
from tests.conformance.protocol import Case, broken_headers, is_refused
from tests.support.cover import ALL

GRID = nr.games.GridPaths(2, 3, ends="border")


def rps() -> Any:
    player = nr.games.RockPaperScissors(native=False)
    for move in "rpsr":
        player.observe(move)
    return player


def swap() -> Any:
    return nr.games.SwapPlayer(2, native=False).observe([0.0, 1.0]).observe([1.0, 0.5])


def hedge() -> Any:
    return nr.games.PathHedge(GRID, native=False).observe(np.full((2, 3), 0.5), (1, 0))


def leader() -> Any:
    return nr.games.PathLeader(GRID).observe(np.full((2, 3), 0.5))


def explorer() -> Any:
    player = nr.games.PathExplorer(GRID, native=False)
    return player.observe_path([0.5] * (len(player.play()) - 1))


PLAYERS = {"rps": rps, "swap": swap, "hedge": hedge, "leader": leader, "explorer": explorer}


@pytest.mark.parametrize("name", PLAYERS)
def test_broken_files_are_refused_or_read(name: str) -> None:
    player = PLAYERS[name]()
    case = Case(PLAYERS[name], [], [])
    header, arrays = player.dump()
    header = json.loads(json.dumps({"format": FORMAT, "kind": player.kind, **header}))
    broken = list(broken_headers(header))
    chosen = broken if ALL else broken[::3]
    assert sum(is_refused(case, one, arrays) for one in chosen) > len(chosen) // 3
    for key, array in arrays.items():
        others = {name: value for name, value in arrays.items() if name != key}
        assert is_refused(case, header, others), key
        assert is_refused(case, header, others | {key: array.ravel()[:-1].copy()}), key
        wrong = np.full_like(array, np.nan) if array.dtype == np.float64 else np.full_like(array, 7)
        assert is_refused(case, header, others | {key: wrong}), key


@pytest.mark.parametrize("name", PLAYERS)
def test_a_file_comes_back_as_it_was(name: str, tmp_path: Any) -> None:
    player = PLAYERS[name]()
    player.source = {"name": "here"}
    player.save(tmp_path / "p.nr")
    again = nr.load(tmp_path / "p.nr")
    assert type(again) is type(player)
    assert pack(again) == pack(player)
    assert "rounds" in repr(again)


@pytest.mark.parametrize("name", PLAYERS)
def test_a_player_that_was_loaded_plays_on_whatever_was_in_the_file(name: str) -> None:
    """Headers that are read give players that play and learn, or say why not."""
    from safetensors.numpy import save

    from noregret.learner.model_file import KEY, digest, unpack

    player = PLAYERS[name]()
    header, arrays = player.dump()
    header = json.loads(json.dumps({"format": FORMAT, "kind": player.kind, **header}))
    broken = list(broken_headers(header))
    for one in broken if ALL else broken[1::5]:
        text = json.dumps(one)
        try:
            found = unpack(save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)}), "p.nr")
            found.play()
            if isinstance(found, nr.games.RockPaperScissors):
                found.observe("r")
            elif isinstance(found, (nr.games.PathHedge, nr.games.PathLeader)):
                found.observe(np.zeros((found.grid.rows, found.grid.columns)))
        except nr.Error:
            continue
        pack(found)
