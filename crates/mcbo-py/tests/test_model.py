from __future__ import annotations

import mcbo
import numpy as np
import pytest


def test_predict_goes_through_the_data(told: mcbo.Study) -> None:
    model = told.model
    assert model is told.model
    mean, deviation = model.predict("moisture", told.data.actions)
    assert mean == pytest.approx(told.data.values[:, 0], abs=1e-3)
    assert (deviation >= 0).all()
    assert model.predict("moisture", told.data.actions[:, 0])[0] == pytest.approx(mean)
    assert model.inputs("growth") == ["moisture"]
    assert model.nodes["growth"].rows == len(told.data)
    told.optimize(lambda trial: told.problem.simulate(trial), n_trials=1)
    assert model is not told.model


def test_nodes_say_what_they_foretell(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, seed=1)
    study.add_trials(
        [{"water": 1.0, "moisture": 0.35, "growth": 0.94}, {"water": 5.0, "moisture": 0.55, "growth": 0.99}]
    )
    assert [node.explained for node in study.model.nodes.values()] == [None, None]
    study.add_trials([{"water": float(water), "moisture": 0.3 + 0.05 * water} for water in range(6, 10)])
    node = study.model.nodes["moisture"]
    assert node.explained is not None
    assert 0.9 < node.explained <= 1.0
    assert node.form


def test_what_does_not_fit_is_said(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, seed=1)
    study.add_trials([{"water": water / 2, "moisture": 0.3 + 0.025 * water} for water in range(20)])
    assert not any("far outside" in warning for warning in (*study.model.warnings, *study.best().warnings))
    study.add_trials([{"water": 5.2, "moisture": 56.0}])
    for warnings in (study.model.warnings, study.best().warnings, study.ask().warnings):
        assert any("in trial 21 is far outside all its other values" in warning for warning in warnings)


def test_samples_agree_with_forecasts(told: mcbo.Study) -> None:
    best = told.best()
    forecast = told.model.forecast(best)["growth"]
    assert isinstance(forecast, mcbo.Forecast)
    draws = told.model.expected_reward(best, n=200)
    assert draws.shape == (200,)
    assert draws.mean() == pytest.approx(forecast.mean, abs=0.02)
    sample = told.model.sample({"water": 6.0}, n=500, seed=3)
    assert sample["moisture"].shape == (500,)
    assert sample["growth"].mean() == pytest.approx(1.0, abs=0.05)
    again = told.model.sample({"water": 6.0}, n=500, seed=3)
    assert np.array_equal(sample["growth"], again["growth"])


def test_noise_and_targets(clinic: mcbo.Problem) -> None:
    study = mcbo.create_study(clinic, strategy="random", seed=1)
    study.optimize(clinic.simulate, n_trials=30)
    model = study.model
    calm, noisy = (model.sample({"aspirin": 0.2}, n=2000, noise=noise) for noise in (False, True))
    assert np.ptp(calm["aspirin"]) == 0.0
    assert noisy["age"].std() > calm["age"].std()


def test_vectors(vector: mcbo.Problem) -> None:
    study = mcbo.create_study(vector, seed=1)
    study.optimize(vector.simulate, n_trials=8)
    name = next(node.name for node in vector.nodes.values() if node.dim > 1)
    width = len(study.model.inputs(name))
    mean, deviation = study.model.predict(name, np.full((3, width), 0.5))
    assert mean.shape == deviation.shape == (3, vector.nodes[name].dim)
    assert study.model.sample(n=5)[name].shape == (5, vector.nodes[name].dim)


def test_mistakes(told: mcbo.Study) -> None:
    model = told.model
    for call in (
        lambda: model.predict("growht", [[1.0]]),
        lambda: model.predict("growth", [[1.0, 2.0]]),
        lambda: model.predict("growth", [[float("nan")]]),
        lambda: model.predict("growth", "abc"),
        lambda: model.sample({"water": 99.0}),
        lambda: model.sample(n=0),
        lambda: model.expected_reward({"fire": 1.0}),
    ):
        with pytest.raises(mcbo.DataError):
            call()


def test_without_data_the_model_is_the_prior(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse)
    mean, deviation = study.model.predict("growth", [[0.1], [0.9]])
    assert np.isfinite(mean).all()
    assert (deviation > 0).all()


