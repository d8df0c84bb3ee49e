"""Ask questions as people really ask them, over several graphs; `sets/README.md` says how they were made."""
