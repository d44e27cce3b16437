"""Elastic weight consolidation (Kirkpatrick et al. 2017): a pull to the parameters as they were when a task ended."""

from typing import Any

from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, Header
from noregret.neural.modules.tensors import Tensor, dump_tensors, load_torch, restore_tensors

PARTS = ("seen", "importance", "anchor")


class Consolidation:
    """For every parameter the sum of its squared gradients, how much it mattered, and where it is pulled to."""

    def __init__(self, parameters: list[Tensor]) -> None:
        torch = load_torch()
        self.seen, self.importance, self.anchor = (
            [torch.zeros_like(one, requires_grad=False) for one in parameters] for _ in PARTS
        )

    @property
    def tensors(self) -> list[Tensor]:
        return [*self.seen, *self.importance, *self.anchor]

    def pull(self, parameters: list[Tensor], strength: float) -> None:
        """Count the squares of the gradients, and add the pull to them."""
        torch = load_torch()
        for one in parameters:
            if one.grad is None:
                one.grad = torch.zeros_like(one)
        gradients = [one.grad for one in parameters]
        with torch.no_grad():
            torch._foreach_addcmul_(self.seen, gradients, gradients)
            away = torch._foreach_sub([one.detach() for one in parameters], self.anchor)
            torch._foreach_mul_(away, self.importance)
            torch._foreach_add_(gradients, away, alpha=strength)

    def consolidate(self, parameters: list[Tensor], steps: float) -> "Consolidation":
        """The same with the parameters of now as the anchor; those matter whose gradients were large in these steps."""
        torch = load_torch()
        new = object.__new__(Consolidation)
        new.importance = [one + seen / max(steps, 1.0) for one, seen in zip(self.importance, self.seen, strict=True)]
        new.anchor = [one.detach().clone() for one in parameters]
        new.seen = [torch.zeros_like(one) for one in self.seen]
        return new

    def named(self, names: list[str]) -> dict[str, Tensor]:
        """All tensors by name."""
        return {f"{name}:{part}": one for part in PARTS for name, one in zip(names, getattr(self, part), strict=True)}

    def dump(self, names: list[str]) -> tuple[Header, Arrays]:
        types, arrays = dump_tensors(self.named(names))
        return {"tensors": types}, arrays

    def restore(self, names: list[str], header: Any, arrays: Arrays) -> None:
        """Take the values of a file, all checked."""
        if not isinstance(header, dict):
            raise corrupt("the header of its anchor must be a table")
        found = restore_tensors(header.get("tensors"), arrays, self.named(names), "the anchor")
        for part in PARTS:
            made = [found[f"{name}:{part}"] for name in names]
            if part != "anchor" and any(bool((one < 0).any()) for one in made):
                raise corrupt(f"the {part} of a parameter is negative")
            setattr(self, part, made)
