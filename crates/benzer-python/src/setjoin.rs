//! Exact joins of documents and of sets.

use crate::convert::{Threads, error, in_pool};
use crate::joins::{check_positions, sets, split};
use benzer_core::corpus::Corpus;
use benzer_core::jaccard::Sets;
use benzer_core::setjoin::{self as core, Join, Pair, Relation};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// Documents held to the queries between two looks at signals.
const STEP: usize = 16_384;

/// Sets held to all others between two looks at signals and progress.
const JOIN_STEP: usize = 4096;

pub type Positions<'py> = Bound<'py, PyArray1<u32>>;
pub type Values<'py> = Bound<'py, PyArray1<f64>>;
pub type SetArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>);

fn assert_threshold(threshold: f64) {
    assert!(threshold > 0.0 && threshold <= 1.0, "callers check thresholds");
}

fn check_thresholds(py: Python<'_>, thresholds: &[f64], fields: usize) -> PyResult<()> {
    if thresholds.len() != fields {
        let message = format!("{fields} fields need as many thresholds, got {}", thresholds.len());
        return Err(error(py, "SettingsError", message));
    }
    thresholds.iter().copied().for_each(assert_threshold);
    Ok(())
}

fn check_field(py: Python<'_>, corpus: &Corpus, field: usize) -> PyResult<()> {
    if field < corpus.fields() {
        return Ok(());
    }
    Err(error(py, "SettingsError", format!("there is no field {field}: the corpus has {}", corpus.fields())))
}

/// The sets of one field of some documents.
pub fn sets_of<'py>(
    py: Python<'py>, corpus: &Corpus, field: usize, positions: &[u32], threads: Threads,
) -> PyResult<SetArrays<'py>> {
    check_positions(py, corpus.len(), &[positions])?;
    check_field(py, corpus, field)?;
    let sets = in_pool(py, threads, || corpus.sets(field, positions))?;
    let offsets = sets.offsets.iter().map(|&offset| offset as i64);
    Ok((PyArray1::from_iter(py, offsets), PyArray1::from_vec(py, sets.hashes)))
}

/// Each query, by its position in the list, with every other document with a field that reaches its threshold.
pub fn neighbours<'py>(
    py: Python<'py>, corpus: &Corpus, queries: &[u32], thresholds: &[f64], threads: Threads,
) -> PyResult<(Positions<'py>, Positions<'py>)> {
    check_positions(py, corpus.len(), &[queries])?;
    check_thresholds(py, thresholds, corpus.fields())?;
    let neighbours = in_pool(py, threads, || corpus.neighbours(queries, thresholds))?;
    let mut pairs = Vec::new();
    for start in (0..corpus.len()).step_by(STEP) {
        let positions = start..(start + STEP).min(corpus.len());
        pairs.extend(in_pool(py, threads, || neighbours.among(positions))?);
        py.check_signals()?;
    }
    pairs.sort_unstable();
    Ok(split(py, pairs))
}

/// Left, right, and a value for each pair.
pub type PairArrays<'py> = (Positions<'py>, Positions<'py>, Values<'py>);

fn arrays(py: Python<'_>, pairs: Vec<Pair>) -> PairArrays<'_> {
    let left = PyArray1::from_iter(py, pairs.iter().map(|pair| pair.left));
    let right = PyArray1::from_iter(py, pairs.iter().map(|pair| pair.right));
    (left, right, PyArray1::from_iter(py, pairs.iter().map(|pair| pair.value)))
}

/// Asks for all sets, step by step; `report` hears how many are done.
fn run(
    py: Python<'_>, join: &Join, threads: Threads, mut report: impl FnMut(usize) -> PyResult<()>,
) -> PyResult<Vec<Pair>> {
    let mut pairs = Vec::new();
    for start in (0..join.len()).step_by(JOIN_STEP) {
        let end = (start + JOIN_STEP).min(join.len());
        pairs.extend(in_pool(py, threads, || join.pairs(start..end))?);
        py.check_signals()?;
        report(end)?;
    }
    in_pool(py, threads, || core::sort(&mut pairs))?;
    Ok(pairs)
}

/// Fails where a set is not ascending or repeats an element.
fn check_ascending(py: Python<'_>, sets: &Sets) -> PyResult<()> {
    let count = sets.offsets.len() - 1;
    match (0..count).find(|&at| !sets.get(at).is_sorted_by(|a, b| a < b)) {
        Some(at) => {
            let message = format!("set {at} must be ascending, without repeats: sort it first");
            Err(error(py, "InputError", message))
        }
        None => Ok(()),
    }
}

fn join_sets<'py>(
    py: Python<'py>, offsets: &PyReadonlyArray1<'py, i64>, hashes: &PyReadonlyArray1<'py, u64>, relation: Relation,
    threshold: f64, threads: Threads,
) -> PyResult<PairArrays<'py>> {
    assert_threshold(threshold);
    let sets = sets(py, offsets, hashes)?;
    check_ascending(py, &sets)?;
    let join = in_pool(py, threads, || Join::new(sets, relation, threshold))?;
    Ok(arrays(py, run(py, &join, threads, |_| Ok(()))?))
}

