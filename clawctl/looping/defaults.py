"""The loop's vetted numbers, in one place: `loop` and `demo` have them as the defaults of their options.

They were searched for on the starter model and the bundled tasks. The warm-up is to teach the format and no more: what it has drilled
into a model of this size, sampling does not unlearn. Adam's first steps are as large as the rate whatever the gradient, so the rate
rises over the first round; and it falls within each, so that what is measured is not where the last noisy step went. A constant 4e-4 swung
to and fro by 0.1 in held-out pass rate.
"""

GROUPS, SAMPLES = 32, 8  # tasks a round, answers a task
TEMPERATURE = 1.0
MAX_TOKENS = 64
LR, LR_WARMUP, SCHEDULE, MINIBATCH = 3e-4, 6, "linear", 4  # groups an optimiser step
KL_COEF, OLD = 0.0, "sampler"  # neither asks for a pass of its own; sampler and trainer differ by a KL of 5e-4
WARMUP_LR, WARMUP_EPOCHS = 1e-3, 2
ROUNDS, MINUTES = 8, 11.0  # of the demonstration: whichever comes first
