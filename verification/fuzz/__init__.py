"""Fuzzing: random streams for every learner, compiled, interpreted, in the reference algebra, and naive."""
