"""Evaluation: a model or an adapter on tasks, the same questions and seeds for everyone."""
