"""The first start on a machine: the data folder, a master key, the demo graph, and a key to ask it with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from app.accounts.api_keys import INSPECT, Access, NotAuthenticatedError
from app.demo import GRAPH_FILE, GRAPH_NAME, POLICY_FILE
from app.graphs.admin import GraphAdmin
from app.settings import Settings, make_data_folder
from kg_store.storage.master_key import MasterKey

TENANT = "default"
DEMO_KEY_FILE = "demo.key"


def prepare_folder(settings: Settings, init: bool) -> Path | None:
    """Makes the data folder; writes a master key where there is none, and gives its path then.

    Only into a folder that holds nothing yet, or with `init`: a lost key must not be replaced unseen, since what
    it sealed would stay shut.
    """
    make_data_folder(settings)
    fresh = not any(settings.data_dir.iterdir())
    if settings.master_key is not None or settings.key_file.exists() or not (fresh or init):
        return None
    settings.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(settings.key_file, MasterKey.generate() + "\n")
    return settings.key_file


def load_demo(graphs: GraphAdmin, progress: Callable[[str, float], None]) -> None:
    """Loads the demo graph of the box for the tenant `default`."""
    policy = POLICY_FILE.read_text("utf-8")
    graphs.load(TENANT, GRAPH_NAME, [GRAPH_FILE], policy).run(progress)


def demo_key_file(settings: Settings, access: Access) -> Path:
    """The file with a key that may ask the demo graph and nothing else; made where it is missing or has ended."""
    path = settings.data_dir / DEMO_KEY_FILE
    try:
        access.authenticate(path.read_text("ascii").strip())
    except (OSError, UnicodeDecodeError, NotAuthenticatedError):
        path.unlink(missing_ok=True)
        write_private(path, access.create(TENANT, "user", [GRAPH_NAME, INSPECT + GRAPH_NAME]).key + "\n")
    return path


def write_private(path: Path, text: str) -> None:
    """A new file that only this user can read. Raises FileExistsError."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