def test_samples_count_the_mean_of_the_noise_once() -> None:
    problem = mcbo.Problem.from_dict(
        {
            "maximize": "y",
            "actions": {"a": {"range": [0, 1]}},
            "nodes": {
                "x": {"actions": ["a"], "noise": {"uniform": [2, 4]}},
                "y": {"parents": ["x"], "noise": "none"},
            },
        }
    )
    study = mcbo.create_study(problem, seed=1)
    rng = np.random.default_rng(0)
    for a in rng.uniform(size=60):
        x = a + rng.uniform(2, 4)
        study.add_trials([{"a": a, "x": x, "y": x}])
    drawn = study.model.sample({"a": 0.5}, n=2000, seed=0)
    assert drawn["x"].mean() == pytest.approx(3.5, abs=0.25)
    assert drawn["x"].std() == pytest.approx(2 / 12**0.5, abs=0.15)


def test_predictions_are_those_of_best(told: mcbo.Study) -> None:
    best = told.best()
    predicted = told.predict(best)
    for node, forecast in best.predicted.items():
        found = predicted[node]
        assert isinstance(found, mcbo.Prediction)
        assert isinstance(forecast, mcbo.Forecast)
        assert found[:3] == tuple(forecast)
        assert found.outcome[0] <= found.mean <= found.outcome[1]
    neutral = told.predict()
    assert neutral == told.predict({}) == told.predict({"water": 0.0})
    assert neutral != predicted


def test_many_predictions_are_each_by_itself(told: mcbo.Study) -> None:
    pd = pytest.importorskip("pandas")
    waters = [0.0, 2.5, 7.0]
    alone = [told.predict({"water": water}) for water in waters]
    assert told.predict([{"water": water} for water in waters]) == alone
    assert told.predict(tuple(mcbo.Intervention({"water": water}) for water in waters)) == alone
    assert told.predict(pd.DataFrame({"water": waters})) == alone
    assert told.predict(pd.DataFrame({"water": [float("nan")]}), missing="neutral") == [told.predict()]
    assert told.predict([]) == []
    # What was done in the trials, whatever else their table says.
    table = told.trials_dataframe()
    assert told.predict(table) == [told.predict(trial) for trial in told.trials]
    with pytest.raises(mcbo.DataError, match="nothing to choose is called 'light'.*hint"):
        told.predict(pd.DataFrame({"light": [1.0]}))
    with pytest.raises(mcbo.DataError, match="no numbers"):
        told.predict(pd.DataFrame({"water": ["much"]}))


def test_single_outcomes_agree_with_samples(clinic: mcbo.Problem) -> None:
    study = mcbo.create_study(clinic, strategy="random", seed=1)
    study.optimize(clinic.simulate, n_trials=30)
    intervention = {"do(statin)": 0.5}
    predicted = study.predict(intervention)
    assert predicted["statin"] == (0.5, 0.5, 0.5, (0.5, 0.5))
    sample = study.model.sample(intervention, n=20_000, seed=3)
    for node, draws in sample.items():
        found = predicted[node]
        assert isinstance(found, mcbo.Prediction)
        below = [float((draws <= end).mean()) for end in found.outcome]
        if node != "statin":
            assert below == pytest.approx([0.05, 0.95], abs=0.01), node


def test_what_cannot_be_predicted(told: mcbo.Study, greenhouse: mcbo.Problem) -> None:
    with pytest.raises(mcbo.DataError, match="no trial has been measured yet.*hint"):
        mcbo.create_study(greenhouse).predict({"water": 1.0})
    with pytest.raises(mcbo.DataError, match='no node "light".*hint'):
        told.predict({"light": 1.0})
    with pytest.raises(mcbo.DataError, match="water is 99, outside its range"):
        told.predict([{"water": 1.0}, {"water": 99.0}])
    with pytest.raises(mcbo.DataError, match="water is NaN"):
        told.predict({"water": float("nan")})
    with pytest.raises(mcbo.DataError, match="moisture cannot be set"):
        told.predict({"do(moisture)": 1.0})
    with pytest.raises(mcbo.DataError, match="is no intervention"):
        told.predict(3.0)  # type: ignore[call-overload]
