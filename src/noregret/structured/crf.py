"""Conditional random fields: sequence tagging by the likelihood of the right tags."""

from collections.abc import Sequence
from typing import Any, ClassVar

from noregret.learner.model_file import register_kind
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component, Param
from noregret.structured.tagger import ORDER, Tagger
from noregret.structured.templates import TAGGING

STEPS = "adagrad(eta=0.2, delta=0.1, loss=crf)"


@register_kind
@method_card(
    paper="Lafferty, McCallum and Pereira, Conditional random fields, ICML 2001",
    name="crf",
    title="CRF",
    kind="crf",
    tasks=("structured",),
    params={
        "learner": Component(STEPS, "the gradient rule that descends on -log p of the right tags"),
        "order": Param(1.0, at_least=1.0, at_most=2.0, grid=(1.0, 2.0), about=ORDER),
    },
    options=("templates",),
    weights=True,
)
class CRF(Tagger):
    """Sequence tagging by a linear-chain CRF: AdaGrad steps on -log p of the right tags, with probabilities of tags.

    Sentences, outputs and templates are those of `tagger`; the expected features come from the forward-backward
    recursions. The loss of a sentence is -log p of its tags among all sequences.
    """

    kind: ClassVar[str] = "crf"

    def __init__(self, learner: Any = STEPS, order: float = 1, templates: Sequence[str] = TAGGING) -> None:
        super().__init__(learner, order, templates, loss="crf")
