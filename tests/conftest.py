"""For all tests: examples are not timed (the machine may be busy), and twins come from one place."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["tests.support.twin", "tests.support.browser", "tests.support.page_stage"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
