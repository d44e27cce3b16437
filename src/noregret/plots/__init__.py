"""Pictures of runs and of the theory, one function for each; every function returns a matplotlib figure.

matplotlib is an extra (`pip install 'noregret[plots]'`) that is imported when the first figure is made.
"""

from noregret.plots.classes import accuracy_matrix, confusion, reliability
from noregret.plots.components import components
from noregret.plots.compression import compression
from noregret.plots.curves import curves, regret
from noregret.plots.experts import experts
from noregret.plots.figure import save_figure
from noregret.plots.html_report import html_report
from noregret.plots.losses import losses
from noregret.plots.passive_aggressive import passive_aggressive_sets, passive_aggressive_step
from noregret.plots.plane import decision, updates
from noregret.plots.pools import entry_weights
from noregret.plots.portfolios import portfolios
from noregret.plots.theory import confidence_ellipse, mistakes_against_margin, truncation, winnow_total_weight
from noregret.plots.weights import weights

__all__ = [
    "accuracy_matrix", "components", "compression", "confidence_ellipse", "confusion", "curves", "decision",
    "entry_weights", "experts", "html_report", "losses", "mistakes_against_margin", "passive_aggressive_sets",
    "passive_aggressive_step", "portfolios", "regret", "reliability", "save_figure", "truncation", "updates",
    "weights", "winnow_total_weight",
]  # fmt: skip
