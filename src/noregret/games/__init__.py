"""Repeated games: rock-paper-scissors, matrix games, paths over changing terrain, splits of a resource."""

from noregret.games.opponents import OPPONENTS, Match, Strategy, make_opponent, play_match
from noregret.games.rock_paper_scissors import RockPaperScissors

__all__ = ["OPPONENTS", "Match", "RockPaperScissors", "Strategy", "make_opponent", "play_match"]
