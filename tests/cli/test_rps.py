"""`noregret rps`: matches against strategies, recorded moves and a person."""

import json
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli.family_options import OPPONENTS
from tests.support.command_line import noregret, refused, succeeded


def played(folder: Path, *words: str, stdin: str | None = None) -> Any:
    return json.loads(succeeded(noregret("rps", *words, "--json", "-", cwd=folder, stdin=stdin)).stdout)


def test_the_strategies_of_the_command_line_are_those_of_the_library() -> None:
    assert tuple(nr.games.OPPONENTS) == OPPONENTS


@pytest.mark.parametrize("name", ["cycle", "copycat", "markov"])
def test_a_demonstration_beats_what_can_be_predicted_and_shows_its_regret(name: str, tmp_path: Path) -> None:
    done = succeeded(noregret("rps", "--against", name, "--rounds", "300", cwd=tmp_path))
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"300 rounds against {name}: ")
    assert float(lines[0].split("net ")[1].rstrip("%")) > 60.0
    regret, bound = (float(part.split()[1]) for part in lines[-1].split(","))
    assert lines[-1].startswith("regret ")
    assert lines[-1].endswith("(regret)")
    assert regret <= bound


def test_the_report_says_all_of_it_and_a_seed_gives_the_same_match(tmp_path: Path) -> None:
    one, same, other = (played(tmp_path, "--against", "random", "--rounds", "60", "--seed", s) for s in "001")
    assert one == same
    assert one["moves"] != other["moves"]
    assert len(one["moves"]) == len(one["opponent_moves"]) == one["rounds"] == 60
    assert one["wins"] + one["draws"] + one["losses"] == 60
    assert one["against"] == "random"
    assert one["regret"] == pytest.approx(one["expected_loss"] - min(row["loss"] for row in one["experts"]))
    assert one["regret"] <= one["bound"]["value"]
    assert sum(row["weight"] for row in one["experts"]) == pytest.approx(1.0)


def test_deterministic_matches_do_not_depend_on_our_seed(tmp_path: Path) -> None:
    words = ("--against", "cycle", "--rounds", "40", "--deterministic")
    one, other = (played(tmp_path, *words, "--seed", seed) for seed in "12")
    assert one["moves"] == other["moves"]


def test_a_saved_player_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    whole = played(tmp_path, "--against", "markov", "--rounds", "50", "--seed", "3")
    match = ("rps", "--against", "markov", "--seed", "3", "--rounds")
    succeeded(noregret(*match, "20", "--save", "p.nr", cwd=tmp_path))
    succeeded(noregret(*match, "30", "--resume", "p.nr", cwd=tmp_path))
    player = nr.load(tmp_path / "p.nr")
    assert player.rounds == 50
    assert "".join(move[0] for move in player.moves) == whole["moves"]
    assert succeeded(noregret("show", "p.nr", cwd=tmp_path)).stdout.startswith("50 rounds against all its opponents")
    assert json.loads(noregret("show", "p.nr", "--json", "-", cwd=tmp_path).stdout)["moves"] == whole["moves"]
    refused(noregret("predict", "p.nr", "digits", cwd=tmp_path), "p.nr: this is a player of a game")
    refused(noregret("rps", "--resume", "gone.nr", cwd=tmp_path), "gone.nr: the model cannot be read")


# ---- a person --------------------------------------------------------------------------------------------------------


def test_an_unknown_move_is_asked_for_again_and_the_end_of_input_ends_politely(tmp_path: Path) -> None:
    done = succeeded(noregret("rps", cwd=tmp_path, stdin="rock\nlizard\n\nP\nscissors"))
    lines = done.stdout.splitlines()
    assert lines[0] == "rock, paper or scissors? r, p or s; q ends the game"
    assert lines[2] == "'lizard' is not a move; the moves are rock, paper and scissors (r, p and s), q ends the game"
    assert [line.split(" against")[0] for line in (lines[1], lines[3], lines[4])] == [
        "1: rock",
        "2: paper",
        "3: scissors",
    ]
    assert lines[5].startswith("3 rounds against you: ")
    assert done.stderr == ""


@pytest.mark.parametrize("words", ["q\n", "", "quit\nr\n"])
def test_a_game_may_end_before_it_begins(words: str, tmp_path: Path) -> None:
    done = succeeded(noregret("rps", cwd=tmp_path, stdin=words))
    assert done.stdout.splitlines()[-1] == "no round was played"


def test_a_game_ends_after_its_rounds_and_bytes_that_are_no_text_are_no_move(tmp_path: Path) -> None:
    done = succeeded(noregret("rps", "--rounds", "2", cwd=tmp_path, stdin=b"r\n\xff\xfe\np\ns\n"))
    assert "2 rounds against you" in done.stdout
    assert done.stdout.count("is not a move") == 1


def test_the_move_is_chosen_before_yours_is_read(tmp_path: Path) -> None:
    """With the same seed the first moves are the same, whatever the answer."""
    moves = {played(tmp_path, "--seed", "7", stdin=f"{move}\n")["moves"] for move in "rps"}
    assert len(moves) == 1


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_recorded_moves_are_played_and_bad_ones_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "moves.txt").write_text("rock, paper\ns s\n\nr\n")
    assert played(tmp_path, "--moves", "moves.txt")["opponent_moves"] == "rpssr"
    assert played(tmp_path, "--moves", "-", "--rounds", "2", stdin="r p s")["opponent_moves"] == "rp"
    (tmp_path / "moves.txt").write_text("rock\npaper lizard\n")
    done = noregret("rps", "--moves", "moves.txt", "--save", "p.nr", cwd=tmp_path)
    refused(done, "moves.txt:2: 'lizard' is not a move; the moves are rock, paper and scissors (r, p and s)")
    assert not (tmp_path / "p.nr").exists()
    (tmp_path / "moves.bin").write_bytes(b"\xff\x00")
    refused(noregret("rps", "--moves", "moves.bin", cwd=tmp_path), "moves.bin: this is not text")
    refused(noregret("rps", "--moves", "gone.txt", cwd=tmp_path), "gone.txt: the moves cannot be read")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "copicat"), "did you mean"),
        (("--against", "cycle", "--moves", "-"), "not both"),
        (("--rounds", "0"), "at least 1"),
        (("--seed", "-1"), "--seed must not be negative"),
        (("--algorithm", "hedg"), "there is no expert algorithm 'hedg'"),
        (("--json", "missing/x.json"), "there is no folder"),
    ],
)
def test_bad_options_are_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    refused(noregret("rps", *words, cwd=tmp_path), said)


def test_another_model_is_no_player(tmp_path: Path) -> None:
    nr.make("hedge").learn([[0.0, 1.0]]).save(tmp_path / "hedge.nr")
    refused(noregret("rps", "--resume", "hedge.nr", cwd=tmp_path), "is not a player of rock-paper-scissors")
