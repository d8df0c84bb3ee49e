"""Alembic's scripts: one file for each change of the tables, run by `app.database.engine.migrate`."""
