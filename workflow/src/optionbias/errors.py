"""The one exception type for mistakes a user can mend, and errors of others in a message."""


class UserError(Exception):
    """A mistake in the user's input, told in one message without a traceback.

    The message names the file, key, item or checkpoint concerned and says what
    to do. Command-line entry points print it and exit with status 1; every
    other exception is a defect of the library and keeps its traceback.
    """


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, or its type where it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)
