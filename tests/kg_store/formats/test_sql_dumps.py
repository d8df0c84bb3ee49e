"""Dumps of MySQL, PostgreSQL and SQLite as their own programs write them: the tables of CSV files, with their keys."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.reader import read_by_policy
from kg_store.sources.table_files import sheets_of
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

MYSQL = r"""-- MySQL dump 10.13  Distrib 8.0.36
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
DROP TABLE IF EXISTS `teachers`;
CREATE TABLE `teachers` (
  `id` int NOT NULL AUTO_INCREMENT,
  `full_name` varchar(80) NOT NULL COMMENT 'the; (full) name',
  `hired` date DEFAULT NULL,
  `note` text,
  `photo` blob,
  PRIMARY KEY (`id`),
  UNIQUE KEY `n` (`full_name`)
) ENGINE=InnoDB;
LOCK TABLES `teachers` WRITE;
/*!40000 ALTER TABLE `teachers` DISABLE KEYS */;
INSERT INTO `teachers` VALUES (11,'Ida O\'Holm','2001-09-01','one; -- two\nthree',0xFFD8),
(12,'Jon "B" Berg',NULL,'a\\',NULL);
DELIMITER ;;
CREATE PROCEDURE p() BEGIN INSERT INTO teachers VALUES (13,'x',1,1,1); END ;;
DELIMITER ;
CREATE TABLE `courses` (`no` int, `title` text, `held_by` int, PRIMARY KEY (`no`),
  CONSTRAINT `c1` FOREIGN KEY (`held_by`) REFERENCES `teachers` (`id`) ON DELETE CASCADE) ENGINE=InnoDB;
INSERT INTO `courses` VALUES (501,'Algebra',11),(502,'Rome',12),(503,'Logic',11);
"""
POSTGRES = r"""-- PostgreSQL database dump
\restrict abc
SET client_encoding = 'UTF8';
CREATE FUNCTION public.f() RETURNS integer LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO teachers VALUES (1,'x'); RETURN 1; END $$;
CREATE TABLE public.teachers (
    id integer NOT NULL,
    full_name text DEFAULT 'a, b'::text NOT NULL,
    hired date,
    note text
);
CREATE TABLE public.courses (no integer, title text, held_by integer);
COPY public.teachers (id, full_name, hired, note) FROM stdin;
11	Ida O'Holm	2001-09-01	one; -- two\nthree
12	Jon "B" Berg	\N	a\\
\.
INSERT INTO public.courses (no, title, held_by) VALUES
	(501, 'Algebra', 11),
	(502, E'Rome', 12);
INSERT INTO public.courses VALUES (503, 'Logic'::text, 11);
ALTER TABLE ONLY public.teachers
    ADD CONSTRAINT teachers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.courses ADD CONSTRAINT courses_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.courses
    ADD CONSTRAINT c1 FOREIGN KEY (held_by) REFERENCES public.teachers(id) ON DELETE CASCADE;
