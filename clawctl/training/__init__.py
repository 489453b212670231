"""Training: the policy (base and LoRA), packing, the optimiser loop, checkpoints, and how a version is published."""
