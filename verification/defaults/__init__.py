"""How good the default parameters are: every learner's default beside the best of a small grid, on many streams."""
