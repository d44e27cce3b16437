"""`noregret rps`: rock-paper-scissors against a person, a strategy or recorded moves."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.cli.interrupts import ignore_interrupts
from noregret.cli.output import write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue, Error, shown
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.tables import table
from noregret.games.move_predictors import NAMES
from noregret.games.moves import MOVES, NAMED, compare, read_move
from noregret.games.opponents import make_opponent, play_round
from noregret.games.rock_paper_scissors import RockPaperScissors
from noregret.learner.model_file import load
from noregret.version import __version__

ROUNDS = 1000  # of a demonstration
SHOWN = 5  # experts in the table
END = ("q", "quit", "exit", "end")
RESULTS = {1: "I win", 0: "a draw", -1: "you win"}
STYLES = {1: "red", 0: "dim", -1: "green"}


def run(args: argparse.Namespace) -> int:
    recorded = args.moves if args.moves not in (None, "-") else None
    check_outputs({"--json": args.json, "--save": args.save}, [args.resume if args.save is None else None, recorded])
    if args.against is not None and args.moves is not None:
        raise BadValue("give --against for a strategy or --moves for recorded moves, not both")
    player = make_player(args)
    screen = Screen(args.quiet, piped=args.json == "-")
    before = player.rounds
    try:
        if args.against is not None:
            demonstrate(player, args, screen)
        elif args.moves is not None:
            replay(player, args)
        else:
            Dialogue(player, args).run()
    except KeyboardInterrupt:
        finish(player, args, player.rounds - before)
        raise
    finish(player, args, player.rounds - before)
    return 0


def make_player(args: argparse.Namespace) -> RockPaperScissors:
    """A new player, or one that was saved. Plain Python is fast enough here, and has nothing to compile."""
    if args.resume is None:
        if args.seed < 0:
            raise BadValue(f"--seed must not be negative, not {args.seed}")
        return RockPaperScissors(args.algorithm, seed=args.seed, deterministic=args.deterministic, native=False)
    player = load(args.resume)
    if not isinstance(player, RockPaperScissors):
        raise BadValue(f"{args.resume} is not a player of rock-paper-scissors; --resume takes what --save wrote")
    player.deterministic = player.deterministic or args.deterministic
    return player


def finish(player: RockPaperScissors, args: argparse.Namespace, rounds: int) -> None:
    """Save, print and write what came out."""
    path = args.save or args.resume
    if path is not None and (rounds or args.save):
        with ignore_interrupts():
            player.save(path)
    if args.json is not None:
        head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
        write_json(args.json, {**head, "against": name_opponent(args), **report(player)})
    if args.json != "-":
        sys.stdout.write(describe(player, name_opponent(args)))


def name_opponent(args: argparse.Namespace) -> str:
    if args.against is not None:
        return str(args.against)
    return "you" if args.moves is None else str(args.moves)


# ---- opponents -------------------------------------------------------------------------------------------------------


def demonstrate(player: RockPaperScissors, args: argparse.Namespace, screen: Screen) -> None:
    """Play against a strategy, with a live scoreboard on a terminal."""
    opponent = make_opponent(args.against, args.seed)
    for move in player.moves:  # a strategy may answer earlier moves of a player that was saved
        opponent.observe(move)
    rounds = args.rounds or ROUNDS
    with screen.live():
        for number in range(1, rounds + 1):
            play_round(player, opponent)
            if screen.due():
                head = ["", "wins", "draws", "losses", "regret", "heaviest expert"]
                heaviest = next(iter(player.expert_weights.items()))
                row = ["noregret", *map(str, (player.wins, player.draws, player.losses)), f"{player.regret:.2f}"]
                screen.show(
                    head, [[*row, f"{heaviest[0]} {heaviest[1]:.2f}"]], f"round {number:,} of {rounds:,}, net "
                    f"{player.net_wins:+,}",
                )  # fmt: skip


def replay(player: RockPaperScissors, args: argparse.Namespace) -> None:
    """Play against recorded moves; a word that is no move stops before anything is played."""
    moves = list(read_moves(args.moves))
    for move in moves[: args.rounds]:
        player.observe(move)


def read_moves(path: str) -> Iterator[int]:
    """The moves of a file, separated by spaces, commas or line ends; errors name the line."""
    where = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadValue(f"{where}: this is not text; moves are words or letters, as in: rock paper s s r") from None
    except OSError as error:
        raise Error(f"{where}: the moves cannot be read: {error.strerror or error}") from None
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.replace(",", " ").split():
            try:
                yield read_move(word)
            except BadValue as error:
                raise BadValue(f"{where}:{number}: {error}") from None


class Dialogue:
    """A game against a person: our move is chosen before theirs is read."""

    def __init__(self, player: RockPaperScissors, args: argparse.Namespace) -> None:
        self.player, self.rounds = player, args.rounds
        self.out = sys.stderr if args.json == "-" else sys.stdout
        self.asks = sys.stdin is not None and sys.stdin.isatty() and self.out.isatty()
        self.console: Any = None
        if self.asks:
            from rich.console import Console

            self.console = Console(file=self.out, highlight=False)
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")

    def say(self, text: str, style: str | None = None) -> None:
        if self.console is None:
            self.out.write(f"{text}\n")
            self.out.flush()
        else:
            self.console.print(text, style=style, markup=False)

    def run(self) -> None:
        self.say("rock, paper or scissors? r, p or s; q ends the game")
        played = 0
        while self.rounds is None or played < self.rounds:
            mine = self.player.play()
            theirs = self.ask()
            if theirs is None:
                break
            self.player.observe(theirs)
            played += 1
            result = compare(read_move(mine), theirs)
            score = f"you {self.player.losses}, me {self.player.wins}, draws {self.player.draws}"
            self.say(f"{played}: {MOVES[theirs]} against my {mine}: {RESULTS[result]} ({score})", STYLES[result])

    def ask(self) -> int | None:
        """The next move that is one; None at the end."""
        while True:
            if self.asks:
                self.out.write("your move: ")
                self.out.flush()
            line = "" if sys.stdin is None else sys.stdin.readline()
            word = line.strip()
            if not line or word.lower() in END:
                if self.asks and not line:
                    self.out.write("\n")
                return None
            if not word:
                continue
            try:
                return read_move(word)
            except BadValue:
                self.say(f"{shown(word)} is not a move; {NAMED}, q ends the game")


# ---- what came out ---------------------------------------------------------------------------------------------------


def report(player: RockPaperScissors) -> dict[str, Any]:
    """The match as JSON."""
    bound, losses = player.bound(), player.weights.cumulative_losses.tolist()
    weights = player.expert_weights
    return {
        "algorithm": player.weights.card.name,
        "params": dict(player.weights.params),
        "seed": player.seed,
        "deterministic": player.deterministic,
        "rounds": player.rounds,
        "wins": player.wins,
        "draws": player.draws,
        "losses": player.losses,
        "expected_loss": player.expected_loss,
        "best_expert": player.best_expert,
        "regret": player.regret,
        "bound": None if bound is None else bound._asdict(),
        "experts": [
            {"name": name, "loss": loss, "weight": weights[name]} for name, loss in zip(NAMES, losses, strict=True)
        ],
        "moves": "".join(move[0] for move in player.moves),
        "opponent_moves": "".join(move[0] for move in player.opponent_moves),
    }


def describe(player: RockPaperScissors, against: str) -> str:
    """The match in words, with the experts that have the most weight."""
    if not player.rounds:
        return "no round was played\n"
    share = player.net_wins / player.rounds
    lines = [
        f"{player.rounds:,} rounds against {against}: {player.wins:,} wins, {player.draws:,} draws, "
        f"{player.losses:,} losses of mine, net {share:+.1%}",
        "",
    ]
    losses = dict(zip(NAMES, player.weights.cumulative_losses.tolist(), strict=True))
    heaviest = list(player.expert_weights.items())[:SHOWN]
    rows = [[name, f"{weight:.3f}", f"{losses[name]:,.1f}"] for name, weight in heaviest]
    lines += [table(["expert", "weight", "loss"], rows), ""]
    lines.append(
        f"expected loss {player.expected_loss:,.1f} (a loss is 1, a draw 1/2); best expert in hindsight: "
        f"{player.best_expert}, {losses[player.best_expert]:,.1f}"
    )
    bound = player.bound()
    told = "no bound is known" if bound is None else f"bound {bound.value:,.1f} ({bound.measure})"
    lines.append(f"regret {player.regret:,.1f}, {told}")
    return "\n".join(lines) + "\n"
