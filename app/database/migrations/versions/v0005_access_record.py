"""Adds the access record, and to each name that was read the time of its first reading on that day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ledger_access",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("caller", sa.String(length=32), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("answer", sa.String(length=64), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("link", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_ledger_access_graph", "ledger_access", ["tenant", "graph", "at"], unique=False)
    op.create_index("ix_ledger_access_caller", "ledger_access", ["tenant", "caller", "event", "at"], unique=False)
    op.create_index("uq_ledger_access_number", "ledger_access", ["tenant", "number"], unique=True)
    op.add_column("names_read", sa.Column("at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("names_read", "at")
    op.drop_table("ledger_access")
