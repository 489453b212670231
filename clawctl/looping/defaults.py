"""The loop's vetted numbers, in one place: `loop` and `demo` have them as the defaults of their options."""

GROUPS, SAMPLES = 16, 8  # tasks a round, answers a task
TEMPERATURE = 1.0
MAX_TOKENS = 96
ROUNDS = 8  # of the demonstration
