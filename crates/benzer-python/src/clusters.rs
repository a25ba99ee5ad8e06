//! Large buckets and the decision which documents are kept.

use crate::convert::{Threads, error, in_pool};
use crate::joins::check_positions;
use benzer_core::buckets::{LargeBuckets, Memberships};
use benzer_core::clusters::{self, Pairs};
use benzer_core::corpus::{Corpus, Families};
use benzer_core::similarity::Weights;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

type Positions<'py> = Bound<'py, PyArray1<u32>>;
type Values<'py> = Bound<'py, PyArray1<f64>>;
/// Documents, leaders, similarities, and those that became leaders.
pub type FamilyArrays<'py> = (Positions<'py>, Positions<'py>, Values<'py>, Positions<'py>);

/// Large buckets of some of `count` documents, from their arrays.
fn large_buckets(py: Python<'_>, count: usize, members: &[u32], ends: &[i64]) -> PyResult<LargeBuckets> {
    check_positions(py, count, &[members])?;
    let ends: Vec<usize> = ends.iter().map(|&end| usize::try_from(end).unwrap_or(usize::MAX)).collect();
    if !ends.is_sorted() || *ends.last().unwrap_or(&0) != members.len() {
        return Err(error(py, "SettingsError", format!("ends must rise to the number of members, {}", members.len())));
    }
    Ok(LargeBuckets { members: members.to_vec(), ends })
}

/// Fails where `rank` does not give each of its documents a place of its own.
fn check_rank(py: Python<'_>, rank: &[u32]) -> PyResult<()> {
    let mut taken = vec![false; rank.len()];
    for &place in rank {
        if taken.get(place as usize) != Some(&false) {
            let message = format!("rank must hold each of 0 to {} once, got {place} twice or beyond", rank.len());
            return Err(error(py, "SettingsError", message));
        }
        taken[place as usize] = true;
    }
    Ok(())
}

/// Fails where there is not one weight for each field.
pub fn check_weights(py: Python<'_>, corpus: &Corpus, weights: &[f64]) -> PyResult<()> {
    if weights.len() != corpus.fields() {
        let message = format!("{} fields need as many weights, got {}", corpus.fields(), weights.len());
        return Err(error(py, "SettingsError", message));
    }
    Ok(())
}

/// Compares families: `documents` are the ranks of all and those that may lead, `large` the members and ends of buckets.
pub fn compare_families<'py>(
    py: Python<'py>, corpus: &Corpus, (rank, may_lead): (&[u32], &[u32]), (members, ends): (&[u32], &[i64]),
    threshold: f64, weights: &[f64], threads: Threads,
) -> PyResult<FamilyArrays<'py>> {
    let large = large_buckets(py, corpus.len(), members, ends)?;
    check_positions(py, corpus.len(), &[may_lead])?;
    check_rank(py, rank)?;
    check_weights(py, corpus, weights)?;
    if rank.len() != corpus.len() {
        let message = format!("{} documents need as many ranks, got {}", corpus.len(), rank.len());
        return Err(error(py, "SettingsError", message));
    }
    let found = in_pool(py, threads, || {
        let memberships = Memberships::new(corpus.len(), &large);
        let families =
            Families { corpus, weights: Weights(weights), threshold, rank, large: &large, memberships: &memberships };
        families.compare(may_lead)
    })?;
    Ok((
        PyArray1::from_vec(py, found.documents),
        PyArray1::from_vec(py, found.leaders),
        PyArray1::from_vec(py, found.similarity),
        PyArray1::from_vec(py, found.led),
    ))
}

/// A decision that is being made; see the core's `clusters::Deciding`.
#[pyclass(module = "benzer._native")]
pub struct Deciding {
    inner: clusters::Deciding,
    count: usize,
}

/// Pairs from their columns, checked.
fn pairs_of<'a>(
    py: Python<'_>, count: usize, left: &'a [u32], right: &'a [u32], similarity: &'a [f64],
) -> PyResult<Pairs<'a>> {
    check_positions(py, count, &[left, right])?;
    if left.len() != similarity.len() {
        let lengths = [left.len(), similarity.len()];
        return Err(error(py, "SettingsError", format!("pairs and similarity must have one length, got {lengths:?}")));
    }
    Ok(Pairs { left, right, similarity })
}

#[pymethods]
impl Deciding {
    #[new]
    #[pyo3(signature = (rank, left, right, similarity, threshold, stands_for, members, ends))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>, rank: PyReadonlyArray1<'_, u32>, left: PyReadonlyArray1<'_, u32>,
        right: PyReadonlyArray1<'_, u32>, similarity: PyReadonlyArray1<'_, f64>, threshold: f64,
        stands_for: PyReadonlyArray1<'_, u32>, members: PyReadonlyArray1<'_, u32>, ends: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let (rank, original) = (rank.as_slice()?, stands_for.as_slice()?);
        let count = rank.len();
        check_rank(py, rank)?;
        check_positions(py, count, &[original, rank])?;
        let pairs = pairs_of(py, count, left.as_slice()?, right.as_slice()?, similarity.as_slice()?)?;
        let large = large_buckets(py, count, members.as_slice()?, ends.as_slice()?)?;
        let inner = py.detach(|| {
            let memberships = Memberships::new(count, &large);
            let members = (0..count as u32).filter(|&document| !memberships.of(document).is_empty()).collect();
            clusters::Deciding::new(rank, original, pairs, threshold, memberships, members)
        });
        Ok(Deciding { inner, count })
    }

    /// The pairs that must be compared before the decision is final: left, right.
    fn wanted<'py>(&mut self, py: Python<'py>) -> (Positions<'py>, Positions<'py>) {
        let wanted = py.detach(|| self.inner.wanted());
        let [left, right] = [0, 1].map(|end| wanted.iter().map(|pair| pair[end]).collect());
        (PyArray1::from_vec(py, left), PyArray1::from_vec(py, right))
    }

    /// Adds compared pairs.
    fn add(
        &mut self, py: Python<'_>, left: PyReadonlyArray1<'_, u32>, right: PyReadonlyArray1<'_, u32>,
        similarity: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let pairs = pairs_of(py, self.count, left.as_slice()?, right.as_slice()?, similarity.as_slice()?)?;
        py.detach(|| self.inner.add(pairs));
        Ok(())
    }

    /// Kept documents of large buckets with which the others have not been compared.
    fn new_leaders<'py>(&self, py: Python<'py>) -> Positions<'py> {
        PyArray1::from_vec(py, py.detach(|| self.inner.new_leaders()))
    }

    /// Notes that the others have been compared with these documents.
    fn lead(&mut self, py: Python<'_>, documents: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let documents = documents.as_slice()?;
        check_positions(py, self.count, &[documents])?;
        self.inner.lead(documents);
        Ok(())
    }

    /// The kept document of each document, and the similarity to it.
    fn outcome<'py>(&self, py: Python<'py>) -> (Positions<'py>, Values<'py>) {
        let (leader, similarity) = py.detach(|| self.inner.outcome());
        (PyArray1::from_vec(py, leader), PyArray1::from_vec(py, similarity))
    }
}
