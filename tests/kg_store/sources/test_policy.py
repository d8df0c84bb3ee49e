"""Policy: TOML in and out, everything private by default, errors that say what is allowed and quote nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import PolicyError
from kg_store.sources.policy import MediatorPolicy, Policy, RelationPolicy
from kg_store.sources.vocabulary import NAME_PREDICATES
from kg_store.terms import ValueKind, ValueView

SECRET = "Zofia Quarrel"
PREDICATES = st.text(min_size=1, max_size=20)
LABELS = st.text(alphabet="abc def'-", min_size=1, max_size=20).map(str.strip).filter(bool)
POLICIES = st.builds(
    Policy,
    names=st.lists(PREDICATES, max_size=3).map(tuple),
    composite_names=st.lists(st.lists(PREDICATES, min_size=2, max_size=3).map(tuple), max_size=2).map(tuple),
    local_part_names=st.booleans(),
    types=st.sampled_from(["concept", "hide"]),
    inverse_prefix=st.none() | st.just("~"),
    mediators=st.builds(
        MediatorPolicy, blank_nodes=st.booleans(), pattern=st.sampled_from([None, r"^[mg]\.", '"\\\\'])
    ),
    relations=st.dictionaries(
        PREDICATES,
        st.builds(
            RelationPolicy,
            label=st.none() | LABELS,
            hide=st.booleans(),
            value_kind=st.none() | st.sampled_from(ValueKind),
            values=st.sampled_from(ValueView),
            linkable=st.none() | st.booleans(),
        ).filter(lambda settings: settings != RelationPolicy()),
        max_size=3,
    ),
)


@given(POLICIES)
def test_a_policy_comes_back_from_its_toml(policy: Policy) -> None:
    assert Policy.from_toml(policy.to_toml()) == policy


@pytest.mark.parametrize("text", ["names = " + "9" * 5000, "names = " + "[" * 5000, "names = [", "\x00"])
def test_what_is_no_toml_is_told(text: str) -> None:
    with pytest.raises(PolicyError, match="policy: not valid TOML"):
        Policy.from_toml(text)


def test_an_empty_policy_is_private() -> None:
    policy = Policy.from_toml("")
    assert policy.names == NAME_PREDICATES
    assert policy.local_part_names
    assert policy.mediators.blank_nodes
    settings = policy.of("http://x.test/anything")
    assert settings.values is ValueView.PSEUDONYM
    assert policy.to_toml().strip() == ""


def test_what_a_policy_says_is_read() -> None:
    policy = Policy.from_toml(
        """
        names = ["http://x.test/called"]
        composite_names = [["http://x.test/first", "http://x.test/last"]]
        [mediators]
        pattern = '^[mg]\\.'
        [relations."http://x.test/bornOn"]
        label = "date of birth"
        values = "year"
        value_kind = "date"
        linkable = false
        words = ["born", " birthday "]
        [classes.Patient]
        words = ["sick person"]
        """
    )
    assert policy.composite_names == (("http://x.test/first", "http://x.test/last"),)
    assert policy.mediators.pattern == r"^[mg]\."
    born = policy.of("http://x.test/bornOn")
    assert (born.label, born.values, born.value_kind, born.linkable) == ("date of birth", "year", "date", False)
    assert (born.words, policy.classes["Patient"].words) == (("born", "birthday"), ("sick person",))
    assert Policy.from_toml(policy.to_toml()) == policy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'name = ["{SECRET}"]', "allowed: names, composite_names"),
        (f'names = "{SECRET}"', "names: "),
        (
            f'[relations."{SECRET}"]\nvalues = "{SECRET}"',
            "'pseudonym', 'year', 'decade', 'bucket', 'clear' or 'never'",
        ),
        (f'[relations]\n"{SECRET}" = 1', "relations"),
        ('[mediators]\npattern = "[Zofia"', "not a regular expression"),
        ('[mediators]\nzofia = "x"', "allowed: blank_nodes, pattern, classes"),
        (f'types = "{SECRET}"', "'concept' or 'hide'"),
        (f'[relations.x]\nlabel = "{SECRET} (secret)"', "holds none of"),
        (f'[relations.x]\nwords = ["earn", "{SECRET} who is a patient here"]', "relations.?.words.?: "),
        (f'[relations.x]\nwords = ["{SECRET}?"]', "of one to 4 words and ends without a point"),
        (f'[classes."{SECRET}"]\n"{SECRET}" = 1', "allowed: words"),
        ('composite_names = [["Zofia"]]', "composite_names"),
        (f'names = ["{SECRET}"\nx', "line 2"),
        (f"{SECRET} = 1", "line 1"),
        (f'names = ["{SECRET}"]\nnames = ["{SECRET}"]', "not valid TOML"),
    ],
)
def test_an_error_says_field_and_allowed_values_and_quotes_nothing(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text)
    assert says in str(caught.value)
    for part in SECRET.split():
        assert part not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["a." * 20_000 + "a = 1", '"a".' * 20_000 + "a = 1", "[" + "a . " * 20_000 + "a]\nb = 1"]
)
def test_a_key_of_very_many_parts_is_refused_before_it_is_parsed(key: str) -> None:
    with pytest.raises(PolicyError, match="policy: a key with too many parts, line 2"):
        Policy.from_toml("names = []\n" + key)


def test_an_address_with_many_dots_is_no_such_key() -> None:
    address = "http://" + "a.b." * 10 + "example/x"
    Policy.from_toml(f'[relations."{address}"]\nlabel = "x"\n')
