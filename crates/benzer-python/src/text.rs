//! Reading texts and value sets.

use crate::convert::{self, Threads, error};
use benzer_core::hash::strings::StringHash;
use benzer_core::isa::{self as levels, Isa, Level, Task};
use benzer_core::jaccard::{Sets, sort_distinct};
use benzer_core::text::{Case, Form, Reader, Recipe, Scratch, Tokenizer, UNICODE_VERSION, Unit};
use benzer_core::watch;
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// Sets in Python's form: where each starts (int64, n + 1), and their hashes (uint64).
pub type SetArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>);

/// The instruction-set levels of this machine, lowest first.
#[pyfunction]
pub fn available_isas() -> Vec<&'static str> {
    Isa::available().into_iter().map(Isa::name).collect()
}

/// The level in use.
#[pyfunction]
pub fn isa() -> &'static str {
    levels::current().name()
}

/// Uses another level, for tests; `None` the best there is.
#[pyfunction]
#[pyo3(signature = (name))]
pub fn set_isa(py: Python<'_>, name: Option<&str>) -> PyResult<()> {
    let chosen = name.map(|name| Isa::from_name(name).ok_or(name)).transpose();
    if !chosen.is_ok_and(levels::set) {
        let names = available_isas().join(", ");
        return Err(error(py, "SettingsError", format!("isa must be one of {names}, got {}", name.unwrap_or("none"))));
    }
    Ok(())
}

/// The Unicode version of the tokenizer's tables.
#[pyfunction]
pub fn unicode_version() -> &'static str {
    UNICODE_VERSION
}

/// Reads texts by one recipe.
#[pyclass(frozen, module = "benzer._native")]
pub struct TextReader {
    pub recipe: Recipe,
    pub stop_words: Vec<String>,
    reader: Arc<Reader>,
}

impl TextReader {
    /// A reader of the core's own, for a corpus.
    pub fn make(&self) -> Reader {
        Reader::new(self.recipe, &self.stop_words)
    }

    /// The reader to share.
    pub fn shared(&self) -> Arc<Reader> {
        Arc::clone(&self.reader)
    }
}

fn choice<T: Copy>(py: Python<'_>, what: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|choice| choice.0 == name);
    found.map(|choice| choice.1).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
        error(py, "SettingsError", format!("{what} must be one of {}, got '{name}'", names.join(", ")))
    })
}

