"""No test depends on how fast the machine is: examples have no deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile("unhurried")
