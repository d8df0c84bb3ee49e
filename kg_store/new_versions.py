"""NewVersions: begins versions of graphs, and sweeps away those that nobody needs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from kg_store.open_graphs import OpenGraphs
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.versions import GraphRow, GraphRows


class NewVersions:
    """Promise: what was begun and not swapped in is swept away, also when its process was killed."""

    def __init__(self, folder: DataFolder, rows: GraphRows, opened: OpenGraphs) -> None:
        self._folder, self._rows, self._opened = folder, rows, opened

    @contextmanager
    def begin(self, tenant: str, name: str) -> Iterator[tuple[GraphRow, str]]:
        """A version to be filled and swapped in within the context."""
        version_id = uuid.uuid4().hex
        with self._folder.alone():
            hold = self._folder.begin(version_id)
        try:
            yield self._rows.begin(tenant, name, version_id), version_id
        except BaseException:
            self._rows.retire(version_id)
            raise
        finally:
            hold.release()
            self.sweep()

    def sweep(self) -> None:
        """Deletes versions that are neither current nor held by anybody, here or in another process."""
        self._opened.drop_replaced()
        with self._folder.alone():
            known = set(self._rows.not_current())
            strays = set(self._folder.unfinished_ids()) - self._rows.complete_ids()
            for version_id in sorted(known | strays):
                is_needed = partial(self._rows.is_complete, version_id)
                self._folder.delete_unless_held(version_id, is_needed, partial(self._rows.forget, version_id))