#[pymethods]
impl TextReader {
    #[new]
    #[pyo3(signature = (
        *, unit, shingle_size, tokenizer, normalize, case, punctuation, whitespace, stop_words,
        shingle_hash = "benzer", hash_bytes = 8, frequencies = false
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>, unit: &str, shingle_size: usize, tokenizer: &str, normalize: &str, case: &str,
        punctuation: &str, whitespace: &str, stop_words: &Bound<'_, PyAny>, shingle_hash: &str, hash_bytes: usize,
        frequencies: bool,
    ) -> PyResult<Self> {
        let stop_words = collect_texts(stop_words)?;
        if !(1..=64).contains(&shingle_size) {
            return Err(error(py, "SettingsError", format!("shingle_size must be in 1..64, got {shingle_size}")));
        }
        if hash_bytes != 4 && hash_bytes != 8 {
            return Err(error(py, "SettingsError", format!("hash_bytes must be 4 or 8, got {hash_bytes}")));
        }
        let keep = [("keep", true), ("drop", false)];
        let recipe = Recipe {
            unit: choice(py, "unit", unit, &[("word", Unit::Word), ("char", Unit::Char)])?,
            shingle_size,
            tokenizer: choice(
                py,
                "tokenizer",
                tokenizer,
                &[("unified", Tokenizer::Unified), ("alnum", Tokenizer::Alnum)],
            )?,
            form: choice(
                py,
                "normalize",
                normalize,
                &[("nfkc", Form::Nfkc), ("nfc", Form::Nfc), ("none", Form::None)],
            )?,
            case: choice(py, "case", case, &[("fold", Case::Fold), ("lower", Case::Lower), ("keep", Case::Keep)])?,
            keep_punctuation: choice(py, "punctuation", punctuation, &keep)?,
            keep_whitespace: choice(py, "whitespace", whitespace, &[("keep", true), ("fold", false)])?,
            shingle_hash: choice(py, "shingle_hash", shingle_hash, &StringHash::ALL.map(|hash| (hash.name(), hash)))?,
            four_bytes: hash_bytes == 4,
            frequencies,
        };
        let reader = Arc::new(Reader::new(recipe, &stop_words));
        Ok(TextReader { recipe, stop_words, reader })
    }

    /// The tokens of a text, in order.
    fn tokens(&self, text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(self.reader.tokens(&convert::document_text(text, &|| "the text".to_owned())?))
    }

    /// The shingles of a text, in order, with repeats.
    fn shingles(&self, text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(self.reader.shingles(&convert::document_text(text, &|| "the text".to_owned())?))
    }

    /// The hashes of the shingles, in the same order.
    fn shingle_hashes<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let text = convert::document_text(text, &|| "the text".to_owned())?;
        let hashes = levels::run(ReadOne { reader: &self.reader, text: &text });
        Ok(PyArray1::from_vec(py, hashes))
    }

    /// The set of shingle hashes of each text.
    #[pyo3(signature = (texts, threads = Threads::ONE))]
    fn sets<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>, threads: Threads) -> PyResult<SetArrays<'py>> {
        let texts = collect_texts(texts)?;
        let make = |texts| {
            watch::look();
            levels::run(ReadSets { reader: &self.reader, texts })
        };
        let sets = if texts.len() < 8 || threads == Threads::ONE {
            py.detach(|| make(&texts))
        } else {
            convert::in_pool(py, threads, || Sets::concatenate(texts.par_chunks(64).map(make).collect()))?
        };
        Ok(set_arrays(py, sets))
    }
}

/// The texts of a Python sequence.
pub fn collect_texts(texts: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let mut collected = Vec::new();
    for (i, item) in texts.try_iter()?.enumerate() {
        let item = item?;
        collected.push(convert::document_text(&item, &|| format!("text {i}"))?.into_owned());
    }
    Ok(collected)
}

/// Sets as arrays.
pub fn set_arrays(py: Python<'_>, sets: Sets) -> SetArrays<'_> {
    let offsets = sets.offsets.into_iter().map(|offset| offset as i64).collect();
    (PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, sets.hashes))
}

struct ReadOne<'a> {
    reader: &'a Reader,
    text: &'a str,
}

impl Task for ReadOne<'_> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run<L: Level>(self) -> Vec<u64> {
        let mut scratch = Scratch::default();
        self.reader.read::<L>(self.text, &mut scratch);
        scratch.shingles
    }
}

struct ReadSets<'a> {
    reader: &'a Reader,
    texts: &'a [String],
}

impl Task for ReadSets<'_> {
    type Output = Sets;

    #[inline(always)]
    fn run<L: Level>(self) -> Sets {
        let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
        let (mut scratch, mut spare) = (Scratch::default(), Vec::new());
        for text in self.texts {
            self.reader.read::<L>(text, &mut scratch);
            sort_distinct(&mut scratch.shingles, &mut spare);
            sets.hashes.extend_from_slice(&scratch.shingles);
            sets.offsets.push(sets.hashes.len());
        }
        sets
    }
}

/// The hash of one value of a value set.
#[pyfunction]
pub fn value_set_hash(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    convert::value(value)
}

/// The set of hashes of each collection of values.
#[pyfunction]
pub fn value_sets<'py>(py: Python<'py>, values: &Bound<'py, PyAny>) -> PyResult<SetArrays<'py>> {
    let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
    for item in values.try_iter()? {
        sets.hashes.extend(convert::value_set(&item?)?);
        sets.offsets.push(sets.hashes.len());
    }
    Ok(set_arrays(py, sets))
}
