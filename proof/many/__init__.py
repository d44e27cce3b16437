"""Many classes on real data."""
