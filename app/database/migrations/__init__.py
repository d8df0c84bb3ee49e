"""Alembic's scripts: one file per change of the tables, in the wheel, run by `app.database.engine.migrate`."""
