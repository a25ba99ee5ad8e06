//! Signatures and band keys.

use crate::convert::{Threads, error, in_pool};
use crate::hashing::family_by_name;
use crate::text::{TextReader, collect_texts};
use benzer_core::bands;
use benzer_core::corpus::{TextScratch, sketch_text};
use benzer_core::isa::{self as levels, Level, Task};
use benzer_core::minhash::{self, Algorithm, Scratch, Sketcher};
use benzer_core::text::Reader;
use benzer_core::watch;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

const CHUNK: usize = 256;

/// Hashes times values that one thread sketches in 0.3 s at most, by any algorithm: nobody need ask it to stop.
const SHORT: usize = 1 << 28;

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

/// Sets one after the other, where Python keeps them: set i is `hashes[offsets[i]..offsets[i + 1]]`, in any order.
#[derive(Clone, Copy)]
struct SetsView<'a> {
    offsets: &'a [i64],
    hashes: &'a [u64],
}

impl<'a> SetsView<'a> {
    fn new(py: Python<'_>, offsets: &'a [i64], hashes: &'a [u64]) -> PyResult<Self> {
        let fits = offsets.first() == Some(&0) && offsets.last() == Some(&(hashes.len() as i64)) && offsets.is_sorted();
        if !fits {
            let message = format!("offsets must rise from 0 to the number of hashes, {}", hashes.len());
            return Err(error(py, "SettingsError", message));
        }
        Ok(SetsView { offsets, hashes })
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, at: usize) -> &'a [u64] {
        &self.hashes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}

struct SketchSets<'a> {
    sketcher: &'a Sketcher,
    sets: SetsView<'a>,
    hashed: bool,
    first: usize,
    out: &'a mut [u32],
}

impl Task for SketchSets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let mut scratch = Scratch::default();
        for (i, out) in self.out.chunks_mut(self.sketcher.num_hashes()).enumerate() {
            let set = self.sets.get(self.first + i);
            if self.hashed {
                // SAFETY: this runs at level L, so the machine offers it.
                unsafe { self.sketcher.sketch_level::<L>(set, &mut scratch, out) };
            } else {
                // SAFETY: as above.
                unsafe { self.sketcher.sketch_integers_level::<L>(set, &mut scratch, out) };
            }
        }
    }
}

/// Texts to sketch, and space for as many signatures.
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
        let mut scratch = TextScratch::default();
        for (text, out) in self.texts.zip(self.out.chunks_mut(self.sketcher.num_hashes())) {
            sketch_text::<L>(self.sketcher, self.reader, text.as_ref(), &mut scratch, out);
        }
    }
}

/// The signatures of sets of shingle hashes, or of integers that are not `hashed`.
#[pyfunction]
#[pyo3(signature = (algorithm, family, offsets, hashes, num_hashes, seed, threads, hashed = true))]
#[allow(clippy::too_many_arguments)]
pub fn signatures<'py>(
    py: Python<'py>, algorithm: &str, family: &str, offsets: PyReadonlyArray1<'py, i64>,
    hashes: PyReadonlyArray1<'py, u64>, num_hashes: usize, seed: u64, threads: Threads, hashed: bool,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
    let sets = SetsView::new(py, offsets.as_slice()?, hashes.as_slice()?)?;
    let mut out = vec![0; sets.len() * num_hashes];
    let sketch = |first: usize, out: &mut [u32]| {
        watch::look();
        levels::run(SketchSets { sketcher: &sketcher, sets, hashed, first, out });
    };
    let short = threads == Threads::ONE && hashes.as_slice()?.len().saturating_mul(num_hashes) < SHORT;
    if sets.len() <= CHUNK || short {
        // A search asks for one signature: starting a pool would take ten times as long as making it.
        py.detach(|| sketch(0, &mut out));
    } else {
        let chunks = out.par_chunks_mut(CHUNK * num_hashes).enumerate();
        in_pool(py, threads, || chunks.for_each(|(chunk, out)| sketch(chunk * CHUNK, out)))?;
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

/// Rows handled by one thread at a time.
const ROWS: usize = 1024;

/// The signatures of the unions of rows.
struct Merge<'a> {
    algorithm: Algorithm,
    width: usize,
    sides: [&'a [u32]; 2],
    out: &'a mut [u32],
}

impl Task for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let rows = self.sides[0].chunks(self.width).zip(self.sides[1].chunks(self.width));
        for ((a, b), out) in rows.zip(self.out.chunks_mut(self.width)) {
            minhash::merge(self.algorithm, a, b, out);
        }
    }
}

