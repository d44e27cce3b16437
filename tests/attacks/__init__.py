"""Attacks: inputs written to do harm. Quick ones are tests; `python -m tests.attacks` (make attack) runs all."""
