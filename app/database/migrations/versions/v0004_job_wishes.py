"""Adds to each job what its owner told it, so that every process can approve and stop it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("wish", sa.String(length=8), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("jobs", "wish")
