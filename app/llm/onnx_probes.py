"""Texts of many lengths and scripts, on which an exported network must give the vectors that torch gives."""

PROBES = (
    "", " ", "a", "treated by", "  lives in  ", "date of birth", "Who is Eq7f2k treated by?", "WHAT IS THE CAPITAL",
    "naïve café, Žofštenbrück", "Straße in Århus", "доктор лечит ёлку", "من كتب هذا الكتاب",
    "谁写了这本书", "この本", "이 책", "ใครเขียน", "किसने लिखा", "🙂🙂 ok", "a_b|c^d.e/f",
    "x" * 300, "1961-07-23 and 4,841.25", "[SEP] [PAD] [MASK]", "e\u0301 \u200b \ufeff", "line\nbreak\ttab",
    "people.person.place_of_birth", "\x00null",
    *(" ".join(["which films did they direct before it"] * count) for count in (2, 4, 8, 16, 32, 64, 128)),
)  # fmt: skip
