"""What partial feedback costs, on real data."""
