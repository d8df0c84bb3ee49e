"""Taking somebody out of a graph and of all that is kept of it."""

from app.forgetting.chooser import Choice, Wish
from app.forgetting.forgetter import Forgetter
from app.forgetting.planning import Plan

__all__ = ["Choice", "Forgetter", "Plan", "Wish"]
