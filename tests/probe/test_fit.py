"""A device that behaves as one of the choices is recognised, and the profile runs the model so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lanesort.cli.fit import fit as command
from lanesort.errors import ArgumentValueError, FileError
from lanesort.evidence import Choices
from lanesort.neuron.core import NeuronCore
from lanesort.probe.fit import fit, fit_file, read_profile, write_profile
from lanesort.probe.probe import PROBES, probe


@pytest.mark.parametrize("id", PROBES)
def test_each_choice_is_found_again(id):
    for outcome in probe(id).outcomes:
        (found,) = fit({id: outcome.result})
        assert outcome.choice in [agreeing.choice for agreeing in found.consistent]
        if outcome.on_offer:
            assert found.choice == outcome.choice


def test_the_shape_and_dtype_of_a_result_do_not_matter():
    result = probe("sort.tie-order").outcomes[1].result
    (found,) = fit({"sort.tie-order": result.view(np.uint8).reshape(-1)})
    assert found.choice == "high"


def test_a_result_that_no_choice_gives_is_said_to_be_so():
    (found,) = fit({"sort.tie-order": np.zeros(4, np.uint32)})
    assert (found.consistent, found.choice) == ((), None)
    assert "something else" in str(found)


def test_an_outcome_that_is_no_choice_explains_but_decides_nothing():
    absent = probe("sort.sunda").outcomes[-1]
    (found,) = fit({"sort.sunda": absent.result})
    assert found.choice is None
    assert str(found) == "sort.sunda: absent (not a choice)"


def test_a_profile_is_what_choices_takes(tmp_path):
    last = {id: [o for o in probe(id).outcomes if o.on_offer][-1] for id in PROBES}
    np.savez(tmp_path / "results.npz", **{id: outcome.result for id, outcome in last.items()})
    profile = write_profile(fit_file(tmp_path / "results.npz"), tmp_path / "profile.json")
    for family in ("neuron", "pto"):
        choices = read_profile(tmp_path / "profile.json", family)
        assert choices == profile[family]
        made = Choices(family, choices)
        assert all(made[id] == last[id].choice for id in choices)
    core = NeuronCore(choices=read_profile(tmp_path / "profile.json", "neuron"), engine="reference")
    assert core.choices["nonzero.nan"] == "bits"


def test_the_command_says_what_agrees(capsys, tmp_path):
    good, profile = tmp_path / "good.npz", tmp_path / "profile.json"
    np.savez(good, **{"sort.zero-order": probe("sort.zero-order").outcomes[1].result})
    assert command(good, output=profile) == 0
    assert capsys.readouterr().out == "sort.zero-order: signed\n"
    assert json.loads(profile.read_text()) == {"neuron": {"sort.zero-order": "signed"}, "pto": {}}
    assert command(good, json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"sort.zero-order": ["signed"]}
    bad = tmp_path / "bad.npz"
    np.savez(bad, **{"sort.zero-order": np.zeros(4, np.uint32)})
    assert command(bad) == 1


def test_unfit_files_are_named(tmp_path):
    with pytest.raises(ArgumentValueError, match=r"4 bytes .* the probe gives 16"):
        fit({"sort.tie-order": np.zeros(1, np.uint32)})
    path = tmp_path / "results.npz"
    for content in (b"", b"PK\x03\x04 broken", b"text"):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"no \.npz file"):
            fit_file(path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(FileError, match=r"one\.npy: no \.npz file"):
        fit_file(tmp_path / "one.npy")
    np.savez(path, **{"sort.tie-order": np.zeros(1 << 21, np.uint8)})
    with pytest.raises(FileError, match="are less than 1048576"):
        fit_file(path)
    with pytest.raises(FileError, match="no such file"):
        fit_file(tmp_path / "missing.npz")


@pytest.mark.parametrize("content", ["", "[]", '{"neuron": 3}', '{"neuron": {"a": 1}}', "\x00"])
def test_unfit_profiles_are_named(tmp_path, content):
    path = tmp_path / "profile.json"
    path.write_text(content)
    with pytest.raises(FileError, match=r"profile\.json"):
        read_profile(path, "neuron")
    with pytest.raises(ArgumentValueError, match="accepted are 'neuron', 'pto'"):
        read_profile(path, "mlu")
