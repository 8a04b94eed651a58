"""Tools for tests only, and the program with them: `python -m tests.support.extra_tools run`."""
