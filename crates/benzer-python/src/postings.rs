//! The search for documents that are filed under band keys.

use crate::convert::error;
use benzer_core::postings::{self, Postings, Run};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// Sorted keys and the document number of each.
type Piece<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>);
/// The place of a block, its keys, its document numbers.
type BlockRow<'py> = (u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);
type Pairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

fn views<'a>(py: Python<'_>, pieces: &'a [Piece<'_>]) -> PyResult<Vec<Postings<'a>>> {
    let mut found = Vec::with_capacity(pieces.len());
    for (keys, numbers) in pieces {
        let piece = Postings { keys: keys.as_slice()?, numbers: numbers.as_slice()? };
        if piece.keys.len() != piece.numbers.len() {
            return Err(error(py, "SettingsError", "postings must have as many keys as numbers".to_owned()));
        }
        found.push(piece);
    }
    Ok(found)
}

fn split(py: Python<'_>, pairs: Vec<u64>) -> Pairs<'_> {
    let rows = pairs.iter().map(|pair| (pair >> 32) as i64).collect();
    let numbers = pairs.iter().map(|&pair| i64::from(pair as u32)).collect();
    (PyArray1::from_vec(py, rows), PyArray1::from_vec(py, numbers))
}

/// (row, document) of the rows of band keys with the documents in sorted pieces, sorted, each once.
#[pyfunction]
pub fn find_postings<'py>(
    py: Python<'py>, keys: PyReadonlyArray2<'py, u64>, pieces: Vec<Piece<'py>>,
) -> PyResult<Pairs<'py>> {
    let (bands, keys, pieces) = (keys.shape()[1], keys.as_slice()?, views(py, &pieces)?);
    Ok(split(py, py.detach(|| postings::search(keys, bands, &pieces))))
}

/// The blocks of a file that were read, for the next search.
#[pyclass(frozen, module = "benzer._native")]
pub struct Blocks {
    held: Mutex<postings::Blocks>,
}

impl Blocks {
    fn with<T>(&self, work: impl FnOnce(&mut postings::Blocks) -> T) -> T {
        work(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn runs(given: &[(u32, u32)]) -> Vec<Run> {
    given.iter().map(|&(number, parts)| Run { number, parts }).collect()
}

#[pymethods]
impl Blocks {
    #[new]
    fn new(room: usize) -> Self {
        Blocks { held: Mutex::new(postings::Blocks::new(room)) }
    }

    fn __len__(&self) -> usize {
        self.with(|blocks| blocks.len())
    }

    /// Forgets all.
    fn clear(&self) {
        self.with(postings::Blocks::clear);
    }

    /// The places of the blocks that a search needs and that are not held; runs are (number, parts).
    #[allow(clippy::needless_pass_by_value)]
    fn missing(&self, keys: PyReadonlyArray2<'_, u64>, runs: Vec<(u32, u32)>) -> PyResult<Vec<u64>> {
        let keys = keys.as_slice()?;
        Ok(self.with(|blocks| blocks.missing(keys, &self::runs(&runs))))
    }

    /// Takes in the blocks that were missing, (place, keys, numbers); a place without a row has no postings.
    #[allow(clippy::needless_pass_by_value)]
    fn put(&self, py: Python<'_>, missing: Vec<u64>, rows: Vec<BlockRow<'_>>) -> PyResult<()> {
        let rows: Vec<_> =
            rows.iter().map(|(place, keys, numbers)| (*place, keys.as_bytes(), numbers.as_bytes())).collect();
        if rows.iter().any(|(_, keys, numbers)| keys.len() != 2 * numbers.len() || keys.len() % 8 != 0) {
            return Err(error(py, "StoreFormatError", "a block has not as many keys as numbers".to_owned()));
        }
        self.with(|blocks| {
            missing.iter().for_each(|&place| blocks.put(place, &[], &[]));
            rows.iter().for_each(|(place, keys, numbers)| blocks.put(*place, keys, numbers));
        });
        Ok(())
    }

    /// `find_postings` in runs, whose missing blocks were put, and in further pieces.
    #[allow(clippy::needless_pass_by_value)]
    fn search<'py>(
        &self, py: Python<'py>, keys: PyReadonlyArray2<'py, u64>, runs: Vec<(u32, u32)>, pieces: Vec<Piece<'py>>,
    ) -> PyResult<Pairs<'py>> {
        let (bands, keys, pieces) = (keys.shape()[1], keys.as_slice()?, views(py, &pieces)?);
        let search = |blocks: &mut postings::Blocks| {
            let found = blocks.search(keys, bands, &self::runs(&runs), &pieces);
            blocks.trim();
            found
        };
        match self.with(search) {
            Ok(found) => Ok(split(py, found)),
            Err(missing) => {
                let message = format!("the block at {} was not handed over", missing.0);
                Err(error(py, "StorageError", message))
            }
        }
    }
}
