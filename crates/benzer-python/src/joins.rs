//! Candidates, exact similarity, clusters.

use crate::convert::{Flags, Threads, error, in_pool, in_pool_told};
use benzer_core::buckets::{self, Join, Keys, Limit};
use benzer_core::clusters;
use benzer_core::jaccard::{self as exact, Sets};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

type Positions<'py> = Bound<'py, PyArray1<u32>>;

/// The rows of a content array, which must be `count` × 2.
pub fn content_rows<'a>(
    py: Python<'_>, array: &'a PyReadonlyArray2<'_, u64>, count: usize,
) -> PyResult<&'a [[u64; 2]]> {
    if array.shape() != [count, 2] {
        let message = format!("content must be an array of {count} x 2, got {:?}", array.shape());
        return Err(error(py, "SettingsError", message));
    }
    Ok(array.as_slice()?.as_chunks().0)
}

/// Fails where columns that belong together differ in length.
pub fn check_lengths(py: Python<'_>, what: &str, lengths: &[usize]) -> PyResult<()> {
    if lengths.iter().any(|&length| length != lengths[0]) {
        return Err(error(py, "SettingsError", format!("{what} must have one length, got {lengths:?}")));
    }
    Ok(())
}

/// Pairs as two columns: the leading half of each number, and the other.
pub fn split(py: Python<'_>, pairs: Vec<u64>) -> (Positions<'_>, Positions<'_>) {
    let left = pairs.iter().map(|pair| (pair >> 32) as u32).collect();
    let right = pairs.iter().map(|&pair| pair as u32).collect();
    (PyArray1::from_vec(py, left), PyArray1::from_vec(py, right))
}

/// Candidate pairs and large buckets: left, right, the documents and ends of buckets above the limit, and the limit.
///
/// `keys` has a row for each document, or for each band (`by_band`).
#[pyfunction]
#[pyo3(signature = (keys, bucket_limit, threads, taking_part = None, at_once = 0, by_band = false, progress = None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn candidate_pairs<'py>(
    py: Python<'py>, keys: PyReadonlyArray2<'py, u64>, bucket_limit: Option<usize>, threads: Threads,
    taking_part: Option<Flags>, at_once: usize, by_band: bool, progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Positions<'py>, Positions<'py>, Positions<'py>, Bound<'py, PyArray1<i64>>, usize)> {
    assert!(bucket_limit.is_none_or(|limit| limit >= 2), "callers check the limit of a bucket");
    let limit = bucket_limit.map_or(Limit::Usual, Limit::Fixed);
    let values = keys.as_slice()?;
    let [rows, columns] = [keys.shape()[0], keys.shape()[1]];
    let (count, bands) = if by_band { (columns, rows) } else { (rows, columns) };
    let keys = if by_band { Keys::by_band(values, bands) } else { Keys::by_document(values, bands) };
    let taking_part = taking_part.as_ref().map_or(&[][..], |given| &given.0);
    if !taking_part.is_empty() {
        check_lengths(py, "keys and taking_part", &[count, taking_part.len()])?;
    }
    let join = Join { keys, limit, taking_part, at_once };
    let found = in_pool_told(py, threads, progress.as_ref(), || join.candidates())?;
    let (left, right) = split(py, found.pairs);
    let ends = found.large.ends.into_iter().map(|end| end as i64).collect();
    Ok((left, right, PyArray1::from_vec(py, found.large.members), PyArray1::from_vec(py, ends), found.limit))
}

/// Sets from their arrays, checked.
pub fn sets(py: Python<'_>, offsets: &PyReadonlyArray1<'_, i64>, hashes: &PyReadonlyArray1<'_, u64>) -> PyResult<Sets> {
    let hashes = hashes.as_slice()?.to_vec();
    let offsets: Vec<usize> =
        offsets.as_slice()?.iter().map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect();
    let fits = offsets.first() == Some(&0) && offsets.last() == Some(&hashes.len()) && offsets.is_sorted();
    if !fits {
        let message = format!("offsets must rise from 0 to the number of hashes, {}", hashes.len());
        return Err(error(py, "SettingsError", message));
    }
    Ok(Sets { offsets, hashes })
}

/// The exact Jaccard similarity of pairs of sets.
#[pyfunction]
pub fn jaccard<'py>(
    py: Python<'py>, offsets: PyReadonlyArray1<'py, i64>, hashes: PyReadonlyArray1<'py, u64>,
    left: PyReadonlyArray1<'py, u32>, right: PyReadonlyArray1<'py, u32>, threads: Threads,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let sets = sets(py, &offsets, &hashes)?;
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    check_positions(py, sets.offsets.len() - 1, &[left, right])?;
    let compare = || exact::pairwise(&sets, left, right);
    let similarity = if left.len() <= exact::FEW { py.detach(compare) } else { in_pool(py, threads, compare)? };
    Ok(PyArray1::from_vec(py, similarity))
}

/// Fails where a position is not below `count`, or the columns differ in length.
pub fn check_positions(py: Python<'_>, count: usize, columns: &[&[u32]]) -> PyResult<()> {
    if columns.iter().any(|column| column.len() != columns[0].len()) {
        return Err(error(py, "SettingsError", "pairs must have as many left as right ends".to_owned()));
    }
    let highest = columns.iter().flat_map(|column| column.iter()).max();
    match highest {
        Some(&highest) if highest as usize >= count => {
            Err(error(py, "SettingsError", format!("position {highest} is beyond the {count} documents")))
        }
        _ => Ok(()),
    }
}

/// The component of each document, named by its lowest position.
#[pyfunction]
pub fn components<'py>(
    py: Python<'py>, count: usize, left: PyReadonlyArray1<'py, u32>, right: PyReadonlyArray1<'py, u32>,
) -> PyResult<Positions<'py>> {
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    if count > u32::MAX as usize {
        return Err(error(py, "SettingsError", format!("at most {} documents, got {count}", u32::MAX)));
    }
    check_positions(py, count, &[left, right])?;
    Ok(PyArray1::from_vec(py, clusters::components(count, left, right)))
}

/// The usual limit for buckets of these sizes, of so many documents times bands.
#[pyfunction]
pub fn usual_limit(sizes: Vec<usize>, entries: usize) -> usize {
    buckets::usual_limit(sizes, entries)
}
