"""Taking somebody out of a graph and of all that is kept of it."""

from app.graphs.erasure.eraser import Forgetter
from app.graphs.erasure.plan import Plan
from app.graphs.erasure.targets import Choice, Wish

__all__ = ["Choice", "Forgetter", "Plan", "Wish"]
