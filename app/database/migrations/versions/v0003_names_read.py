"""Adds the table of names that were read, which holds digests of names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "names_read",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=64), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("digest", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "graph", "key_id", "day", "person", "digest"),
    )
    op.create_index("ix_names_read_digest", "names_read", ["tenant", "graph", "digest"], unique=False)


def downgrade() -> None:
    op.drop_table("names_read")
