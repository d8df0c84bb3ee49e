"""`arog eval attach` against real HTTP servers: tables, prices, comparisons, and an owner's graph that stays in."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.checks.leak_scan import LeakScanner
from evaluation.cli import app
from evaluation.dialogue.endpoints import FRAMES, ChatClient
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.dialogues import write_dialogues

HEAD = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:doctor a :Doctor ; rdfs:label "Tarvlum Moskdol" .
:city a :City ; rdfs:label "Zilmvost" .
"""
PATIENT = ':p{0} a :Patient ; rdfs:label "Wexdol{0} Gorfen{0}" ; :treatedBy :doctor ; :livesIn :city .\n'


NAMES = ("wexdol", "gorfen", "tarvlum", "moskdol", "zilmvost")


def attached(prompt: str) -> str:
    """Says all triplets."""
    return prompt.partition("Triplets:\n")[2].partition("\n\nReply:")[0].replace(", ", " ")


def detached(_prompt: str) -> str:
    return "I don't know, sorry."


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["attach", *arguments])


def test_endpoints_stand_in_one_table_with_their_prices(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    with ChatEndpoint(attached) as one, ChatEndpoint(detached, ["truncated"]) as other:
        done = run(
            *(f"--endpoint={endpoint.url}" for endpoint in (one, other)),
            *("--model=good", "--model=bad", "--price=1/2", "--price=10/20", f"--data={data}", "--limit=6"),
            f"--out={tmp_path / 'out'}",
        )
        assert done.exit_code == 0, done.output
        assert (len(one.prompts), len(other.prompts)) == (12, 12)
    text = (tmp_path / "out" / "attach.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:6]]
    assert [row[:2] for row in rows] == [
        ["good", "plain"],
        ["good", "anonymised, Eq7f2k (person)"],
        ["bad", "plain"],
        ["bad", "anonymised, Eq7f2k (person)"],
    ]
    assert all(row[4].startswith("100.0") and row[6:8] == ["0.0", "0.0"] for row in rows[:2])
    assert rows[2][10] == "1", "the call that was cut off"
    assert rows[2][7] == "16.7", "one reply of six"
    assert all(float(row[12]) > 0 for row in rows)


def test_anonymised_prompts_hold_no_name_of_the_set(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    graph = (data / "opendialkg" / "triples.tsv").read_text("utf-8").splitlines()
    names = {name.lower() for line in graph for name in (line.split("\t")[0], line.split("\t")[2])}
    with ChatEndpoint(detached) as endpoint:
        assert run(f"--endpoint={endpoint.url}", "--model=m", f"--data={data}", "--limit=4").exit_code == 0
        plain, anonymised = endpoint.prompts[:4], endpoint.prompts[4:]
    assert all(any(name in prompt.lower() for name in names) for prompt in plain)
    assert not [name for prompt in anonymised for name in names if name in prompt.lower() and not name.isdigit()]


def judging(prompt: str) -> str:
    """Finds the last word of each text."""
    lines = prompt.partition("Input:\n")[2].splitlines()
    return "\n".join(f"{line}|||{line.split('|||')[1].split()[-1]}" for line in lines)


def test_a_judge_reads_the_replies_of_each_endpoint(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    with ChatEndpoint(attached) as one, ChatEndpoint(detached) as other, ChatEndpoint(judging) as judge:
        done = run(
            *(f"--endpoint={endpoint.url}" for endpoint in (one, other)),
            *("--model=same", f"--judge={judge.url}", "--judge-model=j", f"--data={data}", "--limit=4"),
        )
    assert done.exit_code == 0, done.output
    assert "| same (1) | plain | j | 4 |" in done.output
    assert "| same (2) | anonymised, Eq7f2k (person) | j | 4 |" in done.output
    assert "The judge took 4 calls (0 failed)" in done.output, "a call a row"


@pytest.mark.model
def test_of_an_own_graph_only_pseudonyms_leave(tmp_path: Path) -> None:
    graph = tmp_path / "graph.ttl"
    graph.write_text(HEAD + "".join(PATIENT.format(at) for at in range(20)), "utf-8")
    with ChatEndpoint(attached) as endpoint:
        done = run(f"--endpoint={endpoint.url}", "--model=m", f"--graph={graph}", "--limit=4")
        prompts = list(endpoint.prompts)
    assert done.exit_code == 0, done.output
    assert "own graph, Eq7f2k (person)" in done.output
    assert "No prompt held a name of the graph." in done.output
    assert len(prompts) == 4
    assert not [name for prompt in prompts for name in NAMES if name in prompt.lower()]
    assert all("What do you know about E" in prompt for prompt in prompts)
    assert any("treated by" in prompt for prompt in prompts)


@pytest.mark.model
def test_what_few_things_share_is_not_shown(tmp_path: Path) -> None:
    graph = tmp_path / "graph.ttl"
    rare = ':p0 :hasAllergyTo :nuts . :nuts rdfs:label "Pellquin" .\n'
    graph.write_text(HEAD + "".join(PATIENT.format(at) for at in range(20)) + rare, "utf-8")
    with ChatEndpoint(attached) as endpoint:
        assert run(f"--endpoint={endpoint.url}", "--model=m", f"--graph={graph}", "--limit=50").exit_code == 0
        assert endpoint.prompts
        assert not [prompt for prompt in endpoint.prompts if "allergy" in prompt]
    graph.write_text(HEAD + "".join(PATIENT.format(at) for at in range(19)), "utf-8")
    done = run("--endpoint=http://127.0.0.1:9/v1", "--model=m", f"--graph={graph}")
    assert done.exit_code == 2
    assert "at least 20 of its things share" in " ".join(done.output.split())


def test_a_prompt_with_a_name_is_not_sent() -> None:
    with ChatEndpoint(str.upper) as endpoint:
        chat = ChatClient(endpoint.url, "m", scanner=LeakScanner(["Wexdol Gorfen", "Conversation"], []))
        clear = f"{FRAMES[0]}\n\nConversation:\nEq7f2k"
        assert chat.complete([clear, "of wexdol gorfen", "of Eq7f2k"]) == [clear.upper(), None, "OF EQ7F2K"]
        assert chat.withheld == 1
        assert chat.complete(["Wexdol Gorfen"]) == [None]
        assert sorted(endpoint.prompts) == sorted([clear, "of Eq7f2k"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "at least one --endpoint"),
        (["--endpoint=http://a/v1"], "needs --model"),
        (["--endpoint=http://a/v1", "--model=m", f"--policy={__file__}"], "--graph"),
        (["--endpoint=ftp://a", "--model=m"], "base URL"),
        (["--endpoint=http://a/v1", "--model=m", "--price=cheap"], "0.15/0.60"),
        (["--endpoint=http://a/v1", "--endpoint=http://b/v1", "--endpoint=http://c/v1", *["--model=m"] * 2], "once"),
        (["--endpoint=http://a/v1", "--model=m", "--key-variable=AROG_NOT_SET_ANYWHERE"], "not set"),
    ],
)
def test_options_that_name_no_endpoint_are_refused_in_words(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_a_key_is_read_from_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_A", "a-very-private-key")
    data = write_dialogues(tmp_path / "data")
    with ChatEndpoint(detached) as endpoint:
        done = run(
            *(f"--endpoint={endpoint.url}", "--model=m", "--key-variable=KEY_OF_A"), f"--data={data}", "--limit=1"
        )
    assert done.exit_code == 0
    assert "a-very-private-key" not in done.output
