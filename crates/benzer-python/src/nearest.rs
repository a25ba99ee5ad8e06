//! The scan over byte sketches.

use crate::convert::{Threads, error, in_pool};
use benzer_core::{isa, nearest};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows that one thread scans at a time.
const ROWS: usize = 1 << 15;

/// For each row of sketches (n x k) in how many places it equals one (k).
#[pyfunction]
pub fn equal_bytes<'py>(
    py: Python<'py>, rows: PyReadonlyArray2<'py, u8>, one: PyReadonlyArray1<'py, u8>, threads: Threads,
) -> PyResult<Bound<'py, PyArray1<u16>>> {
    let (count, width) = (rows.shape()[0], rows.shape()[1]);
    let (rows, one) = (rows.as_slice()?, one.as_slice()?);
    if one.len() != width || !(1..=usize::from(u16::MAX)).contains(&width) {
        let message = format!("a sketch of {} bytes cannot be compared with sketches of {width}", one.len());
        return Err(error(py, "SettingsError", message));
    }
    let (isa, mut counts) = (isa::current(), vec![0; count]);
    if threads == Threads::ONE || count <= ROWS {
        py.detach(|| nearest::equal_bytes(isa, rows, one, &mut counts));
    } else {
        let parts = rows.chunks(ROWS * width).zip(counts.chunks_mut(ROWS)).collect::<Vec<_>>();
        in_pool(py, threads, || {
            parts.into_par_iter().for_each(|(rows, counts)| nearest::equal_bytes(isa, rows, one, counts));
        })?;
    }
    Ok(PyArray1::from_vec(py, counts))
}
