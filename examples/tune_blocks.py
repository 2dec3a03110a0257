"""Finding the blocks of a matrix product with optuna: each batch of its suggestions is a small sweep.

`python -m tensim.examples.tune_blocks 512x512x512` prints the best blocks and what they save against those that
`matmul_multicast` chooses by itself.  `pip install tensim[tables] optuna`.
"""

import argparse

import optuna

import tensim as tt

PROGRAM = "matmul_multicast"
SPACE = {  # sizes in tiles (`matmul_multicast.run`)
    "in0_block_w": (1, 2, 4, 8),
    "per_core_m": (2, 4),
    "per_core_n": (2, 4),
    "out_subblock_h": (1, 2),
    "out_subblock_w": (1, 2),
}


def tune(shape, trials=24, batch=8, seed=0, **options):
    """The `optuna.Study` of the cycles of a product.  `options`: of `tensim.sweep`, for example its `executor` or `folder`.

    Suggestions that cannot run, because blocks do not divide the product or do not fit L1, are trials that failed.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=seed))
    space = {name: optuna.distributions.CategoricalDistribution(sizes) for name, sizes in SPACE.items()}
    while len(study.trials) < trials:
        asked = [study.ask(space) for _ in range(min(batch, trials - len(study.trials)))]
        rows = tt.sweep(PROGRAM, [trial.params for trial in asked], shape=shape, numerics="off", **options)
        for trial, cycles, error in zip(asked, rows["cycles"], rows["error"], strict=True):
            if error:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, float(cycles))
    return study


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", nargs="?", default="512x512x512", help="MxKxN, default %(default)s")
    parser.add_argument("--trials", type=int, default=24, help="default %(default)s")
    given = parser.parse_args()
    study = tune(given.shape, given.trials)
    chosen = tt.run(PROGRAM, shape=given.shape, numerics="off").cycles
    best = study.best_trial
    print(", ".join(f"{name} {size}" for name, size in best.params.items()))
    print(f"{best.value:,.0f} cycles in trial {best.number}; {chosen:,} with blocks by rule")


if __name__ == "__main__":
    main()
