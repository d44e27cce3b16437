"""The player of rock-paper-scissors beats what can be predicted, and loses little to what cannot."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.games.move_predictors import NAMES
from noregret.games.moves import LOSSES, beat, compare, read_move
from noregret.games.opponents import OPPONENTS, Strategy, beat_frequent, beat_last, constant, cycle, markov, switch
from noregret.learner.model_file import pack
from tests.naive import games as naive
from tests.support import refusal
from tests.support.cover import ALL, only_in_test_all

RockPaperScissors, play_match = nr.games.RockPaperScissors, nr.games.play_match
SEEDS = range(20 if ALL else 1)


def net_rates(choose: Any, rounds: int = 1000, **options: Any) -> np.ndarray:
    """Wins less losses of the player in each of some matches, as a share of the rounds."""
    found = []
    for seed in SEEDS:
        player = RockPaperScissors(seed=seed, **options)
        play_match(player, Strategy(choose(seed), seed + 100), rounds)
        found.append(player.net_wins / rounds)
    return np.array(found)


# ---- opponents -------------------------------------------------------------------------------------------------------

PREDICTABLE = {
    "constant": (lambda seed: constant("s"), 0.97),
    "cycle of 3": (lambda seed: cycle("rps"), 0.95),
    "cycle of 2": (lambda seed: cycle("rs"), 0.93),
    "cycle of 7": (lambda seed: cycle("rrpspps"), 0.9),
    "cycle of 13": (lambda seed: cycle("rrpsppsrsspsr"), 0.9),
    "copycat": (OPPONENTS["copycat"], 0.93),
    "beat_last": (lambda seed: beat_last, 0.93),
    "beat_frequent": (lambda seed: beat_frequent, 0.75),
    "markov 1": (lambda seed: markov(1, 0.0, seed), 0.93),
    "noisy markov 1": (lambda seed: markov(1, 0.2, seed), 0.65),
    "noisy markov 2": (lambda seed: markov(2, 0.2, seed), 0.6),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", PREDICTABLE)
def test_a_predictable_opponent_is_beaten_over_1000_rounds(name: str) -> None:
    choose, least = PREDICTABLE[name]
    assert net_rates(choose).min() > least


def test_a_random_opponent_gains_nothing() -> None:
    """The result of a round has mean 0 and variance 2/3, whatever we play."""
    rates = net_rates(OPPONENTS["random"])
    assert abs(rates.mean()) < 4.0 * np.sqrt(2.0 / 3.0 / (1000 * len(rates)))


def test_fixed_share_recovers_sooner_when_an_opponent_changes_its_strategy() -> None:
    """After the change, the expert that had been best is of no use; Hedge must first lose what that one had gained."""
    after: dict[str, list[float]] = {"fixed_share": [], "hedge": []}
    for algorithm, found in after.items():
        for seed in range(20 if ALL else 2):
            opponent = Strategy(switch(markov(4, 0.1, seed), beat_last, 500), seed + 100)
            found.append(
                float(np.mean(play_match(RockPaperScissors(algorithm, seed=seed), opponent, 700).results[500:]))
            )
    assert min(after["fixed_share"]) > 0.6
    assert np.mean(after["fixed_share"]) > np.mean(after["hedge"]) + 0.2


@pytest.mark.parametrize("algorithm", ["fixed_share", "hedge"])
def test_an_opponent_that_knows_our_chances_wins_no_more_than_the_bound(algorithm: str) -> None:
    """The theorem of the algorithm, and the best constant move, which loses at most half of all rounds."""
    player = RockPaperScissors(algorithm, seed=3)
    rounds = 2000 if ALL else 400
    for t in range(rounds):
        chances = np.array(list(player.chances.values()))
        player.observe(int(np.argmax(chances @ LOSSES)))
        bound = player.bound()
        assert bound is not None
        assert player.regret <= bound.value + 1e-9, t
        assert player.expected_loss <= 0.5 * (t + 1) + bound.value + 1e-9
    assert player.regret > 10.0, "the adversary is a strong one"


def test_the_regret_to_sequences_of_experts_keeps_its_bound() -> None:
    from noregret.metrics.tracking import best_sequences

    player, other, rows = RockPaperScissors(seed=1), nr.games.make_opponent("switching", 2), []
    for _ in range(600):
        advice, mine = player.predictors.advice(), player.play()
        theirs = read_move(other.play())
        rows.append(advice @ LOSSES[:, theirs])
        other.observe(mine)
        player.observe(theirs)
    for k, best in enumerate(best_sequences(np.ascontiguousarray(np.array(rows).T), 2)):
        bound = player.bound(k)
        assert bound is not None
        assert player.expected_loss - best.loss <= bound.value + 1e-9


@only_in_test_all
def test_two_of_these_players_are_equals() -> None:
    scores = []
    for seed in range(6):
        one, other = RockPaperScissors(seed=seed), RockPaperScissors(seed=seed + 50)
        scores.append(play_match(one, other, 500).player.net_wins)
    assert abs(np.mean(scores)) < 60


# ---- the twin and one step -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10 if ALL else 2))
def test_chances_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    player = RockPaperScissors(seed=seed, eta=0.7, alpha=0.05, native=False)
    moves = "".join(rng.choice(list("rps"), p=[0.6, 0.3, 0.1], size=60 if ALL else 35))
    for t, move in enumerate(moves):
        mine = "".join(one[0] for one in player.moves)
        np.testing.assert_allclose(player.predictors.advice(), naive.rps_advice(mine, moves[:t]), atol=1e-12)
        if t % 7 == 0:
            expected = naive.rps_chances(mine, moves[:t], 0.7, 0.05)
            np.testing.assert_allclose(list(player.chances.values()), expected, atol=1e-12)
        player.observe(move)
    assert "".join(one[0] for one in player.opponent_moves) == moves


def test_moves_are_drawn_by_the_chances() -> None:
    drawn = np.zeros(3)
    for seed in range(300):
        player = RockPaperScissors(seed=seed, native=False, eta=3.0)
        for move in "rrpr":
            player.observe(move)
        drawn[read_move(player.play())] += 1
    chances = np.array(list(player.chances.values()))
    assert chances.sum() == pytest.approx(1.0)
    assert (np.abs(drawn / 300 - chances) < 4.0 * np.sqrt(chances * (1 - chances) / 300) + 1e-9).all()


def test_each_move_is_beaten_by_the_next() -> None:
    for move in range(3):
        assert compare(beat(move), move) == 1
        assert compare(move, beat(move)) == -1
        assert compare(move, move) == 0
        assert LOSSES[beat(move), move] == 0.0
    names = "rps"
    assert all(LOSSES[a, b] == naive.LOSS[names[a] + names[b]] for a in range(3) for b in range(3))


def test_wins_draws_and_losses_are_counted() -> None:
    player = RockPaperScissors(deterministic=True, native=False)
    results = play_match(player, "random", 60).results
    assert min(player.wins, player.losses) > 5
    weights = list(player.expert_weights.values())
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == player.weights.current().max() > weights[-1]
    assert (player.wins, player.draws, player.losses) == tuple(results.count(k) for k in (1, 0, -1))
    pairs = zip(player.moves, player.opponent_moves, strict=True)
    assert sum(compare(read_move(a), read_move(b)) for a, b in pairs) == player.net_wins


# ---- seeds, files, copies --------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_game_compiled_or_not() -> None:
    games = [play_match(RockPaperScissors(seed=5, native=native), "markov2", 150).player for native in (True, False)]
    assert games[0].moves == games[1].moves
    np.testing.assert_array_equal(games[0].weights.current(), games[1].weights.current())
    other = play_match(RockPaperScissors(seed=6), "markov2", 150).player
    assert other.moves != games[0].moves


def test_deterministic_players_do_not_depend_on_the_seed_and_play_the_most_probable_move() -> None:
    games = [RockPaperScissors(seed=seed, deterministic=True, native=False) for seed in (0, 1)]
    for move in "rpsrpsrrppssrps":
        for player in games:
            assert player.play() == max(player.chances, key=player.chances.__getitem__)
            player.observe(move)
    assert games[0].moves == games[1].moves


def test_saved_and_loaded_it_goes_on_as_if_never_stopped(tmp_path: Any) -> None:
    whole = RockPaperScissors(seed=4, algorithm="hedge", native=False)
    opponent = nr.games.make_opponent("markov2", 9)
    for t in range(80):
        if t == 30:
            whole.save(tmp_path / "player.nr")
            again, rival = nr.load(tmp_path / "player.nr"), nr.games.make_opponent("markov2", 9)
            assert repr(again) == repr(whole)
            for move in again.moves:
                rival.observe(move)
            play_match(again, rival, 50)
        play_match(whole, opponent, 1)
    assert pack(again) == pack(whole)
    assert pack(whole.copy()) == pack(whole)


def test_a_copy_shares_nothing() -> None:
    import pickle

    player = RockPaperScissors(native=False).observe("r").observe("p")
    before = pack(player)
    for copied in (player.copy(), pickle.loads(pickle.dumps(player))):
        copied.observe("s")
        assert pack(player) == before
        assert copied.rounds == 3


@pytest.mark.parametrize("bad", ["lizard", "", 3, -1, 1.0, True, None, [], "rp"])
def test_a_move_that_does_not_exist_is_refused_and_changes_nothing(bad: Any) -> None:
    player = RockPaperScissors(native=False).observe("rock")
    before = pack(player)
    assert "is not a move; the moves are rock, paper and scissors (r, p and s)" in refusal(lambda: player.observe(bad))
    assert pack(player) == before


def test_what_cannot_be_made_is_refused() -> None:
    assert "there is no expert algorithm 'hege'" in refusal(lambda: RockPaperScissors("hege"))
    assert "seed must be a whole number" in refusal(lambda: RockPaperScissors(seed=-1))
    wrong: dict[str, Any] = {"deterministic": 1}
    assert "has no parameter 'gamma'" in refusal(lambda: RockPaperScissors(gamma=1.0))
    assert "deterministic must be True or False" in refusal(lambda: RockPaperScissors(**wrong))
    said = refusal(lambda: nr.games.make_opponent("copycats"))
    assert "there is no opponent 'copycats'; did you mean 'copycat'?" in said.replace(" - ", "; ")


def test_an_interrupted_round_leaves_the_state_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    player = RockPaperScissors(native=False)
    for move in "rpsrp":
        player.observe(move)
    before = pack(player)
    for where in ("noregret.games.rock_paper_scissors.compare", "noregret.games.rock_paper_scissors.Predictors.add"):
        real: Any = compare if where.endswith("compare") else type(player.predictors).add

        def stop(*args: Any, real: Any = real) -> Any:
            real(*args)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(where, stop)
            with pytest.raises(KeyboardInterrupt):
                player.observe("s")
        assert pack(player) == before
    twin = RockPaperScissors(native=False)
    for move in "rpsrp":
        twin.observe(move)
    np.testing.assert_array_equal(player.predictors.advice(), twin.predictors.advice())
    assert pack(player.observe("s")) == pack(twin.observe("s"))


def test_the_experts_have_names_of_their_own() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(RockPaperScissors().predictors.advice())
    assert set(RockPaperScissors().expert_weights) == set(NAMES)
