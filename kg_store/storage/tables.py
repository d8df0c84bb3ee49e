"""The database tables of kg_store. Names of tenants and graphs are in clear; other content is encrypted."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

graphs = Table(
    "graphs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(128), nullable=False),
    Column("name", String(128), nullable=False),
    # Null until the first load is complete; until then the graph is not listed and can't be opened.
    Column("current_version", String(32), nullable=True),
    Column("sealed_mid_key", LargeBinary, nullable=False),
    UniqueConstraint("tenant", "name"),
)

graph_versions = Table(
    "graph_versions",
    metadata,
    Column("id", String(32), primary_key=True),
    # No foreign key, because a version outlives its deleted graph until nobody holds it open.
    Column("graph_id", String(32), nullable=False),
    # The data folder that holds this version's arrays; replicas share the database but not a folder.
    Column("folder_id", String(32), nullable=False),
    # "building", "complete" or "retired": only a complete version can be current.
    Column("state", String(16), nullable=False),
    Column("loaded_at", DateTime(timezone=True), nullable=True),
    # Counts, public words and notes. Sealed, because public words are names.
    Column("sealed_info", LargeBinary, nullable=True),
    Column("sealed_policy", LargeBinary, nullable=True),
    Index(None, "graph_id"),
)

vault_entries = Table(
    "vault_entries",
    metadata,
    Column("version_id", String(32), ForeignKey("graph_versions.id"), primary_key=True),
    Column("mid", BigInteger, primary_key=True, autoincrement=False),
    Column("sealed", LargeBinary, nullable=False),
)

# Things that no load may bring into the graph again. A MID is a keyed hash; the graph's key is stored sealed.
forgotten_things = Table(
    "forgotten_things",
    metadata,
    Column("graph_id", String(32), primary_key=True),
    Column("mid", BigInteger, primary_key=True, autoincrement=False),
    Column("erasure", String(32), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)

# Public graphs that stand beside another graph, by the word of the owner of both.
graphs_beside = Table(
    "graphs_beside",
    metadata,
    Column("graph_id", String(32), primary_key=True),
    Column("beside_id", String(32), primary_key=True),
)

# Unfinished erasures. `sealed` holds the names and texts to look for, and is deleted with the row.
erasures = Table(
    "erasures",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("graph_id", String(32), nullable=False),
    Column("begun_at", DateTime(timezone=True), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index(None, "graph_id"),
)
