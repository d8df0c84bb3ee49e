"""What the model replied, beside what it was sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ledger_replies",
        sa.Column("entry", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("entry"),
    )
    op.create_index("ix_ledger_replies_at", "ledger_replies", ["at"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_ledger_replies_at", table_name="ledger_replies")
    op.drop_table("ledger_replies")
