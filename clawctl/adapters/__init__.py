"""Adapters: versions and their cards, GGUF conversion, the gate, and `current`."""
