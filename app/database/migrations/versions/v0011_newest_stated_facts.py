"""Adds the index by which the newest facts that somebody told are found."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_stated_facts_newest", "stated_facts", ["tenant", "graph", "key_id", "made_at"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_stated_facts_newest", table_name="stated_facts")
