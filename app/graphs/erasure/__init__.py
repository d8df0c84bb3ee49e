"""Erasure: removes a thing from a graph and from everything that is kept about it."""

from app.graphs.erasure.eraser import Eraser
from app.graphs.erasure.erasure_job import ErasureStores
from app.graphs.erasure.plan import ErasurePlan
from app.graphs.erasure.targets import Choice, ErasureRequest

__all__ = ["Choice", "Eraser", "ErasurePlan", "ErasureRequest", "ErasureStores"]