"""
SQLITE = r"""PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE teachers (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, hired DATE, note TEXT);
INSERT INTO teachers VALUES(11,'Ida O''Holm','2001-09-01',replace('one; -- two\nthree','\n',char(10)));
INSERT INTO teachers VALUES(12,'Jon "B" Berg',NULL,'a\');
CREATE TABLE "courses" ("no" INTEGER PRIMARY KEY, title TEXT, held_by INTEGER REFERENCES teachers(id));
INSERT INTO courses VALUES(501,'Algebra',11); INSERT INTO teachers VALUES(13,'Zo',NULL,NULL);
INSERT INTO courses VALUES(502,unistr('R\u006fme'),12);
CREATE TRIGGER t AFTER INSERT ON courses BEGIN
  UPDATE teachers SET note = 1; INSERT INTO teachers VALUES (NEW.no, 'q', 1, 1);
END;
INSERT INTO courses VALUES(503,'Logic',11);
COMMIT;
"""


@pytest.mark.parametrize("text", [MYSQL, POSTGRES, SQLITE], ids=["mysql", "postgres", "sqlite"])
@pytest.mark.parametrize(
    ("name", "encoding"), [("school.sql", "utf-8"), ("school.sql.gz", "utf-8"), ("school.sql", "utf-16")]
)
def test_a_dump_is_the_tables_that_it_declares(tmp_path: Path, text: str, name: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode(encoding))
    raw, policy = read_and_propose([path])
    tables = {table.file: table for table in policy.tables}
    assert {file: table.key for file, table in tables.items()} == {
        "school.sql/teachers": "id",
        "school.sql/courses": "no",
    }
    assert tables["school.sql/courses"].columns["held_by"].table == "school.sql/teachers"
    assert raw.joins == ("school.sql/courses held_by -> school.sql/teachers id, 3 of 3",)
    assert {
        ("11", "label", "Ida O'Holm"), ("11", "hired", "2001-09-01"), ("11", "note", "one; -- two\nthree"),
        ("12", "label", 'Jon "B" Berg'), ("12", "note", "a\\"),
        ("501", "held%20by", "11"), ("502", "held%20by", "12"), ("503", "held%20by", "11"),
        ("502", "label", "Rome"),
    } <= rows(raw)  # fmt: skip
    assert len([triple for triple in rows(raw) if triple[1] == "label"]) == (6 if text is SQLITE else 5)


IN_TWO_SCHEMAS = """CREATE TABLE shop.orders (id int PRIMARY KEY, title text, buyer int REFERENCES shop.buyers(id));
CREATE TABLE shop.buyers (id int PRIMARY KEY, name text);
CREATE TABLE old.orders (id int PRIMARY KEY, title text, reason text);
INSERT INTO shop.buyers VALUES (1,'Ida Holm'),(2,'Jon Berg');
INSERT INTO shop.orders VALUES (1,'Desk',1),(2,'Lamp',2);
INSERT INTO old.orders VALUES (1,'Chair','broken'),(2,'Shelf','late');
"""
WITHOUT_NAMES = re.sub(r"\b(shop|old)\.", "", IN_TWO_SCHEMAS).splitlines()
IN_TWO_DATABASES = ["USE `shop`;", *WITHOUT_NAMES[:2], *WITHOUT_NAMES[3:5], "USE `old`;", *WITHOUT_NAMES[2::3]]


@pytest.mark.parametrize("text", [IN_TWO_SCHEMAS, "\n".join(IN_TWO_DATABASES)], ids=["schemas", "databases"])
def test_tables_of_one_name_in_two_schemas_are_two_tables(tmp_path: Path, text: str) -> None:
    raw, policy = read_and_propose([written(tmp_path, text, "all.sql")])
    kinds = {table.file: table.concept for table in policy.tables}
    assert kinds == {"all.sql/shop.orders": "shop order", "all.sql/buyers": "buyer", "all.sql/old.orders": "old order"}
    assert raw.joins == ("all.sql/shop.orders buyer -> all.sql/buyers id, 2 of 2",)
    said = {words for _, relation, words in rows(raw) if relation == "label"}
    assert said == {"Ida Holm", "Jon Berg", "Desk", "Lamp", "Chair", "Shelf"}


def test_what_a_dump_does_not_say_as_a_constant_is_counted(tmp_path: Path) -> None:
    text = f"{MYSQL}INSERT INTO teachers SELECT * FROM courses;\nREPLACE INTO courses SET no = 1;\n"
    raw, _ = read_and_propose([written(tmp_path, text, "school.sql")])
    assert raw.notes[:2] == (
        "1 values of school.sql/teachers are binary, or computed by the database, and were left out",
        "2 statements of school.sql insert rows in a way that is not read, and were left out",
    )


@pytest.mark.parametrize("head", ["-- MySQL dump 10.13\n", "-- MariaDB dump 10.19\n", ""])
def test_a_backslash_escapes_in_what_mysql_wrote(tmp_path: Path, head: str) -> None:
    """Without this, the text of one row swallowed all that follows it, or said that the file is cut off."""
    text = head + "CREATE TABLE `a` (`id` int, `name` text);\n"
    text += "INSERT INTO `a` VALUES (1,'Al O\\'Hara'),(2,'Cy Moss'),(3,'Di Vale');"
    raw, _ = read_and_propose([written(tmp_path, text, "a.sql")])
    assert {words for _, relation, words in rows(raw) if relation == "label"} == {"Al O'Hara", "Cy Moss", "Di Vale"}


def test_a_part_of_a_declared_key_is_no_key(tmp_path: Path) -> None:
    text = "CREATE TABLE held (id int, day date, room text, PRIMARY KEY (id, day));\n"
    text += "INSERT INTO held VALUES (1, '2024-01-02', 'A'), (2, '2024-01-02', 'B'), (3, '2024-01-03', 'A');"
    (sheet,) = sheets_of(written(tmp_path, text, "rooms.sql"))
    assert sheet.declared is not None
    assert sheet.declared.key == ("id", "day")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE TABLE a (id int);", "mysql DATABASE --batch"),
        ("CREATE VIEW a AS SELECT 1;", "psql DATABASE"),
        ("PGDMP\x01\x0e", "pg_dump --format=plain"),
        (
            "CREATE TABLE a (b text);\nINSERT INTO a VALUES ('x');\nINSERT INTO a VALUES ('Zofia",
            "line 3: the statement",
        ),
        ("CREATE TABLE a (id int, b text);\nINSERT INTO a VALUES (1, 'Zofia', 3);", "this row has 3 values"),
        ("CREATE TABLE a (id int);\nINSERT INTO a VALUES ('" + "Z" * (1 << 20) + "y');", "a text of more than 1 MB"),
    ],
)
def test_a_dump_that_cannot_be_read_says_what_to_do(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(LoadError) as caught:
        read_and_propose([written(tmp_path, text, "a.sql")])
    assert reason in str(caught.value)
    assert "Zofia" not in str(caught.value)


ORACLE = """REM Copyright; none
SET DEFINE OFF
CREATE TABLE regions ( region_id NUMBER CONSTRAINT r_nn NOT NULL, region_name VARCHAR2(25) );
rem *** data; of the regions
Prompt ****** Populating ....
INSERT INTO regions VALUES ( 10 , 'Marsh' );
INSERT INTO regions VALUES ( 20 , 'Fell' );
"""


def test_a_script_of_oracle_is_read_without_its_remarks(tmp_path: Path) -> None:
    raw, _ = read_and_propose([written(tmp_path, ORACLE, "hr.sql")])
    assert {words for _, relation, words in rows(raw) if relation == "label"} == {"Marsh", "Fell"}


def test_each_of_several_constraints_in_brackets_leads_to_its_own_table(tmp_path: Path) -> None:
    text = "CREATE TABLE offices (id NUMBER);\nINSERT INTO offices VALUES (2);\n"
    text += "CREATE TABLE clerks (clerk_id NUMBER, office_id NUMBER, boss_id NUMBER);\n"
    text += "ALTER TABLE clerks ADD ( CONSTRAINT pk PRIMARY KEY (clerk_id)\n, CONSTRAINT f1 FOREIGN KEY (office_id) "
    text += "REFERENCES offices\n, CONSTRAINT f2 FOREIGN KEY (boss_id) REFERENCES clerks );\n"
    _, sheet = sheets_of(written(tmp_path, text + "INSERT INTO clerks VALUES (1, 2, 3);\n", "hr.sql"))
    assert sheet.declared is not None
    assert sheet.declared.key == ("clerk_id",)
    assert sheet.declared.references == {("office_id",): ("offices", ()), ("boss_id",): ("clerks", ())}


def test_rows_whose_columns_another_file_names_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="load the file with the CREATE TABLE") as refused:
        read_and_propose([written(tmp_path, "INSERT INTO regions VALUES (10, 'Marsh');\n", "data.sql")])
    assert "Marsh" not in str(refused.value)


SCHEMA = """CREATE TABLE wards (id int PRIMARY KEY, title text);
CREATE TABLE stays (guest text, bed int, ward int REFERENCES wards (id));
"""
IN_PARTS = {
    "a_stays.sql": "INSERT INTO stays VALUES ('Ida Holm', 4, 71), ('Jon Berg', 5, 72);\n",
    "b_stays.sql": "INSERT INTO stays VALUES ('Ada Lund', 6, 71);\n",
    "m_schema.sql": SCHEMA,
    "z_wards.sql": "INSERT INTO wards (title, id) VALUES ('Marsh', 71), ('Fell', 72);\n",
}


@pytest.mark.parametrize("turned", [False, True])
def test_rows_belong_to_the_table_that_another_file_of_the_load_declares(tmp_path: Path, turned: bool) -> None:
    paths = [written(tmp_path, text, name) for name, text in IN_PARTS.items()]
    paths.append(written(tmp_path, "CREATE TABLE t (a text, 'x", "broken.sql"))
    raw, policy = read_and_propose(paths[::-1] if turned else paths)
    assert {table.file for table in policy.tables} == {"m_schema.sql/wards", "m_schema.sql/stays"}
    assert policy.skip == ("broken.sql",)
    found = {words for _, relation, words in rows(raw) if relation in ("label", "guest")}
    assert found == {"Marsh", "Fell", "Ida Holm", "Jon Berg", "Ada Lund"}
    assert any("m_schema.sql/stays ward -> m_schema.sql/wards id, 3 of 3" in note for note in raw.joins)
    assert read_by_policy(paths, policy) is not None


def test_rows_stay_without_columns_if_two_files_declare_their_table_otherwise(tmp_path: Path) -> None:
    names = {"one.sql": "CREATE TABLE t (id int, name text);", "two.sql": "CREATE TABLE t (name text, id int);"}
    names["rows.sql"] = "INSERT INTO t VALUES (1, 'Marsh');"
    with pytest.raises(LoadError, match=r"rows\.sql: rows without the names"):
        read_and_propose([written(tmp_path, text, name) for name, text in names.items()])
