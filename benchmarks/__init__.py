"""noregret measured beside its peers, in one process, on generated data: `python -m benchmarks`."""
