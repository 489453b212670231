"""Text generation in this process by llama.cpp: many sequences at once, prompts evaluated once (engine.py)."""

from clawctl.engines.llama.engine import LlamaEngine, open_llama

__all__ = ["LlamaEngine", "open_llama"]
