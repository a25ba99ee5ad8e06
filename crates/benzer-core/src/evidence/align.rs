//! Aligns the tokens of a chain, and extends the passage at both ends.

use super::Rules;
use super::chains::Run;

/// How many gaps further a passage may reach at either end than the runs that it was found by.
const REACH: usize = 4;

/// The runs of equal tokens of a passage, in order: of a chain its best part, lengthened at both ends, its gaps filled.
/// Linear in the passage for a given gap. `work` grows by the steps.
pub fn align(a: &[u64], b: &[u64], chain: &[Run], rules: Rules, work: &mut u64) -> Vec<Run> {
    let mut runs = extended(a, b, best_part(chain), rules, work);
    let mut filled = vec![runs.remove(0)];
    for run in runs {
        let [from_a, from_b] = filled[filled.len() - 1].end();
        let least = rules.seed.saturating_sub(2).max(1);
        *work += ((run.a - from_a + 1) * (run.b - from_b + 1)) as u64;
        for between in common(&a[from_a..run.a], &b[from_b..run.b]) {
            if between.len >= least {
                push(&mut filled, Run { a: from_a + between.a, b: from_b + between.b, len: between.len });
            }
        }
        push(&mut filled, run);
    }
    filled
}

/// Adds a run, or lengthens the last by it.
fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.end() == [run.a, run.b] => last.len += run.len,
        _ => runs.push(run),
    }
}

/// The part of a chain that shares most, where a token that differs counts half against one that is shared: a stray run
/// far from the others is left out.
fn best_part(chain: &[Run]) -> &[Run] {
    let (mut best, mut part) = (0, 0..0);
    let (mut score, mut from) = (0, 0);
    for (i, run) in chain.iter().enumerate() {
        if i > from {
            let [a, b] = chain[i - 1].end();
            score -= (run.a - a).max(run.b - b) as isize;
        }
        if score <= 0 {
            (score, from) = (0, i);
        }
        score += 2 * run.len as isize;
        if score > best {
            (best, part) = (score, from..i + 1);
        }
    }
    &chain[part]
}

/// The runs, and those that go on at both ends after one token that differs.
fn extended(a: &[u64], b: &[u64], runs: &[Run], rules: Rules, work: &mut u64) -> Vec<Run> {
    let [end_a, end_b] = runs[runs.len() - 1].end();
    let limit = REACH * rules.gap;
    let back =
        |tokens: &[u64], end: usize| tokens[end.saturating_sub(limit)..end].iter().rev().copied().collect::<Vec<_>>();
    let ahead = |tokens: &[u64], from: usize| tokens[from..(from + limit).min(tokens.len())].to_vec();
    let before = reach(&back(a, runs[0].a), &back(b, runs[0].b), rules.seed, work);
    let after = reach(&ahead(a, end_a), &ahead(b, end_b), rules.seed, work);
    let mut all = Vec::new();
    for run in before.iter().rev() {
        push(&mut all, Run { a: runs[0].a - run.a - run.len, b: runs[0].b - run.b - run.len, len: run.len });
    }
    runs.iter().for_each(|&run| push(&mut all, run));
    after.iter().for_each(|run| push(&mut all, Run { a: end_a + run.a, b: end_b + run.b, len: run.len }));
    all
}

/// Runs from the start on, each after one token that differs, lacks or is too much, and less than a gram long only by one.
fn reach(a: &[u64], b: &[u64], seed: usize, work: &mut u64) -> Vec<Run> {
    let least = seed.saturating_sub(1).max(1);
    let mut runs: Vec<Run> = Vec::new();
    let mut at = [0, 0];
    loop {
        *work += 4;
        let skips = if at == [0, 0] { [[0, 0], [1, 1], [1, 0], [0, 1]].as_slice() } else { &[[1, 1], [1, 0], [0, 1]] };
        let next = skips.iter().find_map(|skip| {
            let [from_a, from_b] = [at[0] + skip[0], at[1] + skip[1]];
            let (rest_a, rest_b) = (a.get(from_a..)?, b.get(from_b..)?);
            let len = rest_a.iter().zip(rest_b).take_while(|(one, other)| one == other).count();
            (len >= least || (*skip == [0, 0] && len > 0)).then_some(Run { a: from_a, b: from_b, len })
        });
        let Some(run) = next else { return runs };
        *work += run.len as u64;
        at = run.end();
        runs.push(run);
    }
}

/// The longest common subsequence of two short stretches, as runs. The cost is the product of their lengths.
fn common(a: &[u64], b: &[u64]) -> Vec<Run> {
    let width = b.len() + 1;
    let mut length = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i * width + j] = if a[i] == b[j] {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut runs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            push(&mut runs, Run { a: i, b: j, len: 1 });
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    runs
}
