"""`clawctl train`: a batch in, a candidate adapter out."""

from __future__ import annotations

from typing import Annotated

import typer

from clawctl.cli.options import DryRun, Json, ModelOption, OnError, OnErrorOption, Quiet, Rejects, Seed, WorkspaceOption
from clawctl.cli.run import quiet

ALGORITHM, ADAPTER, MACHINE = "Algorithm", "Adapter", "Machine"


def command(
    files: Annotated[list[str] | None, typer.Argument(help="Batches, or task files for sft.", metavar="BATCH", show_default=False)] = None,
    next_batch: Annotated[bool, typer.Option("--next", help="The oldest batch that nothing was trained on.")] = False,
    algorithm: Annotated[str, typer.Option(help="grpo or sft.", rich_help_panel=ALGORITHM)] = "grpo",
    lr: Annotated[float | None, typer.Option(help="Learning rate; default 1e-4, sft 5e-4.", rich_help_panel=ALGORITHM)] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the batch; default 1, sft 2.", rich_help_panel=ALGORITHM)] = None,
    minibatch: Annotated[
        int | None, typer.Option(min=0, help="Groups an optimiser step, 0 for all; default 0, sft 8.", rich_help_panel=ALGORITHM)
    ] = None,
    aggregation: Annotated[
        str | None,
        typer.Option(
            "--loss-agg",
            help="seq-mean-token-mean, token-mean, dr-grpo or seq-mean-token-sum; default the first, sft the second.",
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    loss_length: Annotated[int | None, typer.Option(min=1, help="The constant L of dr-grpo.", rich_help_panel=ALGORITHM)] = None,
    clip_low: Annotated[float | None, typer.Option(min=0, help="Ratio clip below; default 0.2.", rich_help_panel=ALGORITHM)] = None,
    clip_high: Annotated[float | None, typer.Option(min=0, help="Ratio clip above; default 0.2.", rich_help_panel=ALGORITHM)] = None,
    kl_coef: Annotated[float | None, typer.Option(min=0, help="Weight of the KL term; default 0.04.", rich_help_panel=ALGORITHM)] = None,
    ref: Annotated[str, typer.Option(help="Whom the KL term holds to: start or base.", rich_help_panel=ALGORITHM)] = "start",
    old: Annotated[
        str, typer.Option(help="Whose log-probabilities the ratio is against: trainer, or sampler (faster).", rich_help_panel=ALGORITHM)
    ] = "trainer",
    std: Annotated[str | None, typer.Option(help="sample or population; default sample.", rich_help_panel=ALGORITHM)] = None,
    scale: Annotated[
        str | None, typer.Option(help="Divide by the std of the group, of the batch, or none.", rich_help_panel=ALGORITHM)
    ] = None,
    adv_eps: Annotated[float | None, typer.Option(min=0, help="Added to the std; default 1e-4.", rich_help_panel=ALGORITHM)] = None,
    off_policy: Annotated[bool, typer.Option(help="Accept rows sampled from another adapter.", rich_help_panel=ALGORITHM)] = False,
    min_reward: Annotated[float, typer.Option(help="sft on rollouts: the least reward to imitate.", rich_help_panel=ALGORITHM)] = 1.0,
    warmup: Annotated[int, typer.Option(min=0, help="Steps in which the rate rises.", rich_help_panel=ALGORITHM)] = 0,
    schedule: Annotated[str, typer.Option(help="The rate after that: constant or linear (to 0).", rich_help_panel=ALGORITHM)] = "constant",
    weight_decay: Annotated[float, typer.Option(min=0, help="Of AdamW.", rich_help_panel=ALGORITHM)] = 0.0,
    max_grad_norm: Annotated[float, typer.Option(min=0, help="The gradient is clipped to it.", rich_help_panel=ALGORITHM)] = 1.0,
    seed: Seed = 0,
    start: Annotated[
        str, typer.Option("--from", help="Adapter to go on with: current, latest, none, vNNN or a folder.", rich_help_panel=ADAPTER)
    ] = "current",
    rank: Annotated[int | None, typer.Option(min=1, help="Of a fresh adapter; default 16.", rich_help_panel=ADAPTER)] = None,
    alpha: Annotated[float | None, typer.Option(min=0, help="Of a fresh adapter; default twice the rank.", rich_help_panel=ADAPTER)] = None,
    targets: Annotated[
        str | None, typer.Option(help="Projections of a fresh adapter, by commas; default all seven.", rich_help_panel=ADAPTER)
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Only the uppermost so many; default all.", rich_help_panel=ADAPTER)] = None,
    max_gap: Annotated[
        float, typer.Option(min=0, help="How many times the base's own gap the GGUF may differ.", rich_help_panel=ADAPTER)
    ] = 6.0,
    model: ModelOption = "starter",
    pack: Annotated[int, typer.Option(min=1, help="Tokens evaluated at once: memory against speed.", rich_help_panel=MACHINE)] = 2048,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", rich_help_panel=MACHINE)] = "auto",
    dtype: Annotated[str, typer.Option(help="Of the frozen base: auto, float32 or bfloat16.", rich_help_panel=MACHINE)] = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="Default: the cores of this process.", rich_help_panel=MACHINE)] = None,
    resume: Annotated[bool, typer.Option(help="Go on where this training was stopped.", rich_help_panel=MACHINE)] = False,
    checkpoint_every: Annotated[int, typer.Option(min=0, help="Steps; 0: only when stopped.", rich_help_panel=MACHINE)] = 0,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another training to end.", rich_help_panel=MACHINE)] = 0.0,
    rejects: Rejects = None,
    on_error: OnErrorOption = OnError.skip,
    dry_run: DryRun = False,
    as_json: Json = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Train a candidate adapter on a batch of scored rollouts.

    Batches of scored rollouts in (for sft: tasks with worked answers, or rollouts), data/adapters/vNNN and its name out. Training
    uses the stored token ids. It ends cleanly on Ctrl-C and SIGTERM; --resume goes on. Exit 3: the batch has nothing to teach.

    Example: clawctl train --algorithm sft data/tasks/warmup.jsonl --from none
    """
    from clawctl.adapters import versions
    from clawctl.buffering.batches import pass_over
    from clawctl.errors import No
    from clawctl.training import inputs, recipe, report
    from clawctl.training.lora_config import adapter_config
    from clawctl.training.stage import Order, train
    from clawctl.workspace import models
    from clawctl.workspace.paths import Workspace

    quiet(q)
    ws = Workspace.find(workspace)
    settings = {
        "aggregation": aggregation,
        "clip_low": clip_low,
        "clip_high": clip_high,
        "kl_coef": kl_coef,
        "std": std,
        "scale": scale,
        "adv_eps": adv_eps,
    }
    parent = versions.resolve(ws, start)
    made = recipe.make(
        algorithm,
        settings,
        lr=lr,
        epochs=epochs,
        minibatch=minibatch,
        seed=seed,
        reference=ref,
        old=old,
        length=loss_length,
        warmup=warmup,
        schedule=schedule,
        weight_decay=weight_decay,
        max_grad_norm=max_grad_norm,
        pack=pack,
        lora=adapter_config(parent, rank, alpha, targets, layers),
    )
    chosen = inputs.choose(ws, files, next_batch, min_reward=min_reward, on_error=on_error.value, rejects=rejects)
    order = Order(
        chosen,
        made,
        models.resolve(model, ws),
        parent,
        off_policy=off_policy,
        max_gap=max_gap,
        resume=resume,
        checkpoint_every=checkpoint_every,
        device=device,
        dtype=dtype,
        threads=threads,
        wait=wait,
    )
    if dry_run:
        report.show(report.forecast(ws, order), as_json)
        return
    try:
        with report.Bar(q) as bar:
            outcome = train(ws, order, bar.step)
    except No as no:
        for batch in chosen.batches:
            pass_over(ws, batch, str(no))
        raise
    report.tell(outcome, as_json)
