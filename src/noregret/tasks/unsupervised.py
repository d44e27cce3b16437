"""Learning without labels: rows in, components out; the loss of a row is what its components cannot tell of it."""

from collections.abc import Mapping

from noregret.tasks.task import Task


class Unsupervised(Task):
    """There is no truth and there are no mistakes; learners of this task are not rules."""

    name = "unsupervised"
    about = "components, clusters or topics of rows without labels"
    labelled = False
    needs_labels = False
    prediction = "components"
    counts_mistakes = False
    columns = ("loss", "mean loss")
    sort_keys = ("loss",)
    reading = {"labelled": False}
    bias_by_default = False
    scales_by_default = False
    default_learner = "svd"
    races = ("oja", "pca_incremental", "svd")
    notes = ("rows are learned without labels; the loss of each is computed before it is learned",)
    no_classes = "unsupervised learning has no classes"

    @classmethod
    def summarize(cls, report: Mapping[str, float]) -> str:
        return f"mean loss {report['mean_loss']:.4g}"
