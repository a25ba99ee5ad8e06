//! Signatures and band keys.

use crate::convert::{Threads, error, in_pool};
use crate::hashing::family_by_name;
use crate::joins::sets;
use crate::text::{TextReader, collect_texts};
use benzer_core::bands;
use benzer_core::isa::{self as levels, Level, Task};
use benzer_core::jaccard::Sets;
use benzer_core::minhash::{self, Algorithm, Scratch, Sketcher};
use benzer_core::text::{self, Reader};
use benzer_core::watch;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

const CHUNK: usize = 256;

/// A sketcher from settings.
pub fn sketcher(py: Python<'_>, algorithm: &str, family: &str, num_hashes: usize, seed: u64) -> PyResult<Sketcher> {
    let (algorithm, family) = (by_name(py, algorithm)?, family_by_name(py, family)?);
    let made = Sketcher::with_family(algorithm, family, num_hashes, seed);
    made.map_err(|message| error(py, "SettingsError", message))
}

fn by_name(py: Python<'_>, name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.into_iter().map(Algorithm::name).collect();
        error(py, "SettingsError", format!("minhash algorithm must be one of {}, got '{name}'", names.join(", ")))
    })
}

/// A matrix with rows of `width` values.
pub fn matrix<T: numpy::Element>(py: Python<'_>, values: Vec<T>, width: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = values.len() / width;
    PyArray1::from_vec(py, values).reshape([count, width])
}

struct SketchSets<'a> {
    sketcher: &'a Sketcher,
    sets: &'a Sets,
    first: usize,
    out: &'a mut [u32],
}

impl Task for SketchSets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let mut scratch = Scratch::default();
        for (i, out) in self.out.chunks_mut(self.sketcher.num_hashes()).enumerate() {
            // SAFETY: this runs at level L, so the machine offers it.
            unsafe { self.sketcher.sketch_level::<L>(self.sets.get(self.first + i), &mut scratch, out) };
        }
    }
}

/// Texts to sketch, and room for as many signatures.
pub struct SketchTexts<'a, T> {
    /// Makes the signatures.
    pub sketcher: &'a Sketcher,
    /// Reads the texts.
    pub reader: &'a Reader,
    /// The texts.
    pub texts: T,
    /// A signature for each.
    pub out: &'a mut [u32],
}

impl<T: Iterator<Item: AsRef<str>>> Task for SketchTexts<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let (mut read, mut scratch) = (text::Scratch::default(), Scratch::default());
        for (text, out) in self.texts.zip(self.out.chunks_mut(self.sketcher.num_hashes())) {
            self.reader.read::<L>(text.as_ref(), &mut read);
            // SAFETY: this runs at level L, so the machine offers it.
            unsafe { self.sketcher.sketch_level::<L>(&read.shingles, &mut scratch, out) };
        }
    }
}

/// The signatures of sets of shingle hashes.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn signatures<'py>(
    py: Python<'py>, algorithm: &str, family: &str, offsets: PyReadonlyArray1<'py, i64>,
    hashes: PyReadonlyArray1<'py, u64>, num_hashes: usize, seed: u64, threads: Threads,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
    let sets = sets(py, &offsets, &hashes)?;
    let mut out = vec![0; (sets.offsets.len() - 1) * num_hashes];
    let chunk = |(i, out)| {
        watch::look();
        levels::run(SketchSets { sketcher: &sketcher, sets: &sets, first: i * CHUNK, out });
    };
    if sets.offsets.len() <= CHUNK {
        // A search asks for one signature: starting a pool would take ten times as long as making it.
        py.detach(|| chunk((0, &mut out[..])));
    } else {
        in_pool(py, threads, || out.par_chunks_mut(CHUNK * num_hashes).enumerate().for_each(chunk))?;
    }
    matrix(py, out, num_hashes)
}

/// The signatures of texts.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn text_signatures<'py>(
    py: Python<'py>, reader: &TextReader, texts: &Bound<'py, PyAny>, algorithm: &str, family: &str, num_hashes: usize,
    seed: u64, threads: Threads,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
    let (texts, reader) = (collect_texts(texts)?, reader.shared());
    let mut out = vec![0; texts.len() * num_hashes];
    let sketch = |(texts, out): (&[String], &mut [u32])| {
        watch::look();
        let texts = texts.iter();
        levels::run(SketchTexts { sketcher: &sketcher, reader: &reader, texts, out });
    };
    if texts.len() <= CHUNK {
        py.detach(|| sketch((&texts[..], &mut out[..])));
    } else {
        let chunks = || texts.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK * num_hashes)).for_each(sketch);
        in_pool(py, threads, chunks)?;
    }
    matrix(py, out, num_hashes)
}

/// The signatures of the unions, row by row.
#[pyfunction]
pub fn merge_signatures<'py>(
    py: Python<'py>, algorithm: &str, a: PyReadonlyArray2<'py, u32>, b: PyReadonlyArray2<'py, u32>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (algorithm, width) = (by_name(py, algorithm)?, same_shape(py, &a, &b)?);
    let mut out = vec![0; a.len()];
    let rows = a.as_slice()?.chunks(width).zip(b.as_slice()?.chunks(width)).zip(out.chunks_mut(width));
    rows.for_each(|((a, b), out)| minhash::merge(algorithm, a, b, out));
    matrix(py, out, width)
}

/// The estimated similarity, row by row.
#[pyfunction]
pub fn estimate<'py>(
    py: Python<'py>, algorithm: &str, a: PyReadonlyArray2<'py, u32>, b: PyReadonlyArray2<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (algorithm, width) = (by_name(py, algorithm)?, same_shape(py, &a, &b)?);
    let rows = a.as_slice()?.chunks(width).zip(b.as_slice()?.chunks(width));
    Ok(PyArray1::from_vec(py, rows.map(|(a, b)| minhash::estimate(algorithm, a, b)).collect()))
}

fn same_shape(py: Python<'_>, a: &PyReadonlyArray2<'_, u32>, b: &PyReadonlyArray2<'_, u32>) -> PyResult<usize> {
    if a.shape() != b.shape() || a.shape()[1] == 0 {
        let message = format!("signatures must have one shape, got {:?} and {:?}", a.shape(), b.shape());
        return Err(error(py, "SettingsError", message));
    }
    Ok(a.shape()[1])
}

/// The band keys of signatures.
#[pyfunction]
pub fn band_keys<'py>(
    py: Python<'py>, signatures: PyReadonlyArray2<'py, u32>, bands: usize, rows: usize, field: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let width = signatures.shape()[1];
    check_bands(py, bands, rows, width)?;
    let mut keys = vec![0; signatures.shape()[0] * bands];
    let signatures = signatures.as_slice()?.chunks(width);
    for (signature, keys) in signatures.zip(keys.chunks_mut(bands)) {
        bands::band_keys(signature, bands, rows, field as u64, keys);
    }
    matrix(py, keys, bands)
}

/// Fails where bands and rows do not fit the signature.
pub fn check_bands(py: Python<'_>, bands: usize, rows: usize, num_hashes: usize) -> PyResult<()> {
    if bands == 0 || rows == 0 || bands.saturating_mul(rows) > num_hashes {
        let message = format!("{bands} bands of {rows} rows do not fit signatures of {num_hashes} values");
        return Err(error(py, "SettingsError", message));
    }
    Ok(())
}
