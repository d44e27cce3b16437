"""Model files on the command line: those of learners, not of players of games."""

from noregret.errors import BadValue
from noregret.games.player import Player
from noregret.learner.model_file import load
from noregret.learner.protocol import Learner
from noregret.rules.card import Card


def load_learner(path: str, rule: Card | None = None) -> Learner:
    """The learner of a model file; players of games are refused, since they do not learn from rows."""
    found: Learner | Player = load(path, rule)
    if isinstance(found, Player):
        raise BadValue(f"{path}: this is a player of a game ({found.kind}), which does not learn from rows; "
                       "use `noregret rps --resume`, or nr.load in Python")  # fmt: skip
    return found
