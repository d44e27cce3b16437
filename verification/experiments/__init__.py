"""Experiments on real data for the tables of docs/tasks.md and docs/adapters.md."""
