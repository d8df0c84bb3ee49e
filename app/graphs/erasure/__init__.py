"""Erasure: removes a thing from a graph and from everything that is kept about it."""

from app.graphs.erasure.eraser import Eraser, ErasureStores
from app.graphs.erasure.plan import Choice, ErasurePlan, ErasureRequest

__all__ = ["Choice", "Eraser", "ErasurePlan", "ErasureRequest", "ErasureStores"]
