"""Checks what Sonde's statistics say of random samples against SciPy and statsmodels.

Reads a file of JSON: lists of cases by kind, each with its input and what Sonde found. Prints
how many were checked of each kind, and what differs.
"""

import itertools
import json
import math
import sys
import warnings

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

warnings.simplefilter("ignore")
problems = []
checked = {}


def same(kind, what, case, ours, theirs, within=1e-9):
    checked[kind] = checked.get(kind, 0) + 1
    if not abs(ours - theirs) <= within * max(1.0, abs(theirs)):
        problems.append(f"{kind} {what}: {ours} is not {theirs}: {case}")


def holds(kind, what, case, truth):
    checked[kind] = checked.get(kind, 0) + 1
    if not truth:
        problems.append(f"{kind} {what}: {case}")


def tied(values):
    return len(set(values)) < len(values)


def signed_rank(d, side="two-sided"):
    d = np.array([v for v in d if v != 0.0])
    if len(d) == 0:
        return 1.0
    if tied(np.abs(d)):
        every = stats.PermutationMethod(n_resamples=math.inf)
        return stats.wilcoxon(d, method=every, alternative=side).pvalue
    return stats.wilcoxon(d, method="exact", alternative=side).pvalue


def every_way(a, b):
    """Every choice of who is B: SciPy's permutations want two of each."""
    ranks = stats.rankdata(list(a) + list(b))
    found = sum(ranks[len(a):])
    sums = [sum(c) for c in itertools.combinations(ranks, len(b))]
    below = sum(s <= found + 1e-9 for s in sums) / len(sums)
    above = sum(s >= found - 1e-9 for s in sums) / len(sums)
    return min(1.0, 2 * min(below, above))


def rank_sum(a, b, side="two-sided"):
    if min(len(a), len(b)) < 2:
        return every_way(a, b)
    if tied(list(a) + list(b)):
        every = stats.PermutationMethod(n_resamples=math.inf)
        return stats.mannwhitneyu(b, a, method=every, alternative=side).pvalue
    return stats.mannwhitneyu(b, a, method="exact", alternative=side).pvalue


def inverts(kind, case, interval, chance, level):
    """The interval ends where the test begins to reject."""
    for end, outwards in zip(interval, (-1, 1)):
        step = outwards * 1e-9
        holds(kind, "rejects beyond its end", case, chance(end + step) <= level)
        holds(kind, "accepts within its end", case, chance(end - step) > level)


def paired(case):
    d = np.array(case["d"])
    same("signed rank", "p", case, case["p"], signed_rank(d))
    walsh = [(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))]
    same("Hodges-Lehmann", "paired", case, case["estimate"], np.median(walsh))
    if len(d) > 1 and np.std(d) > 0:
        t = stats.ttest_1samp(d, 0.0)
        same("t", "p", case, case["t_p"], t.pvalue)
        ends = t.confidence_interval(0.95)
        same("t", "low", case, case["t"][0], ends.low)
        same("t", "high", case, case["t"][1], ends.high)
    if tied(d) or tied(np.round(walsh, 12)) or case["interval"][0] is None:
        return
    inverts("signed-rank interval", case, case["interval"], lambda at: signed_rank(d - at), 0.05)


def sides(case):
    a, b = np.array(case["a"]), np.array(case["b"])
    same("rank sum", "p", case, case["p"], rank_sum(a, b))
    shifts = [y - x for x in a for y in b]
    same("Hodges-Lehmann", "sides", case, case["estimate"], np.median(shifts))
    if tied(np.round(shifts, 12)) or case["interval"][0] is None:
        return
    inverts("rank-sum interval", case, case["interval"], lambda at: rank_sum(a, b - at), 0.05)


def holm(case):
    theirs = multipletests(case["p"], method="holm")[1]
    for ours, other in zip(case["adjusted"], theirs):
        same("Holm", "p", case, ours, other)


def tost(case):
    """Two one-sided tests against the margin, by signed ranks."""
    d, margin = np.array(case["d"]), math.log1p(case["margin"])
    above, below = signed_rank(d + margin, "greater"), signed_rank(d - margin, "less")
    holds("TOST", "verdict", case, case["equivalent"] == (max(above, below) <= 0.05))


