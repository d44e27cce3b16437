"""What the options of the command line say."""

from typing import Any

from noregret.cli.options import make_parser, parse
from noregret.cli.shared_options import TASKS as LISTED
from noregret.tasks import TASKS


def test_the_tasks_of_the_command_line_are_those_that_can_be_read_from_a_source() -> None:
    assert set(LISTED) == {name for name, task in TASKS.items() if task.from_source}


def test_every_option_has_a_help_text() -> None:
    commands: Any = make_parser()._subparsers
    actions = [action for parser in commands._group_actions[0].choices.values() for action in parser._actions]
    assert len(actions) > 80
    assert all(action.help for action in actions)


def test_the_command_line_is_kept_as_it_was_typed() -> None:
    words = ["race", "a.svm", "--task", "bandit"]
    args = parse(words)
    assert (args.command_line, args.module, args.task) == (words, "race", "bandit")
