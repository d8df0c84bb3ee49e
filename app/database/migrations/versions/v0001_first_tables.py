"""The first tables: graphs, versions, vault; ledger; API keys, conversations, jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "graph_versions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("folder_id", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("loaded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sealed_info", sa.LargeBinary(), nullable=True),
        sa.Column("sealed_policy", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_graph_versions")),
    )
    op.create_index(op.f("ix_graph_versions_graph_id"), "graph_versions", ["graph_id"], unique=False)
    op.create_table(
        "graphs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("current_version", sa.String(length=32), nullable=True),
        sa.Column("sealed_mid_key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_graphs")),
        sa.UniqueConstraint("tenant", "name", name=op.f("uq_graphs_tenant")),
    )
    op.create_table(
        "vault_entries",
        sa.Column("version_id", sa.String(length=32), nullable=False),
        sa.Column("mid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["graph_versions.id"], name=op.f("fk_vault_entries_version_id")),
        sa.PrimaryKeyConstraint("version_id", "mid", name=op.f("pk_vault_entries")),
    )
    op.create_table(
        "ledger_entries",
        sa.Column("position", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("caller", sa.String(length=32), nullable=False),
        sa.Column("answer", sa.String(length=64), nullable=False),
        sa.Column("conversation", sa.String(length=64), nullable=False),
        sa.Column("step", sa.String(length=32), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("ix_ledger_entries_answer", "ledger_entries", ["tenant", "answer"], unique=False)
    op.create_index("ix_ledger_entries_at", "ledger_entries", ["at"], unique=False)
    op.create_index("ix_ledger_entries_owner", "ledger_entries", ["tenant", "caller", "position"], unique=False)
    op.create_table(
        "api_keys",
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("grants", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key_id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("ix_api_keys_tenant", "api_keys", ["tenant"], unique=False)
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conversations_expires_at", "conversations", ["expires_at"], unique=False)
    op.create_index("ix_conversations_graph", "conversations", ["tenant", "graph"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("home", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("percent", sa.Float(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_jobs_tenant", "jobs", ["tenant"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_jobs_tenant", table_name="jobs")
    op.drop_table("jobs")
    op.drop_index("ix_conversations_graph", table_name="conversations")
    op.drop_index("ix_conversations_expires_at", table_name="conversations")
    op.drop_table("conversations")
    op.drop_index("ix_api_keys_tenant", table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_index("ix_ledger_entries_owner", table_name="ledger_entries")
    op.drop_index("ix_ledger_entries_at", table_name="ledger_entries")
    op.drop_index("ix_ledger_entries_answer", table_name="ledger_entries")
    op.drop_table("ledger_entries")
    op.drop_table("vault_entries")
    op.drop_table("graphs")
    op.drop_index(op.f("ix_graph_versions_graph_id"), table_name="graph_versions")
    op.drop_table("graph_versions")
