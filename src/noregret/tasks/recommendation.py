"""Recommendation: ratings that users give to items; the loss is the squared error of the rating predicted."""

from noregret.tasks.regression import Regression


class Recommendation(Regression):
    """Predictions are ratings, and there are no mistakes; learners of this task are not rules."""

    name = "recommendation"
    about = "ratings of items by users"
    params = {}
    options = {}
    columns = ("RMSE", "MAE", "loss", "mean loss")
    sort_keys = ("loss",)
    reading = {"targets": True}
    bias_by_default = False
    scales_by_default = False
    default_learner = "factorisation"
    races = ("factorisation", "rating_biases", "rating_mean")
    notes = ("rows are ratings of items by users; the loss is the squared error",)
    no_classes = "recommendation has ratings, not classes"
