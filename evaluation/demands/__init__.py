"""Measures replies that draw on common sense, as DCRAG does (Yu et al., EMNLP 2024): dialogues, matching, judges."""
