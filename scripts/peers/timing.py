"""How the programs of the other side are timed: as `clgrad bench` times ours."""
import json
import statistics
import time

SIZES = [(512, 64, 64), (65536, 64, 64), (262144, 64, 64)] + [(s, s, s) for s in (512, 1024, 2048, 4096)]
BUDGET = 1.0  # seconds for each measurement; what takes longer still runs three times
RUNS = 9


def seconds(f, sync=lambda: None):
    """Times of one call in each of several runs; a run is many calls in a row, then a wait."""

    def run(calls):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        sync()
        return time.perf_counter() - start

    run(1)
    calls = 1
    while run(calls) < BUDGET / RUNS / 2:
        calls *= 2
    times, start = [], time.perf_counter()
    while len(times) < 3 or len(times) < RUNS and time.perf_counter() - start < BUDGET:
        times.append(run(calls) / calls)
    return times


def report(name, flops, f, sync=lambda: None):
    """Prints a JSON line: in GFLOP/s, or in microseconds where flops is None."""
    values = [flops / t / 1e9 if flops else t * 1e6 for t in seconds(f, sync)]
    line = {"name": name, "unit": "GFLOP/s" if flops else "us", "median": statistics.median(values),
            "low": min(values), "high": max(values), "runs": len(values)}
    print(json.dumps(line), flush=True)
