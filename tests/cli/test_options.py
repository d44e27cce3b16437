"""What the options of the command line say."""

from noregret.cli.options import TASKS as LISTED
from noregret.cli.options import make_parser, parse
from noregret.tasks import TASKS


def test_the_tasks_of_the_command_line_are_those_that_can_be_read_from_a_source() -> None:
    assert set(LISTED) == {name for name, task in TASKS.items() if task.from_source}


def test_every_option_has_a_help_text() -> None:
    actions = [action for command in make_parser()._subparsers._group_actions[0].choices.values()  # type: ignore
               for action in command._actions]  # fmt: skip
    assert len(actions) > 80
    assert all(action.help for action in actions)


def test_the_command_line_is_kept_as_it_was_typed() -> None:
    words = ["race", "a.svm", "--task", "bandit"]
    args = parse(words)
    assert (args.command_line, args.module, args.task) == (words, "race", "bandit")