/// The signatures of the unions, row by row.
#[pyfunction]
pub fn merge_signatures<'py>(
    py: Python<'py>, algorithm: &str, a: PyReadonlyArray2<'py, u32>, b: PyReadonlyArray2<'py, u32>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (algorithm, width) = (by_name(py, algorithm)?, same_shape(py, &a, &b)?);
    let mut out = vec![0; a.len()];
    let sides = [a.as_slice()?, b.as_slice()?];
    py.detach(|| levels::run(Merge { algorithm, width, sides, out: &mut out }));
    matrix(py, out, width)
}

/// The estimated similarities of rows.
struct Estimate<'a> {
    algorithm: Algorithm,
    width: usize,
    sides: [&'a [u32]; 2],
}

impl Task for Estimate<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<L: Level>(self) -> Vec<f64> {
        let rows = self.sides[0].chunks(self.width).zip(self.sides[1].chunks(self.width));
        rows.map(|(a, b)| minhash::estimate(self.algorithm, a, b)).collect()
    }
}

/// The estimated similarity, row by row.
#[pyfunction]
pub fn estimate<'py>(
    py: Python<'py>, algorithm: &str, a: PyReadonlyArray2<'py, u32>, b: PyReadonlyArray2<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (algorithm, width) = (by_name(py, algorithm)?, same_shape(py, &a, &b)?);
    let sides = [a.as_slice()?, b.as_slice()?];
    Ok(PyArray1::from_vec(py, py.detach(|| levels::run(Estimate { algorithm, width, sides }))))
}

fn same_shape(py: Python<'_>, a: &PyReadonlyArray2<'_, u32>, b: &PyReadonlyArray2<'_, u32>) -> PyResult<usize> {
    if a.shape() != b.shape() || a.shape()[1] == 0 {
        let message = format!("signatures must have one shape, got {:?} and {:?}", a.shape(), b.shape());
        return Err(error(py, "SettingsError", message));
    }
    Ok(a.shape()[1])
}

/// The band keys of signatures.
struct BandKeys<'a> {
    signatures: &'a [u32],
    width: usize,
    shape: [usize; 2],
    field: u64,
    out: &'a mut [u64],
}

impl Task for BandKeys<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let [bands, rows] = self.shape;
        for (signature, keys) in self.signatures.chunks(self.width).zip(self.out.chunks_mut(bands)) {
            bands::band_keys(signature, bands, rows, self.field, keys);
        }
    }
}

/// The band keys of signatures, on all cores.
#[pyfunction]
pub fn band_keys<'py>(
    py: Python<'py>, signatures: PyReadonlyArray2<'py, u32>, bands: usize, rows: usize, field: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let [count, width] = [signatures.shape()[0], signatures.shape()[1]];
    check_bands(py, bands, rows, width)?;
    let mut keys = vec![0; count * bands];
    let signatures = signatures.as_slice()?;
    let make = |(signatures, out): (&[u32], &mut [u64])| {
        levels::run(BandKeys { signatures, width, shape: [bands, rows], field: field as u64, out });
    };
    if count <= ROWS {
        py.detach(|| make((signatures, &mut keys)));
    } else {
        let chunks = signatures.par_chunks(ROWS * width).zip(keys.par_chunks_mut(ROWS * bands));
        in_pool(py, Threads::ALL, || chunks.for_each(make))?;
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
