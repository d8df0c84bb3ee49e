"""Who was taken out of a graph, by keyed hash, and erasures under way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "forgotten_things",
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("mid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("erasure", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("graph_id", "mid", name="pk_forgotten_things"),
    )
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_index("ix_erasures_graph_id", "erasures", ["graph_id"], unique=False)


def downgrade() -> None:
    op.drop_table("erasures")
    op.drop_table("forgotten_things")
