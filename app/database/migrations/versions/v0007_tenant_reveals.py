"""What the prompts of each tenant show on one day, in counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tenant_reveals",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("reveals", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day"),
    )


def downgrade() -> None:
    op.drop_table("tenant_reveals")
