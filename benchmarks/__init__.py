"""Benchmarks of noregret and other libraries, in one process, on generated data: `python -m benchmarks`."""
