"""What all tests share.

Compiled loops are kept in the user's cache folder, or in the one NOREGRET_CACHE names; test processes that run side by
side share it, so that each loop is compiled once.
"""
