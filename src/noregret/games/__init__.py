"""Repeated games: rock-paper-scissors, matrix games, paths over changing terrain, splits of a resource."""

from noregret.games.matrix_game import Equilibrium, MatrixGame
from noregret.games.opponents import OPPONENTS, Match, Strategy, make_opponent, play_match
from noregret.games.rock_paper_scissors import RockPaperScissors
from noregret.games.solve import CorrelatedPlay, HedgePlay, find_correlated_equilibrium, solve_by_hedge
from noregret.games.swap_regret import SwapPlayer, external_regret, swap_regret

__all__ = [
    "OPPONENTS", "CorrelatedPlay", "Equilibrium", "HedgePlay", "Match", "MatrixGame", "RockPaperScissors", "Strategy",
    "SwapPlayer", "external_regret", "find_correlated_equilibrium", "make_opponent", "play_match", "solve_by_hedge",
    "swap_regret",
]  # fmt: skip
