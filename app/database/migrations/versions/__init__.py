"""Migrations, one in each file; the first one creates all tables. They import nothing of this project."""
