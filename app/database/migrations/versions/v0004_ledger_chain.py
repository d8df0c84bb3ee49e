"""A chain per tenant over requests and replies, its head, its checkpoints, and the key that signs them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("ledger_entries") as batch:
        batch.add_column(sa.Column("number", sa.Integer(), nullable=True))
        batch.add_column(sa.Column("link", sa.String(length=64), nullable=True))
    op.create_index("uq_ledger_entries_number", "ledger_entries", ["tenant", "number"], unique=True)
    with op.batch_alter_table("ledger_replies") as batch:
        batch.add_column(sa.Column("tenant", sa.String(length=63), nullable=True))
        batch.add_column(sa.Column("digest", sa.String(length=64), nullable=True))
        batch.add_column(sa.Column("number", sa.Integer(), nullable=True))
        batch.add_column(sa.Column("link", sa.String(length=64), nullable=True))
    op.create_index("uq_ledger_replies_number", "ledger_replies", ["tenant", "number"], unique=True)
    op.create_table(
        "ledger_heads",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("link", sa.String(length=64), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "ledger_checkpoints",
        sa.Column("position", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("signature", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("position"),
    )
    op.create_index("ix_ledger_checkpoints_tenant", "ledger_checkpoints", ["tenant", "position"], unique=False)
    op.create_table(
        "ledger_signers",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    op.drop_table("ledger_signers")
    op.drop_index("ix_ledger_checkpoints_tenant", table_name="ledger_checkpoints")
    op.drop_table("ledger_checkpoints")
    op.drop_table("ledger_heads")
    op.drop_index("uq_ledger_replies_number", table_name="ledger_replies")
    with op.batch_alter_table("ledger_replies") as batch:
        for column in ("link", "number", "digest", "tenant"):
            batch.drop_column(column)
    op.drop_index("uq_ledger_entries_number", table_name="ledger_entries")
    with op.batch_alter_table("ledger_entries") as batch:
        batch.drop_column("link")
        batch.drop_column("number")
