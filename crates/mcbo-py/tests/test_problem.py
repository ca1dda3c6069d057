from __future__ import annotations

import pickle
from pathlib import Path

import mcbo
import networkx as nx
import pytest
from conftest import GREENHOUSE, ROOT


def test_four_ways_to_one_problem(tmp_path: Path) -> None:
    text = mcbo.Problem.from_toml(GREENHOUSE)
    (tmp_path / "p.toml").write_text(GREENHOUSE)
    shape = {
        "name": "greenhouse",
        "maximize": "growth",
        "nodes": {
            "moisture": {"actions": ["water"], "noise": "none"},
            "growth": {"parents": ["moisture"], "noise": "none"},
        },
        "actions": {"water": {"range": [0.0, 10.0]}},
        "simulator": {"moisture": "0.3 + 0.05 * water", "growth": "1 - (moisture - 0.6)^2"},
    }
    graph = nx.DiGraph([("moisture", "growth")])
    nx.set_node_attributes(graph, "none", "noise")
    graph.nodes["moisture"]["actions"] = ["water"]
    graph.nodes["moisture"]["colour"] = "blue"
    in_code = mcbo.Problem(graph=graph, actions={"water": (0, 10)}, maximize="growth", name="greenhouse")
    for other in (mcbo.Problem.from_file(tmp_path / "p.toml"), mcbo.Problem.from_dict(shape), in_code):
        assert other == text
        assert mcbo.Problem.from_toml(other.to_toml()) == other
        assert pickle.loads(pickle.dumps(other)) == other
    assert sorted(text.to_networkx().edges) == [("moisture", "growth")]


@pytest.mark.parametrize("name", ["clinic", "mixed", "network", "nitrogen", "vector"])
def test_examples_are_read(name: str) -> None:
    problem = mcbo.Problem.from_file(ROOT / "examples" / f"{name}.toml")
    assert problem.reward in problem.nodes
    again = mcbo.Problem.from_dict(problem.to_dict())
    assert again == problem
    assert again.to_dict() == problem.to_dict()
    assert again.simulate(seed=3) == problem.simulate(seed=3)
    assert len(problem.slots) == sum(node.dim for node in problem.nodes.values())
    assert problem.intervention() == problem.intervention(problem.intervention())
    assert problem._repr_html_().count("<table>") >= 1


def test_all_mistakes_are_named_with_their_line() -> None:
    with pytest.raises(mcbo.ProblemError) as caught:
        mcbo.Problem.from_toml("maximize = 'yeild'\n[nodes.yield]\nactions = ['b']\n[actions.a]\nrange = [0, 1]\n")
    message = str(caught.value)
    assert "problem:1:13" in message
    assert "did you mean `yield`?" in message
    assert "problem:3:" in message
    assert isinstance(caught.value, ValueError)
    with pytest.raises(mcbo.ProblemError, match="nothing.toml cannot be read"):
        mcbo.Problem.from_file("nothing.toml")


def test_interventions_are_read_in_many_ways(clinic: mcbo.Problem, greenhouse: mcbo.Problem) -> None:
    wanted = mcbo.Intervention(actions={}, values={"aspirin": 0.5, "statin": 1.0})
    for given in (
        {"aspirin": 0.5, "statin": 1},
        {"do(aspirin)": 0.5, "do(statin)": 1.0},
        {"values": {"statin": 1.0, "aspirin": 0.5}},
        wanted,
    ):
        assert clinic.intervention(given) == wanted
    assert greenhouse.intervention({"actions": {"water": 2}}).actions == {"water": 2.0}
    with pytest.raises(mcbo.DataError, match="cannot be set"):
        greenhouse.intervention({"growth": 1.0})
    with pytest.raises(mcbo.DataError, match="outside its range"):
        greenhouse.intervention({"water": 11.0})


def test_components(vector: mcbo.Problem) -> None:
    node = next(node for node in vector.nodes.values() if node.dim > 1)
    assert f"{node.name}[0]" in vector.slots
    answer = vector.simulate(seed=1)[node.name]
    assert isinstance(answer, list)
    assert len(answer) == node.dim
