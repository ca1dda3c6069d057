"""A strategy of one's own, in a study and on the bench beside others."""

import mcbo
import numpy as np


class Annealing:
    """Steps from the best so far, smaller and smaller."""

    name = "annealing"

    def suggest(self, context: mcbo.Context) -> dict[str, float]:
        """A normal step from the best trial."""
        ranges = np.array([action.range for action in context.problem.actions.values()])
        low, high = ranges[:, 0], ranges[:, 1]
        if len(context.data) == 0:
            point = context.rng.uniform(low, high)
        else:
            best = context.data.actions[int(np.nanargmax(context.data.rewards))]
            size = 0.5 / np.sqrt(len(context.data))
            point = np.clip(best + size * (high - low) * context.rng.standard_normal(len(best)), low, high)
        return dict(zip(context.problem.actions, point.tolist(), strict=True))


def main() -> None:
    """Compares it with MCBO and random search."""
    runs = mcbo.bench.sweep(["dropwave"], ["mcbo", "random", Annealing()], seeds=range(2), rounds=10)
    for run in runs:
        print(f"{run.method:10} seed {run.seed}: average {run.average_reward:.3f}, best {run.best_reward:.3f}")


if __name__ == "__main__":
    main()
