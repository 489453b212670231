"""The loop's stages: what each reads, what it writes, and that a second run of it finds the work done.

Each calls the function behind the command of the same name, in this process, so that libraries and weights are loaded once.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from clawctl.adapters import history, promotion, versions
from clawctl.errors import No, Usage
from clawctl.evaluation.exam import answers, questions, rates_by
from clawctl.evaluation.figures import summary
from clawctl.evaluation.ticker import counted
from clawctl.looping import line
from clawctl.looping.choice import choose
from clawctl.looping.recipe import Recipe
from clawctl.looping.rounds import Stage, title
from clawctl.looping.state import WARMUP, State, rollouts
from clawctl.records.streams import Reader, Writer
from clawctl.workspace.models import base_sha256
from clawctl.workspace.paths import Workspace

if TYPE_CHECKING:
    from clawctl.training.stage import Order

Figures = dict[str, Any]
GATED = ("pass_rate", "ci95", "format_rate", "answer_rate", "mean_reward", "truncated")  # held-out figures that are logged


def plan(ws: Workspace, recipe: Recipe, state: State) -> Figures:
    """Which adapter goes into the round, and which tasks."""
    head = line.head(ws, base_sha256(recipe.model.file, ws.models))
    state.adapter = head.name if head else None
    if state.round != WARMUP:
        tasks = choose(questions(recipe.tasks), state.round, recipe.groups, recipe.seed)
        state.tasks = [task["id"] for task in tasks]
    return {"adapter": state.adapter, "tasks": len(state.tasks)}


def generate(ws: Workspace, recipe: Recipe, state: State) -> Figures:
    """Sample the round's tasks into data/rollouts/round-NNN.jsonl; what an interrupted sampling left is gone on with."""
    from clawctl.engines import open_engine
    from clawctl.generation.prompts import SYSTEM
    from clawctl.generation.resume import Part, Settings
    from clawctl.generation.stage import generate as sampled
    from clawctl.generation.tally import Tally

    by_id = {task["id"]: task for task in questions(recipe.tasks)}
    tasks = [by_id[name] for name in state.tasks if name in by_id]
    path, tally = rollouts(ws, state.round), Tally()
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        closing(open_engine(recipe.model, versions.resolve(ws, state.adapter or versions.NONE), cache=ws.models)) as engine,
        Part(path, Settings(engine.policy, recipe.sampling, recipe.seed, state.round, SYSTEM)) as out,
    ):
        drawn = sampled(tasks, engine, recipe.sampling, samples=recipe.samples, seed=recipe.seed, round_=state.round, owed=out.owed)
        out.write_all(counted(tally.count(drawn), len(tasks) * recipe.samples - out.rows, title(state.round)))
    said = f"{len(tasks)} tasks x {recipe.samples} answers by {state.adapter or 'the base model'}"
    return {"tasks": len(tasks), "samples": recipe.samples, "rows": tally.rows, "tokens": tally.tokens, "said": said}


def judge(ws: Workspace, _recipe: Recipe, state: State) -> Figures:
    """data/rollouts/round-NNN.jsonl -> round-NNN.scored.jsonl, whole or absent."""
    from clawctl.judges import open_judges
    from clawctl.judges.stage import judge as judged
    from clawctl.judges.tally import Tally

    tally = Tally()
    with Writer(rollouts(ws, state.round, ".scored")) as out:
        out.write_all(tally.count(judged(Reader([rollouts(ws, state.round)], "rollout"), open_judges(["verify"]))))
    mean = tally.total / tally.rewarded if tally.rewarded else None
    return {"rows": tally.rows, "rewarded": tally.rewarded, "passed": tally.passes, "mean_reward": mean, "said": tally.line(0)}


def buffer(ws: Workspace, recipe: Recipe, state: State) -> Figures:
    """Put the scored rollouts into the buffer and take what can teach as a batch; a batch that waits from before comes first."""
    from clawctl.buffering import batches
    from clawctl.buffering.adding import add
    from clawctl.buffering.lineage import Lineage
    from clawctl.buffering.rules import Rules
    from clawctl.buffering.store import open_store
    from clawctl.buffering.taking import take

    rules = Rules(recipe.groups, recipe.samples, dynamic=True)
    with open_store(ws) as store:
        added = add(store, Reader([rollouts(ws, state.round, ".scored")], "rollout"), rules, Lineage(ws))
        waiting = batches.next_untrained(ws)
        taken = None if waiting else take(ws, store, rules, partial=True)
    path = waiting or (taken.path if taken else None)
    state.batch = batches.batch_id(path) if path else None
    groups = taken.groups if taken else None
    said = (
        f"{groups} of {len(state.tasks)} groups differ in reward"
        if taken
        else f"{state.batch} waited"
        if waiting
        else "no group differs in reward"
    )
    return {"added": dict(added), "batch": state.batch, "groups": groups, "said": said}


