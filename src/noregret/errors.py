"""Every error a user can meet. Each message says what was found, where, and what to do."""


class Error(Exception):
    """The root of all errors raised on purpose by noregret."""


class BadValue(Error, ValueError):
    """Something given to the library cannot be used: a label, a feature, a parameter, a file."""


class NotLearned(Error):
    """A prediction was asked for before any label was seen."""
