"""Model files that every later version must read. Made once by make.py; never made again for the same format."""
