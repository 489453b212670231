"""The policy against transformers' and PEFT's own way of computing the same: log-probabilities and gradients."""

import pytest

from tests.training.tiny_models import rollouts, write_tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from clawctl.training import base, lora, lora_config  # noqa: E402
from clawctl.training.device import Placement  # noqa: E402
from clawctl.training.packing import Row, pack  # noqa: E402
from clawctl.training.policy import Policy  # noqa: E402
from clawctl.workspace.models import Model  # noqa: E402

ARCHITECTURES = ["llama", "qwen2", "qwen3", "gemma3"]


def rows_of(found):
    return [Row(r["prompt_token_ids"], r["completion_token_ids"], [1] * len(r["completion_token_ids"]), i) for i, r in enumerate(found)]


def plain_logprobs(model, row, temperature):
    """One row alone through transformers' own attention, with dense logits."""
    logits = model(torch.tensor([row.prompt + row.completion])).logits[0, len(row.prompt) - 1 : -1] / temperature
    return logits.log_softmax(-1).gather(1, torch.tensor(row.completion)[:, None]).squeeze(1)


def gradients(policy):
    found = torch.cat([p.grad.flatten().double() for p in policy.parameters])
    for p in policy.parameters:
        p.grad = None
    return found


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_packed_is_unpacked(architecture, tmp_path):
    found = base.prepare(Model("tiny", "llama", write_tiny(tmp_path / "m.gguf", architecture)), tmp_path / "cache")
    policy = Policy(found, lora_config.LoRAConfig(rank=4, alpha=8.0), Placement(torch.device("cpu"), torch.float32, ""))
    lora.initialise(policy.adapters, 0)
    for adapter in policy.adapters.values():
        adapter.lora_B.data.normal_(0, 0.1)
    # Longer than gemma's window of 32, so that what is hidden in sliding layers is tested too.
    rows = rows_of(rollouts(3, 4, shared=40))
    weights = [torch.randn(len(row.completion)) for row in rows]
    packed = {}
    for made in pack(rows, 150):
        lp = policy.logprobs(policy.hidden(made), made.targets, torch.full((len(made.targets),), 0.7))
        sum((weights[r.index] * lp[a:b]).sum() for r, (a, b) in zip(made.members, made.spans, strict=True)).backward()
        packed |= {r.index: lp[a:b].detach() for r, (a, b) in zip(made.members, made.spans, strict=True)}
    ours = gradients(policy)
    policy.model.config._attn_implementation = "eager"
    for row in rows:
        lp = plain_logprobs(policy.model, row, 0.7)
        torch.testing.assert_close(packed[row.index], lp.detach(), atol=2e-4, rtol=1e-4)
        (weights[row.index] * lp).sum().backward()
    theirs = gradients(policy)
    assert float(torch.dot(ours, theirs) / ours.norm() / theirs.norm()) >= 0.9999
    assert float((ours - theirs).norm() / theirs.norm()) < 1e-4


@pytest.mark.parametrize("layers", [None, 1])
def test_peft_reads_the_adapter_and_says_the_same(tiny_base, tmp_path, layers):
    peft = pytest.importorskip("peft")
    from safetensors.torch import save_file

    config = lora_config.LoRAConfig(rank=4, alpha=8.0, layers=layers)
    policy = Policy(tiny_base, config, Placement(torch.device("cpu"), torch.float32, ""))
    lora.initialise(policy.adapters, 0)
    for adapter in policy.adapters.values():
        adapter.lora_B.data.normal_(0, 0.1)
    assert len(policy.adapters) == 7 * (layers or 2)
    save_file(policy.state(), tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(lora_config.to_json(config, "tiny", 2))
    theirs = peft.PeftModel.from_pretrained(base.load(policy.base), tmp_path)
    tokens = [1, *range(40, 70)]
    with torch.no_grad():
        torch.testing.assert_close(policy.logits(tokens), theirs(torch.tensor([tokens])).logits[0], atol=1e-4, rtol=1e-4)
    found = lora_config.read(tmp_path)
    assert (set(found.targets), found.layers) == (set(config.targets), layers)


def test_without_adapter_is_the_base(policy):
    tokens = [1, *range(40, 60)]
    plain = base.load(policy.base)
    with torch.no_grad():
        expected = plain(torch.tensor([tokens])).logits[0]
    with policy.without_adapter():
        torch.testing.assert_close(policy.logits(tokens), expected, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(policy.logits(tokens), expected, atol=1e-2)


def test_in_bfloat16_the_gradient_points_the_same_way(policy, tiny_base):
    coarse = Policy(tiny_base, policy.config, Placement(torch.device("cpu"), torch.bfloat16, ""))
    coarse.set_state(policy.state(), "a test")
    rows = rows_of(rollouts(2, 3))
    both = []
    for each in (policy, coarse):
        for made in pack(rows, 1000):
            each.logprobs(each.hidden(made), made.targets, torch.ones(len(made.targets))).sum().backward()
        assert all(p.grad.dtype == torch.float32 for p in each.parameters)
        both.append(gradients(each))
    assert float(torch.dot(*both) / both[0].norm() / both[1].norm()) > 0.99
