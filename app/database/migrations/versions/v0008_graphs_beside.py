"""Stores which public graphs stand beside which graphs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "graphs_beside",
        sa.Column("graph_id", sa.String(32), nullable=False),
        sa.Column("beside_id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("graph_id", "beside_id", name=op.f("pk_graphs_beside")),
    )


def downgrade() -> None:
    op.drop_table("graphs_beside")
