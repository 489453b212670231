#!/usr/bin/env bash
# One round of the loop as a shell pipeline, in the workspace of the current folder. Settings by environment, for example
#   TASKS=mine.jsonl SAMPLES=4 examples/loop.sh
# `clawctl loop` does the same in one process, and goes on where it was stopped.
set -euo pipefail

tasks=${TASKS:-data/tasks/train.jsonl}
heldout=${HELDOUT:-data/tasks/heldout.jsonl}
warmup=${WARMUP:-data/tasks/warmup.jsonl}
per_round=${PER_ROUND:-32} # tasks
samples=${SAMPLES:-8}      # answers a task

# Exit 3 is an answer, not a failure: not ready, nothing to learn, not better. The caller asks for it with `if`.
ask() {
  local code=0
  "$@" || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || exit "$code"
  return "$code"
}

# The first adapter learns the answer format from worked solutions.
if ! compgen -G 'data/adapters/v*/card.json' > /dev/null && [ -f "$warmup" ]; then
  clawctl train --algorithm sft "$warmup" --lr 1e-3 --epochs 2
  ask clawctl promote latest --eval "$heldout" || true
fi

# The newest adapter answers; a seed of its own gives every round other tasks and other draws.
shuf -n "$per_round" "$tasks" \
  | clawctl generate - -n "$samples" --adapter latest --seed "$RANDOM" --temperature 1 --max-tokens 64 \
  | clawctl judge --with verify \
  | clawctl buffer --group-size "$samples"

# Groups whose answers all score alike teach nothing and are dropped; whatever else there is makes the batch.
if ask clawctl buffer --take --partial --filter dynamic --batch-size "$per_round" --group-size "$samples"; then
  if ask clawctl train --next --from latest --lr 3e-4 --warmup 6 --schedule linear --minibatch 4 --kl-coef 0 --old sampler; then
    ask clawctl promote latest --eval "$heldout" || true
  fi
fi
