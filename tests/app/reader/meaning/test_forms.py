"""Bounds, groups, first ones, differences, comparisons and "only" in questions over a library."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.path_scoring import PathScorer
from tests.support.library import assert_read_as, assert_unsure


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


ONE_BRANCH = 'reach(Er3h33, "^kept at")'
READ = [
    ("Ea2t22 was the author of which books", 'reach(Ea2t22, "^written by")'),
    ("branches with Vn4m44 or more seats", 'filter(Sr0001, "number of seats", >=, Vn4m44)'),
    ("Which authors have written three books or more?", 'counted(Sa0001, "^written by", >=, 3)'),
    ("Which authors have exactly two books?", 'counted(Sa0001, "^written by", =, 2)'),
    ("authors with more than one book", 'counted(Sa0001, "^written by", >, 1)'),
    ("Which books were published in Vd4t33 or later?", 'filter(Sb0001, "published on", >=, Vd4t33)'),
    ("Which books were published during Vd4t33?", 'filter(Sb0001, "published on", =, Vd4t33)'),
    ("average price of books per branch", 'averages(Sb0001, "kept at", "price")'),
    ("What is the average price per branch?", 'averages(Sb0001, "kept at", "price")'),
    ("total price by branch", 'sums(Sb0001, "kept at", "price")'),
    ("How many books were published each year?", 'group(Sb0001, "published on", year)'),
    ("How many loans were there per month?", 'group(Sl0001, "loaned on", month)'),
    ("How many members borrowed which books?", 'group(Sm0001, "^borrowed by|of book")'),
    ("top three books by price", 'limit(sort(having(Sb0001, "price"), "price", descending), 3)'),
    ("the three cheapest books", 'limit(sort(having(Sb0001, "price"), "price", ascending), 3)'),
    ("Which two books are the most expensive?", 'limit(sort(having(Sb0001, "price"), "price", descending), 2)'),
    (
        "Who is the second oldest author?",
        'limit(sort(limit(sort(having(Sa0001, "date of birth"), "date of birth", ascending), 2), "date of birth", '
        "descending), 1)",
    ),
    ("most mentored author", 'most(Sa0001, "mentored by")'),
    ("Which branches keep no books?", 'difference(Sr0001, reach(Sb0001, "kept at"))'),
    ("What is the most common price?", 'most(reach(Sb0001, "price"), "^price")'),
    ("Which branch has the highest total price of books?", 'most(Sr0001, "^kept at", "price")'),
    (
        "How many more seats does Er3h33 have than Er9h99?",
        'minus(reach(Er3h33, "number of seats"), reach(Er9h99, "number of seats"))',
    ),
    (
        "How many more books did Ea2t22 write than Ea3t33?",
        'minus(count(reach(Ea2t22, "^written by")), count(reach(Ea3t33, "^written by")))',
    ),
    (
        "How much older is Em4b44 than Em5b55?",
        'minus(reach(Em5b55, "date of birth"), reach(Em4b44, "date of birth"))',
    ),
    (
        "How much younger is Em4b44 than Em5b55?",
        'minus(reach(Em4b44, "date of birth"), reach(Em5b55, "date of birth"))',
    ),
    ("Does Eb1k11 cost more than Eb2k22?", 'exists(intersect(compare(Eb1k11, Eb2k22, "price"), Eb1k11))'),
    ("Which books cost more than Eb1k11?", 'filter(Sb0001, "price", >, reach(Eb1k11, "price"))'),
    ("Which books were published after Eb1k11?", 'filter(Sb0001, "published on", >, reach(Eb1k11, "published on"))'),
    (
        "Was Em4b44 born before Em5b55?",
        'exists(intersect(argmin(union(Em4b44, Em5b55), "date of birth"), Em4b44))',
    ),
    (
        "Does the branch of Eb1k11 have more seats than the branch of Eb2k22?",
        'exists(intersect(compare(reach(Eb1k11, "kept at"), reach(Eb2k22, "kept at"), "number of seats"), '
        'reach(Eb1k11, "kept at")))',
    ),
    (
        "Which books are kept only at Er3h33?",
        f'difference({ONE_BRANCH}, reach(difference(Sr0001, Er3h33), "^kept at"))',
    ),
    (
        "Which authors wrote only books kept at Er3h33?",
        f'difference(reach({ONE_BRANCH}, "written by"), reach(difference(Sb0001, {ONE_BRANCH}), "written by"))',
    ),
    (
        "Which members borrowed nothing but Eb1k11?",
        'difference(reach(reach(Eb1k11, "^of book"), "borrowed by"), reach(difference(Sl0001, reach(Eb1k11, '
        '"^of book")), "borrowed by"))',
    ),
    (
        "Which authors have written more books than Ea2t22?",
        'counted(Sa0001, "^written by", >, count(reach(Ea2t22, "^written by")))',
    ),
    ("How many seats do Er3h33 and Er9h99 have together?", 'sum(union(Er3h33, Er9h99), "number of seats")'),
    ("top Vn4m44 books by price", 'limit(sort(having(Sb0001, "price"), "price", descending), Vn4m44)'),
    (
        "Which books were written by neither Ea2t22 nor Ea3t33?",
        'difference(Sb0001, reach(union(Ea2t22, Ea3t33), "^written by"))',
    ),
]

CHOSEN = [
    ("cheapest book by Ea2t22", 'argmin(reach(Ea2t22, "^written by"), "price")'),
    ("the oldest blocked member", 'argmin(having(Sm0001, "blocked"), "date of birth")'),
    (
        "the three cheapest books by Ea2t22",
        'limit(sort(having(reach(Ea2t22, "^written by"), "price"), "price", ascending), 3)',
    ),
    (
        "Which of the three oldest members are blocked?",
        'having(limit(sort(having(Sm0001, "date of birth"), "date of birth", ascending), 3), "blocked")',
    ),
    ("Which book is borrowed most often?", 'most(Sb0001, "^of book")'),
    ("Which member borrowed least often?", 'fewest(Sm0001, "^borrowed by")'),
    ("Which member borrows the most?", 'most(Sm0001, "^borrowed by")'),
    ("How often was Eb1k11 borrowed?", 'count(reach(Eb1k11, "^of book"))'),
    ("How many times was Eb1k11 borrowed?", 'count(reach(Eb1k11, "^of book"))'),
    ("Who mentored the most authors?", 'most(reach(Sa0001, "mentored by"), "^mentored by")'),
    ("Which author wrote the most books at Er3h33?", 'most(Sa0001, "^written by", reach(Er3h33, "^kept at"))'),
]

COUNTED = [
    ("Are there more books than authors?", "outnumbers(Sb0001, Sa0001)"),
    ("Do we have fewer members than books?", "outnumbers(Sb0001, Sm0001)"),
    (
        "Do we have more books at Er3h33 than at Er9h99?",
        'outnumbers(reach(Er3h33, "^kept at"), reach(Er9h99, "^kept at"))',
    ),
    (
        "Did Ea2t22 write more books than Ea3t33?",
        'outnumbers(reach(Ea2t22, "^written by"), reach(Ea3t33, "^written by"))',
    ),
    (
        "Are there more Vs6c66 loans than Vs7d77 loans?",
        'outnumbers(filter(Sl0001, "loan status", =, Vs6c66), filter(Sl0001, "loan status", =, Vs7d77))',
    ),
    ("Which has more books, Er3h33 or Er9h99?", 'most(union(Er3h33, Er9h99), "^kept at")'),
]


@pytest.mark.parametrize(("question", "expression"), COUNTED, ids=[question for question, _ in COUNTED])
def test_the_numbers_of_two_sets_are_compared(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize(
    "question",
    [
        "Are there more books than authors at Er3h33?",
        "Are there more books at Er3h33 than authors?",
        "Are there more books than members in?",
        "Do more members than authors borrow books?",
    ],
)
def test_numbers_are_not_compared_where_one_side_is_not_told_whole(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)


QUANTIFIED = [
    ("Do all members borrow a book?", 'none(difference(Sm0001, reach(reach(Sb0001, "^of book"), "borrowed by")))'),
    ("Is there a book in every branch?", 'none(difference(Sr0001, reach(Sb0001, "kept at")))'),
    (
        "Does Ea2t22 write all books at Er3h33?",
        'none(difference(reach(Er3h33, "^kept at"), reach(Ea2t22, "^written by")))',
    ),
    ("Does no book cost less than Eb1k11?", 'none(filter(Sb0001, "price", <, reach(Eb1k11, "price")))'),
    ("Is it true that none of the members is blocked?", 'none(having(Sm0001, "blocked"))'),
    ("Is any member blocked?", 'exists(having(Sm0001, "blocked"))'),
    ("Is any member not blocked?", 'exists(difference(Sm0001, having(Sm0001, "blocked")))'),
    ("Is there a branch without a book?", 'exists(difference(Sr0001, reach(Sb0001, "kept at")))'),
    ("Who is not blocked?", 'difference(Sm0001, having(Sm0001, "blocked"))'),
    ("Which members have no email?", 'difference(Sm0001, having(Sm0001, "email"))'),
    ("Which books have never been borrowed?", 'difference(Sb0001, having(Sb0001, "^of book"))'),
]


@pytest.mark.parametrize(("question", "expression"), QUANTIFIED, ids=[question for question, _ in QUANTIFIED])
def test_all_any_and_none_are_executed(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize(
    "question",
    [
        "Is there a book each month?",
        "Is there a price in each branch?",
        "Does every author smoke?",
        "Is there no branch without a book?",
    ],
)
def test_all_and_none_are_never_left_out(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)


@pytest.mark.parametrize(("question", "expression"), CHOSEN, ids=[question for question, _ in CHOSEN])
def test_a_superlative_chooses_among_what_the_rest_of_its_question_tells(
    scorer: PathScorer, question: str, expression: str
) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize(("question", "expression"), READ, ids=[question for question, _ in READ])
def test_the_form_is_read(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize(
    "question",
    [
        "top three books please",
        "Which two authors wrote the most books?",
        "Which three members are blocked?",
        "Who is the only author of Eb1k11?",
        "How many books are there per branch of the author?",
        "Which branch has the highest average price of books?",
        "How much older is Eb1k11 than Er3h33?",
        "Does Eb1k11 cost more than Er3h33?",
        "How many more books are there?",
        "Which books are kept at Er3h33 or only at Er9h99?",
        "What is the most popular branch?",
        "Which branch has more seats than Er3h33 and Er9h99?",
        "How many seats do Er3h33 and Er9h99 have?",
        "What is the average number of books per branch?",
        "How many books are there per author and branch?",
        "cheapest Vs6c66 loans",
        "Which branches have Vn4m44 tonnes?",
        "Which branches have between two and five books?",
    ],
)
def test_what_can_not_be_executed_whole_is_refused(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)