def drawn(case):
    """One batch a run: the percentile bootstrap of the mean of differences, expanded."""
    d = np.array(case["d"])
    random = np.random.default_rng(1)
    found = stats.bootstrap((d,), np.mean, method="percentile", n_resamples=20000, rng=random)
    n = len(d)
    wider = math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)
    low, high = (d.mean() + wider * (end - d.mean()) for end in found.confidence_interval)
    width = high - low
    for ours, theirs in zip(case["interval"], (low, high)):
        same("bootstrap", "end", case, ours / width, theirs / width, 0.05)


def trend(case):
    time, value = np.array(case["time"]), np.array(case["value"])
    method = "asymptotic" if tied(value) else "exact"
    slope = stats.theilslopes(value, time).slope
    same("trend", "slope", case, case["slope"], slope)
    if method == "exact":
        theirs = stats.kendalltau(time, value, method=method).pvalue
        same("trend", "p", case, case["p"], theirs)


def scaling(case):
    n, x = np.array(case["workers"]), np.array(case["work"])

    def law(n, gamma, alpha, beta):
        return gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1))

    best = math.inf
    for alpha, beta in ((0.0, 0.0), (0.05, 0.001), (0.5, 0.0), (0.001, 0.02)):
        start = (x[0] / n[0], alpha, beta)
        bounds = ([0, 0, 0], [math.inf] * 3)
        try:
            found, _ = optimize.curve_fit(law, n, x, p0=start, bounds=bounds, xtol=1e-14, ftol=1e-14)
        except RuntimeError:
            continue
        best = min(best, float(np.sum((x - law(n, *found)) ** 2)))
    ours = float(np.sum((x - law(n, *case["law"])) ** 2))
    holds("scaling", f"squares {ours} above {best}", case, ours <= best * (1 + 1e-6) + 1e-12)


def aligned_ranks(case, shift=0.0):
    """Every choice of the arm's run in each block; the arm is its last."""
    blocks = [np.array(b + [arm - shift]) for b, arm in case["blocks"]]
    ranks = stats.rankdata(np.round(np.concatenate([b - b.mean() for b in blocks]), 12))
    places = np.split(ranks, np.cumsum([len(b) for b in blocks])[:-1])
    found = sum(p[-1] for p in places)
    sums = np.array([sum(way) for way in itertools.product(*places)])
    below, above = np.mean(sums <= found + 1e-9), np.mean(sums >= found - 1e-9)
    return min(1.0, 2 * min(below, above))


def aligned(case):
    same("aligned ranks", "p", case, case["p"], aligned_ranks(case))
    if case["interval"][0] is None:
        return
    for end, outwards in zip(case["interval"], (-1, 1)):
        step = outwards * 1e-6
        kind = "aligned-rank interval"
        holds(kind, "rejects beyond its end", case, aligned_ranks(case, end + step) <= 0.05)
        holds(kind, "accepts within its end", case, aligned_ranks(case, end - step) > 0.05)
    low, high = case["interval"]
    holds("aligned-rank interval", "holds its estimate", case, low <= case["estimate"] <= high)


def middles(case):
    """Signed ranks; what is as likely as what was found counts by half."""
    d = np.array(case["d"])
    ranks = stats.rankdata(np.abs(d))
    found = sum(ranks[d > 0])
    sums = np.array([np.dot(ranks, way) for way in itertools.product((0, 1), repeat=len(d))])
    here = np.mean(np.abs(sums - found) < 1e-9) / 2
    tails = [np.mean(sums < found - 1e-9) + here, np.mean(sums > found + 1e-9) + here]
    same("middles of steps", "p", case, case["p"], min(1.0, 2 * min(tails)))


kinds = {
    "aligned": aligned,
    "middles": middles,
    "paired": paired,
    "sides": sides,
    "holm": holm,
    "tost": tost,
    "drawn": drawn,
    "trend": trend,
    "scaling": scaling,
}
with open(sys.argv[1]) as file:
    for kind, cases in json.load(file).items():
        for case in cases:
            kinds[kind](case)
print(json.dumps({"checked": checked, "problems": problems[:20], "count": len(problems)}))
