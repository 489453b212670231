"""Who is put in service, who is not, and what is written down about it."""

from __future__ import annotations

import pytest

from clawctl.adapters import history, promotion, serving, versions
from clawctl.adapters.promotion import Gate
from clawctl.errors import Busy, ClawctlError, No, Usage
from clawctl.workspace.atomic import replace_symlink
from clawctl.workspace.ledger import Ledger

BASE = "b" * 64


def exam(**passed: int):
    """Rates on 60 tasks of which a version (or "base") passes so many."""
    return lambda ref: {f"t{i}": float(i < passed[ref.name if ref else "base"]) for i in range(60)}


def entries(ws):
    return list(history.ledger(ws))


def current(ws):
    ref = versions.resolve(ws, "current")
    return ref.name if ref else None


def test_a_better_candidate_is_served_and_written_down(ws, make_version):
    outcome = promotion.stand(ws, make_version("v001"), exam(base=0, v001=30), Gate())
    assert (outcome.decision, current(ws)) == ("promoted", "v001")
    [entry] = entries(ws)
    assert (entry["kind"], entry["version"], entry["previous"], entry["gain"], entry["tasks"]) == ("promotion", "v001", None, 0.5, 60)
    [event] = Ledger(ws.events)
    assert event["topic"] == "model.updates"
    assert event["data"]["version"] == "v001"
    assert event["data"]["adapter_sha256"] == versions.resolve(ws, "v001").sha256


def test_a_refused_candidate_leaves_current_alone(ws, make_version):
    promotion.stand(ws, make_version("v001"), exam(base=0, v001=30), Gate())
    outcome = promotion.stand(ws, make_version("v002"), exam(v001=30, v002=31), Gate())
    assert (outcome.decision, current(ws)) == ("refused", "v001")
    assert [e["kind"] for e in entries(ws)] == ["promotion", "refusal"]
    assert entries(ws)[1]["verdict"] == "unproven"
    assert len(list(Ledger(ws.events))) == 1


def test_a_dry_run_decides_and_writes_nothing(ws, make_version):
    outcome = promotion.stand(ws, make_version("v001"), exam(base=0, v001=30), Gate(), write=False)
    assert outcome.decision == "promoted"
    assert current(ws) is None
    assert entries(ws) == []


def test_what_is_in_service_already_is_not_measured_again(ws, make_version):
    ref = make_version("v001")
    promotion.force(ws, ref)
    outcome = promotion.stand(ws, ref, lambda _: pytest.fail("measured"), Gate())
    assert outcome.decision == "in service already"
    assert len(entries(ws)) == 1


def test_force_serves_without_measuring(ws, make_version):
    assert promotion.force(ws, make_version("v001")).decision == "promoted"
    assert current(ws) == "v001"
    assert entries(ws)[0]["reason"] == "forced"


def test_rollback_goes_back_step_by_step_to_the_base_model(ws, make_version):
    for name in ("v001", "v002", "v003"):
        promotion.force(ws, make_version(name))
    seen = []
    for _ in range(3):
        serving.rollback(ws)
        seen.append(current(ws))
    assert seen == ["v002", "v001", None]
    assert not ws.current.is_symlink()
    with pytest.raises(No, match="nothing to roll back"):
        serving.rollback(ws)


def test_rollback_after_a_rollback_and_a_promotion(ws, make_version):
    for name in ("v001", "v002"):
        promotion.force(ws, make_version(name))
    serving.rollback(ws)
    promotion.force(ws, make_version("v003"))
    assert serving.rollback(ws)["version"] == "v001"
    assert serving.rollback(ws)["version"] is None


def test_rollback_passes_over_a_version_that_is_gone(ws, make_version):
    for name in ("v001", "v002", "v003"):
        promotion.force(ws, make_version(name))
    (ws.adapters / "v002" / "card.json").unlink()
    serving.rollback(ws)
    assert current(ws) == "v001"


def test_rollback_works_from_a_current_that_is_broken(ws, make_version):
    for name in ("v001", "v002"):
        promotion.force(ws, make_version(name))
    (ws.adapters / "v002" / "card.json").unlink()
    serving.rollback(ws)
    assert current(ws) == "v001"


def test_a_version_that_was_rolled_back_is_not_taken_up_again_unless_named(ws, make_version):
    promotion.force(ws, make_version("v001"))
    serving.rollback(ws)
    with pytest.raises(No, match="rolled back") as no:
        promotion.candidate(ws, "latest", BASE)
    assert "clawctl promote v001" in no.value.hint
    assert promotion.candidate(ws, "v001", BASE).name == "v001"
    make_version("v002")
    assert promotion.candidate(ws, "latest", BASE).name == "v002"


def test_who_may_not_stand(ws, make_version, tmp_path_factory):
    with pytest.raises(No, match="no candidate"):
        promotion.candidate(ws, "latest", BASE)
    make_version("v001", base="c" * 64)
    with pytest.raises(ClawctlError, match="another base model"):
        promotion.candidate(ws, "v001", BASE)
    make_version("v002", card=False)
    with pytest.raises(ClawctlError, match="not complete"):
        promotion.candidate(ws, "v002", BASE)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "v001"
    (ws.adapters / "v001").rename(elsewhere)
    with pytest.raises(Usage, match="is not in"):
        promotion.candidate(ws, str(elsewhere), BASE)


def test_a_current_that_moved_during_the_measuring_is_not_overwritten(ws, make_version):
    promotion.force(ws, make_version("v001"))
    make_version("v003")
    ref = make_version("v002")

    def rates(of):
        if of.name == "v001":
            replace_symlink(ws.current, "v003")
        return exam(v001=0, v002=50)(of)

    with pytest.raises(Busy, match="moved from v001 to v003"):
        promotion.stand(ws, ref, rates, Gate())
    assert current(ws) == "v003"


def test_a_link_moved_by_hand_is_taken_into_the_history(ws, make_version):
    promotion.force(ws, make_version("v001"))
    make_version("v002")
    replace_symlink(ws.current, "v002")
    promotion.force(ws, make_version("v003"))
    assert [(e["kind"], e["version"]) for e in entries(ws)] == [("promotion", "v001"), ("found", "v002"), ("promotion", "v003")]
    assert serving.rollback(ws)["version"] == "v002"


def test_confidence_is_a_probability():
    with pytest.raises(Usage):
        Gate(confidence=90)