/// All pairs of sets whose Jaccard similarity reaches the threshold: left, right, similarity.
#[pyfunction]
pub fn exact_join<'py>(
    py: Python<'py>, offsets: PyReadonlyArray1<'py, i64>, hashes: PyReadonlyArray1<'py, u64>, threshold: f64,
    threads: Threads,
) -> PyResult<PairArrays<'py>> {
    join_sets(py, &offsets, &hashes, Relation::Alike, threshold, threads)
}

/// All ordered pairs of sets whose right one has the threshold's share of the left one: left, right,
/// containment.
#[pyfunction]
pub fn contained<'py>(
    py: Python<'py>, offsets: PyReadonlyArray1<'py, i64>, hashes: PyReadonlyArray1<'py, u64>, threshold: f64,
    threads: Threads,
) -> PyResult<PairArrays<'py>> {
    join_sets(py, &offsets, &hashes, Relation::Contained, threshold, threads)
}

/// The positions that take part.
fn positions_of(py: Python<'_>, corpus: &Corpus, taking_part: &[bool]) -> PyResult<Vec<u32>> {
    if taking_part.len() != corpus.len() {
        let message = format!("taking_part must have {} entries, got {}", corpus.len(), taking_part.len());
        return Err(error(py, "SettingsError", message));
    }
    let all = taking_part.iter().zip(0..);
    Ok(all.filter(|&(&takes_part, _)| takes_part).map(|(_, position)| position).collect())
}

/// Names documents by their positions.
fn name(pairs: &mut [Pair], positions: &[u32]) {
    for pair in pairs {
        (pair.left, pair.right) = (positions[pair.left as usize], positions[pair.right as usize]);
    }
}

/// All pairs of documents with a field that reaches its threshold, and for one field their similarity.
pub fn exact_pairs<'py>(
    py: Python<'py>, corpus: &Corpus, thresholds: &[f64], taking_part: &[bool], threads: Threads,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Positions<'py>, Positions<'py>, Option<Values<'py>>)> {
    check_thresholds(py, thresholds, corpus.fields())?;
    let positions = positions_of(py, corpus, taking_part)?;
    let mut pairs = Vec::new();
    for (field, &threshold) in thresholds.iter().enumerate() {
        let join = in_pool(py, threads, || corpus.join(field, &positions, Relation::Alike, threshold))?;
        let report = |done: usize| match progress {
            Some(progress) => {
                // Documents without the field ask for nothing: they are done with the last.
                let done = if done == join.len() { positions.len() } else { done };
                progress.call1((field * positions.len() + done, thresholds.len() * positions.len())).map(|_| ())
            }
            None => Ok(()),
        };
        pairs.extend(run(py, &join, threads, report)?);
    }
    if thresholds.len() > 1 {
        in_pool(py, threads, || core::sort(&mut pairs))?;
        pairs.dedup_by_key(|pair| (pair.left, pair.right));
    }
    name(&mut pairs, &positions);
    let (left, right, similarity) = arrays(py, pairs);
    Ok((left, right, (thresholds.len() == 1).then_some(similarity)))
}

/// All ordered pairs of documents whose right one has the threshold's share of a field of the left one.
pub fn contained_pairs<'py>(
    py: Python<'py>, corpus: &Corpus, field: usize, threshold: f64, taking_part: &[bool], threads: Threads,
) -> PyResult<PairArrays<'py>> {
    assert_threshold(threshold);
    check_field(py, corpus, field)?;
    let positions = positions_of(py, corpus, taking_part)?;
    let join = in_pool(py, threads, || corpus.join(field, &positions, Relation::Contained, threshold))?;
    let mut pairs = run(py, &join, threads, |_| Ok(()))?;
    name(&mut pairs, &positions);
    Ok(arrays(py, pairs))
}
