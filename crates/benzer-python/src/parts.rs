//! A join in parts, for machines that hold a share of it each.

use crate::convert::error;
use benzer_core::buckets::{Keys, parts};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Given<'py, T> = PyReadonlyArray1<'py, T>;

/// Fails where columns that belong together differ in length, or there is a number below the least one.
fn check(py: Python<'_>, lengths: [usize; 2], what: &str, number: usize, least: usize) -> PyResult<()> {
    if lengths[0] != lengths[1] {
        return Err(error(py, "SettingsError", format!("columns must have one length, got {lengths:?}")));
    }
    assert!(number >= least, "callers check {what}");
    Ok(())
}

fn ends_of(py: Python<'_>, ends: Vec<usize>) -> Column<'_, i64> {
    PyArray1::from_vec(py, ends.into_iter().map(|end| end as i64).collect())
}

/// The entries of some bands by part (keys, numbers, ends), and the keys above the limit (keys, ends).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn deal_keys<'py>(
    py: Python<'py>, keys: PyReadonlyArray2<'py, u64>, numbers: Given<'py, i64>, first_band: usize, after_band: usize,
    parts: usize, bucket_limit: usize,
) -> PyResult<(Column<'py, u64>, Column<'py, i64>, Column<'py, i64>, Column<'py, u64>, Column<'py, i64>)> {
    let [count, bands] = [keys.shape()[0], keys.shape()[1]];
    let numbers = numbers.as_slice()?;
    check(py, [count, numbers.len()], "parts", parts, 1)?;
    if first_band > after_band || after_band > bands {
        let message = format!("there are bands 0 to {bands}, asked for {first_band} to {after_band}");
        return Err(error(py, "SettingsError", message));
    }
    let table = Keys::by_document(keys.as_slice()?, bands);
    let dealt = py.detach(|| parts::deal(table, numbers, first_band..after_band, parts, bucket_limit));
    Ok((
        PyArray1::from_vec(py, dealt.entries.left),
        PyArray1::from_vec(py, dealt.entries.right),
        ends_of(py, dealt.entries.ends),
        PyArray1::from_vec(py, dealt.hot),
        ends_of(py, dealt.hot_ends),
    ))
}

/// Entries without those of keys above the limit; and these keys, together with those known.
#[pyfunction]
pub fn without_hot<'py>(
    py: Python<'py>, keys: Given<'py, u64>, numbers: Given<'py, i64>, bucket_limit: usize, hot: Given<'py, u64>,
) -> PyResult<(Column<'py, u64>, Column<'py, i64>, Column<'py, u64>)> {
    let (keys, numbers, mut hot) = (keys.as_slice()?, numbers.as_slice()?, hot.as_slice()?.to_vec());
    check(py, [keys.len(), numbers.len()], "bucket_limit", bucket_limit, 2)?;
    let (keys, numbers) = py.detach(|| parts::without_hot(keys, numbers, bucket_limit, &mut hot));
    Ok((PyArray1::from_vec(py, keys), PyArray1::from_vec(py, numbers), PyArray1::from_vec(py, hot)))
}

/// The buckets of a part (numbers, ends), and its keys above the limit, together with those known.
#[pyfunction]
pub fn buckets_of<'py>(
    py: Python<'py>, keys: Given<'py, u64>, numbers: Given<'py, i64>, bucket_limit: usize, hot: Given<'py, u64>,
) -> PyResult<(Column<'py, i64>, Column<'py, i64>, Column<'py, u64>)> {
    let (keys, numbers, mut hot) = (keys.as_slice()?, numbers.as_slice()?, hot.as_slice()?.to_vec());
    check(py, [keys.len(), numbers.len()], "bucket_limit", bucket_limit, 2)?;
    let found = py.detach(|| parts::Buckets::of(keys, numbers, bucket_limit, &mut hot));
    Ok((PyArray1::from_vec(py, found.members), ends_of(py, found.ends), PyArray1::from_vec(py, hot)))
}

/// Pairs of the members from the first one on, about as many as requested; and the member to continue with.
#[pyfunction]
pub fn pairs_within<'py>(
    py: Python<'py>, members: Given<'py, i64>, ends: Given<'py, i64>, first: usize, most: usize,
) -> PyResult<(Column<'py, i64>, Column<'py, i64>, usize)> {
    let members = members.as_slice()?;
    let ends: Vec<usize> = ends.as_slice()?.iter().map(|&end| usize::try_from(end).unwrap_or(usize::MAX)).collect();
    if !ends.is_sorted() || *ends.last().unwrap_or(&0) != members.len() {
        return Err(error(py, "SettingsError", format!("ends must rise to the number of members, {}", members.len())));
    }
    let (left, right, next) = py.detach(|| parts::pairs_within(members, &ends, first, most.max(1)));
    Ok((PyArray1::from_vec(py, left), PyArray1::from_vec(py, right), next))
}

/// Pairs by part: left, right, ends.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn deal_pairs<'py>(
    py: Python<'py>, left: Given<'py, i64>, right: Given<'py, i64>, parts: usize,
) -> PyResult<(Column<'py, i64>, Column<'py, i64>, Column<'py, i64>)> {
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    check(py, [left.len(), right.len()], "parts", parts, 1)?;
    let dealt = py.detach(|| parts::deal_pairs(left, right, parts));
    Ok((PyArray1::from_vec(py, dealt.left), PyArray1::from_vec(py, dealt.right), ends_of(py, dealt.ends)))
}

/// Pairs in ascending order, each once.
#[pyfunction]
pub fn distinct_pairs<'py>(
    py: Python<'py>, left: Given<'py, i64>, right: Given<'py, i64>,
) -> PyResult<(Column<'py, i64>, Column<'py, i64>)> {
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    check(py, [left.len(), right.len()], "pairs", 0, 0)?;
    let (left, right) = py.detach(|| parts::distinct(left, right));
    Ok((PyArray1::from_vec(py, left), PyArray1::from_vec(py, right)))
}
