"""The one kind of failure that is the user's to mend."""


class UserError(Exception):
    """A mistake in the options or the data, told in one sentence and without a traceback."""
