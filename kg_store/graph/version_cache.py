"""Keeps what is worked out from a graph version's schema as long as the version is open, and no longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from kg_store.terms import Schema

P = ParamSpec("P")
T = TypeVar("T")


def cached_by_version(derive: Callable[Concatenate[Schema, P], T]) -> Callable[Concatenate[Schema, P], T]:
    """Runs `derive` once for a schema and its further arguments, which must be hashable.

    Promise: the schema alone holds the result, so nothing of an erased entity outlives the last holder of its
    version. Two threads may do the same work at once; both get the same object.
    """

    @wraps(derive)
    def cached(schema: Schema, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = derive, args, tuple(kwargs.items())
        if key not in schema.derived:
            schema.derived.setdefault(key, derive(schema, *args, **kwargs))
        return cast(T, schema.derived[key])

    return cached
