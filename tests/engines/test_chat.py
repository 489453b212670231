"""Chat templates: the model's own, and the plain one of base models."""

from __future__ import annotations

import pytest

from clawctl.engines.chat import ChatTemplate, TemplateFailed

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "4"},
    {"role": "user", "content": "{{ 3+3 }}?"},
]


def test_the_models_template_is_rendered_with_its_tokens():
    source = (
        "{{ bos_token }}{% for m in messages %}\n    [{{ m['role'] }}] {{ m['content'] | trim }}{{ eos_token }}\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    assert ChatTemplate(source, "<s>", "</s>").render(CHAT[:2]) == "<s>    [system] Be brief.</s>\n    [user] 2+2?</s>\n[assistant]"


def test_templates_may_use_what_transformers_gives_them():
    source = (
        "{% for m in messages %}{% if loop.index0 == 1 %}{% break %}{% endif %}{{ m | tojson }}{% endfor %}"
        "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}{% generation %}x{% endgeneration %}"
    )
    assert ChatTemplate(source.replace("{% generation %}x{% endgeneration %}", "")).render(
        [{"role": "user", "content": 'ä "<b>'}, {"role": "user", "content": "no"}]
    ) == ('{"role": "user", "content": "ä \\"<b>"}')


def test_a_base_model_gets_a_plain_shape_and_its_stop_string():
    template = ChatTemplate(None)
    assert template.render(CHAT) == "Be brief.\n\nTask: 2+2?\nSolution:\n4\n\nTask: {{ 3+3 }}?\nSolution:\n"
    assert template.stop == ("\nTask:",)
    assert ChatTemplate("{{ messages }}").stop == ()


def test_the_hash_tells_templates_apart():
    assert len({ChatTemplate(None).sha256, ChatTemplate("a").sha256, ChatTemplate("b").sha256}) == 3
    assert ChatTemplate("a", "<s>").sha256 == ChatTemplate("a").sha256


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{% if %}",
        "{{ messages[9].content }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
    ],
)
def test_a_template_that_refuses_or_misbehaves_is_one_error(source):
    with pytest.raises(TemplateFailed):
        ChatTemplate(source).render(CHAT)
