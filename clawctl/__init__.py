"""clawctl: make a small open model better with every interaction, one JSONL stage after another."""

__version__ = "0.1.0"
