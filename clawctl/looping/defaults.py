"""The loop's vetted numbers, in one place: `loop` and `demo` have them as the defaults of their options.

They were searched for on the starter model and the bundled tasks. Answers are drawn a little cooler than 1, since at 1 most of a 135M
model's mistakes are slips that its greedy answer would not make. A rate of 3e-4 collapsed; half of this one learns half as fast.
"""

GROUPS, SAMPLES = 32, 8  # tasks a round, answers a task
TEMPERATURE = 0.7
MAX_TOKENS = 64
LR, MINIBATCH, KL_COEF = 1.5e-4, 4, 0.0  # groups an optimiser step; without a KL term no reference pass is paid for
WARMUP_LR, WARMUP_EPOCHS = 1e-3, 2
ROUNDS, MINUTES = 8, 11.0  # of the demonstration: whichever comes first
