"""Splits talk and stories into episodes, finds the episode that an utterance belongs to, and recalls what it tells.

Episodes are the narrative bubbles of Clay and Jiménez-Ruiz (2025), section 2.3. Nothing here sends anything anywhere.
"""
