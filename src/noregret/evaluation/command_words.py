"""Options as the words of a command, to be pasted into a shell."""

from collections.abc import Mapping
from typing import Any

FLAGS = ("task", "seed", "scale", "bias", "bits")  # options of learners that have an option of their own
JOINED = ("missing",)  # options that take all their values at once, with commas between them
NOT_SET = ("native", "reads", "cost")  # options of learners that a command does not need, or cannot repeat


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Options as flags with values: label="churn" is --label churn; None is left out; lists repeat the flag."""
    words = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if name in JOINED and isinstance(value, (list, tuple)):
            value = ",".join(value) or None
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, bool):
                words.append(flag if one else flag.replace("--", "--no-", 1))
            elif one is not None:
                words += [flag, str(one)]
    return words


def learner_words(options: Mapping[str, Any]) -> list[str]:
    """Options of a learner: flags where there are some, --set for its parameters."""
    words = option_words({name: options[name] for name in FLAGS if options.get(name) not in (None, 0, "auto")})
    words += ["--no-bias"] if options.get("bias") is False else []
    words += ["--no-scale"] if options.get("scale") is False else []
    words += [word for step in options.get("transforms") or () for word in ("--transform", str(step))]
    if options.get("classes") is not None:
        words += ["--classes", ",".join(map(str, options["classes"]))]
    weights = options.get("class_weight")
    if weights is not None:
        named = weights if isinstance(weights, str) else ",".join(f"{one}={value}" for one, value in weights.items())
        words += ["--class-weight", named]
    own = (*FLAGS, *NOT_SET, "transforms", "classes", "class_weight")
    return words + [word for name, value in options.items() if name not in own for word in ("--set", f"{name}={value}")]
