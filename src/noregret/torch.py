"""Torch modules as online learners: `from noregret.torch import Online`.

learner = Online(torch.nn.Linear(20, 3), "cross_entropy", "adam")
transcript = learner.play(X, y)         # every round is predicted, then learned
learner.save("net.nr")
learner = load("net.nr", torch.nn.Linear(20, 3))
"""

from typing import Any

from noregret.errors import BadValue, import_extra, shown
from noregret.learner.model_file import load as load_model

import_extra("torch", "torch", "noregret.torch")

from noregret.neural.modules.module_file import dump_module, restore_module  # noqa: E402
from noregret.neural.modules.online import Online  # noqa: E402
from noregret.neural.modules.optimizer_file import dump_optimizer, restore_optimizer  # noqa: E402
from noregret.neural.modules.savepoint import ModuleSavepoint  # noqa: E402

__all__ = [
    "ModuleSavepoint", "Online", "dump_module", "dump_optimizer", "load", "restore_module", "restore_optimizer",
]  # fmt: skip


def load(path: Any, module: Any, loss: Any = None, optimizer: Any = None) -> Online:
    """Read a learner of a torch module from a model file; the module given takes the parameters of the file.

    `loss` and `optimizer` are needed where the learner was made with functions of your own.
    """
    functions = [one for one in (loss, optimizer) if one is not None]
    found = load_model(path, functions=functions, module=module)
    if not isinstance(found, Online):
        raise BadValue(f"{path}: the model trains no torch module, it is {shown(found)}; load it by nr.load")
    return found
