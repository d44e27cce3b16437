"""Repeated games: rock-paper-scissors, matrix games, paths over changing terrain, splits of a resource."""

from noregret.games.best_split import Split, find_best_split
from noregret.games.grid_paths import GridPaths
from noregret.games.matrix_game import Equilibrium, MatrixGame
from noregret.games.opponents import OPPONENTS, Match, Strategy, make_opponent, play_match
from noregret.games.path_hedge import PathExplorer, PathHedge
from noregret.games.path_leader import PathLeader
from noregret.games.rock_paper_scissors import RockPaperScissors
from noregret.games.solve import CorrelatedPlay, HedgePlay, find_correlated_equilibrium, solve_by_hedge
from noregret.games.swap_regret import SwapPlayer, external_regret, swap_regret

__all__ = [
    "OPPONENTS", "CorrelatedPlay", "Equilibrium", "GridPaths", "HedgePlay", "Match", "MatrixGame", "PathExplorer",
    "PathHedge", "PathLeader", "RockPaperScissors", "Split", "Strategy", "SwapPlayer", "external_regret",
    "find_best_split", "find_correlated_equilibrium", "make_opponent", "play_match", "solve_by_hedge", "swap_regret",
]  # fmt: skip