def train(ws: Workspace, recipe: Recipe, state: State) -> Figures:
    """Train the round's adapter on its batch, or a first one on worked answers. A batch that teaches nothing is passed over."""
    from clawctl.buffering import batches
    from clawctl.training.stage import train as trained

    if state.round != WARMUP and state.batch is None:
        return {"said": "nothing to train on"}
    if state.round == WARMUP and (made := line.head(ws, base_sha256(recipe.model.file, ws.models))):
        state.candidate = made.name  # the loop was killed between the adapter and the note of it
        return {"candidate": made.name}
    try:
        outcome = trained(ws, order(ws, recipe, state))
    except No as no:
        if state.batch:
            batches.pass_over(ws, state.batch, str(no))
        return {"said": f"nothing learnt: {no}"}
    state.candidate = outcome.ref.name
    last = outcome.metrics[-1] if outcome.metrics else {}
    figures = {key: last.get(key) for key in ("steps", "rows", "loss", "grad_norm", "sampler_kl")}
    said = f"{state.candidate} from {state.adapter or 'the base model'}, {len(outcome.metrics)} steps"
    if state.round == WARMUP and last:  # the loss of reinforcement learning is near 0 by its making, and says nothing
        said += f", loss {last['loss']:.3f}"
    return {"candidate": state.candidate, "parent": state.adapter, "batch": state.batch, **figures, "laps": outcome.seconds, "said": said}


def order(ws: Workspace, recipe: Recipe, state: State) -> Order:
    """What is asked of training in this round."""
    from clawctl.buffering import batches
    from clawctl.training.inputs import Inputs
    from clawctl.training.lora_config import adapter_config
    from clawctl.training.recipe import make
    from clawctl.training.stage import Order

    stopped = any((ws.data / "training").glob("*/step-*"))  # a checkpoint, of whatever training: it is looked at more closely there
    if state.batch is None:
        if recipe.warmup is None:
            raise Usage("the warm-up was interrupted, and its worked answers are gone", "--warmup FILE names them")
        how = make("sft", {}, seed=recipe.seed, lora=adapter_config(None, recipe.rank, None, None), **recipe.warming)
        return Order(Inputs([recipe.warmup], []), how, recipe.model, None, resume=stopped)
    start = versions.resolve(ws, state.adapter or versions.NONE)
    path = batches.path_of(ws, state.batch)
    how = make(
        recipe.algorithm,
        recipe.settings,
        seed=recipe.seed,
        lora=adapter_config(start, None if start else recipe.rank, None, None),
        **recipe.training,
    )
    strange = any((row.get("policy") or {}).get("adapter_sha256") != (start and start.sha256) for row in Reader([path], "rollout"))
    return Order(Inputs([path], [state.batch]), how, recipe.model, start, off_policy=strange, resume=stopped)


def promote(ws: Workspace, recipe: Recipe, state: State) -> Figures:
    """Let the gate decide on the round's candidate."""
    if state.candidate is None:
        return {"decision": None}
    ref = promotion.candidate(ws, state.candidate, base_sha256(recipe.model.file, ws.models))
    word = history.last_word(history.ledger(ws), ref.name, ref.sha256)
    if word and word["kind"] != history.PROMOTION:  # a promotion may have been cut short before the link; standing again tells
        decision, said = str(word["kind"]), f"{ref.name}: {word['kind']} already, {word.get('reason')}"
    else:
        outcome = promotion.stand(ws, ref, rates_by(recipe.exam, ws), recipe.gate)
        decision, said = outcome.decision, outcome.sentence()
    figures = summary(answers(recipe.exam, ref, ws), seed=recipe.gate.seed)
    return {"candidate": ref.name, "decision": decision, **{key: figures[key] for key in GATED}, "said": said}


TABLE: dict[str, Stage] = {"plan": plan, "generate": generate, "judge": judge, "buffer": buffer, "train": train, "promote": promote}
