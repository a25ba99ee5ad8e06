//! Columns of Arrow tables, which are not copied.

use crate::convert::{Flags, Threads, error, in_pool};
use crate::sketching::{SketchTexts, matrix, sketcher};
use crate::text::TextReader;
use benzer_core::corpus::{MAX_TEXT, SharedBytes, TextColumn};
use benzer_core::isa as levels;
use benzer_core::watch;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Texts sketched by one thread at a time.
const CHUNK: usize = 256;

/// Which values of a column are not null; without a mask, all of them.
pub type Mask = Option<Flags>;
/// A column of texts: offsets, bytes, mask.
pub type TextArrays<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u8>, Mask);

/// Ids as columns.
#[derive(FromPyObject)]
pub enum IdArrays<'py> {
    Texts(TextArrays<'py>),
    Integers(PyReadonlyArray1<'py, i64>, Mask),
}

/// The bytes of an array of Python's, which is kept alive.
pub struct SharedArray {
    _array: Py<PyArray1<u8>>,
    start: *const u8,
    len: usize,
}

// SAFETY: the bytes are only read, by any thread; the array itself is touched only to be dropped, which pyo3 puts off
// until a thread holds the GIL.
unsafe impl Send for SharedArray {}
// SAFETY: as above.
unsafe impl Sync for SharedArray {}

impl SharedArray {
    /// Rejects arrays that are not contiguous, and writable ones.
    pub fn share(array: &PyReadonlyArray1<'_, u8>) -> PyResult<SharedBytes> {
        if array.getattr("flags")?.getattr("writeable")?.extract()? {
            return Err(error(array.py(), "SettingsError", "the data of a column must be read-only".to_owned()));
        }
        let bytes = array.as_slice()?;
        let (start, len) = (bytes.as_ptr(), bytes.len());
        Ok(Box::new(SharedArray { _array: (**array).clone().unbind(), start, len }))
    }
}

impl AsRef<[u8]> for SharedArray {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the array lives as long as this; its owner, an Arrow buffer, never changes.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A mask as the core takes it.
pub fn mask(valid: &Mask) -> Option<&[bool]> {
    valid.as_ref().map(|flags| &*flags.0)
}

/// A column of texts as the core takes it.
pub fn text_column<'a>(arrays: &'a TextArrays<'_>, data: SharedBytes) -> PyResult<TextColumn<'a>> {
    Ok(TextColumn { offsets: arrays.0.as_slice()?, data, valid: mask(&arrays.2) })
}

/// The signatures of a column of texts; that of a missing one is empty.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn column_signatures<'py>(
    py: Python<'py>, reader: &TextReader, texts: TextArrays<'py>, algorithm: &str, family: &str, num_hashes: usize,
    seed: u64, threads: Threads,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (sketcher, reader) = (sketcher(py, algorithm, family, num_hashes, seed)?, reader.shared());
    let (offsets, data, valid) = (texts.0.as_array().to_vec(), SharedArray::share(&texts.1)?, mask(&texts.2));
    let data = (*data).as_ref();
    let count = offsets.len().saturating_sub(1);
    if valid.is_some_and(|valid| valid.len() != count) {
        return Err(error(py, "InputError", format!("a mask of another length than the {count} texts")));
    }
    // The first text that is none; the others are sketched in vain.
    let faulty = AtomicUsize::new(usize::MAX);
    let text = |at: usize| {
        if valid.is_some_and(|valid| !valid[at]) {
            return "";
        }
        let bytes = usize::try_from(offsets[at]).ok().zip(usize::try_from(offsets[at + 1]).ok());
        let bytes = bytes.and_then(|(from, to)| data.get(from..to)).filter(|bytes| bytes.len() <= MAX_TEXT);
        let text = bytes.and_then(|bytes| simdutf8::basic::from_utf8(bytes).ok());
        text.unwrap_or_else(|| {
            faulty.fetch_min(at, Ordering::Relaxed);
            ""
        })
    };
    let mut out = vec![0; count * num_hashes];
    let chunk = |(number, out): (usize, &mut [u32])| {
        watch::look();
        let first = number * CHUNK;
        let texts = (first..first + out.len() / num_hashes).map(&text);
        levels::run(SketchTexts { sketcher: &sketcher, reader: &reader, texts, out });
    };
    in_pool(py, threads, || out.par_chunks_mut(CHUNK * num_hashes).enumerate().for_each(chunk))?;
    match faulty.into_inner() {
        usize::MAX => matrix(py, out, num_hashes),
        at => {
            let message = format!("text {at} of the column is not valid UTF-8, or its offsets leave the data");
            Err(error(py, "InputError", message))
        }
    }
}
