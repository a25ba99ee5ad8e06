//! Fingerprints of texts.

use crate::convert::{Threads, error, in_pool};
use crate::text::{SetArrays, TextReader, collect_texts, set_arrays};
use benzer_core::jaccard::Sets;
use benzer_core::winnow::{self as core, MOST_WINDOW};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Texts that one thread reads at a time.
const TOGETHER: usize = 16;

/// The set of the least hashes of each `window` shingles in a row of each text; all shingles with a window of 1.
#[pyfunction]
pub fn winnowed<'py>(
    py: Python<'py>, reader: PyRef<'py, TextReader>, texts: &Bound<'py, PyAny>, window: usize, threads: Threads,
) -> PyResult<SetArrays<'py>> {
    if !(1..=MOST_WINDOW).contains(&window) {
        return Err(error(py, "SettingsError", format!("window must be in 1..{MOST_WINDOW}, got {window}")));
    }
    let (reader, texts) = (reader.shared(), collect_texts(texts)?);
    let take = |texts| core::winnowed(&reader, texts, window);
    let sets = if texts.len() <= TOGETHER || threads == Threads::ONE {
        py.detach(|| take(&texts))
    } else {
        in_pool(py, threads, || Sets::concatenate(texts.par_chunks(TOGETHER).map(take).collect()))?
    };
    Ok(set_arrays(py, sets))
}
