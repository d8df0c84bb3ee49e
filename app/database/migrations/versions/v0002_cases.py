"""Adds the tables of cases, which are learned from ratings, and of the counts of answers that they changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cases",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("answer", sa.String(length=32), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tenant", "graph", "key_id", "answer", name="uq_cases_answer"),
    )
    op.create_index("ix_cases_graph", "cases", ["tenant", "graph"], unique=False)
    op.create_table(
        "case_effects",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("leaned", sa.Integer(), nullable=False),
        sa.Column("right", sa.Integer(), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "graph"),
    )


def downgrade() -> None:
    op.drop_table("case_effects")
    op.drop_table("cases")
