"""Runs the migrations on the connection that `app.database.engine.migrate` passes; there is no offline mode."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, render_as_batch=True, target_metadata=context.config.attributes["tables"])
with context.begin_transaction():
    context.run_migrations()
