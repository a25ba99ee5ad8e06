//! Documents as an index files, asks and compares them.

use crate::contents::{GivenArrays, Overlaps, StoredReader, field_readers, given_sets, stored};
use crate::convert::{Threads, error, in_pool, value_set};
use crate::sketching::{check_bands, sketcher};
use benzer_core::contents::{FieldReader, Malformed};
use benzer_core::jaccard::Sets;
use benzer_core::question::{self, LACKING, Match};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// Documents that one thread reads at a time, and up to which none is started.
const CHUNK: usize = 64;

type Keys<'py> = Bound<'py, PyArray2<u64>>;
/// The place of a document, how similar it is, and each of its fields; none if it has one, of the same similarity.
type Found = (usize, f64, Option<Vec<f64>>);
/// The content of each field of some documents, none where one lacks it.
type Contents<'a> = Vec<Vec<Option<Cow<'a, [u8]>>>>;

/// How documents are read, filed and compared.
#[pyclass(frozen, module = "benzer._native")]
pub struct Rules {
    rules: Arc<question::Rules>,
}

/// A document that was read, to compare others with it.
#[pyclass(frozen, module = "benzer._native")]
pub struct Question {
    rules: Arc<question::Rules>,
    question: question::Question,
}

fn views<'a>(contents: &'a Contents<'_>) -> Vec<Vec<Option<&'a [u8]>>> {
    contents.iter().map(|fields| fields.iter().map(Option::as_deref).collect()).collect()
}

/// The part of given sets that belongs to some documents.
fn part(given: &[Option<Sets>], start: usize, count: usize) -> Vec<Option<Sets>> {
    let cut = |sets: &Sets| {
        let offsets = &sets.offsets[start..=start + count];
        let first = offsets[0];
        Sets {
            offsets: offsets.iter().map(|offset| offset - first).collect(),
            hashes: sets.hashes[first..offsets[count]].to_vec(),
        }
    };
    given.iter().map(|sets| sets.as_ref().map(cut)).collect()
}

fn references(given: &[Option<Sets>]) -> Vec<Option<&Sets>> {
    given.iter().map(Option::as_ref).collect()
}

/// Whether a content is a collection of values, and not stored bytes.
fn takes_values(reader: &FieldReader, content: &Bound<'_, PyAny>) -> bool {
    matches!(reader, FieldReader::Values) && !content.is_instance_of::<PyBytes>()
}

/// The set of each collection of values; an empty one where there is none.
fn value_sets<'a, 'py: 'a>(column: impl Iterator<Item = Option<&'a Bound<'py, PyAny>>>) -> PyResult<Sets> {
    let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
    for values in column {
        if let Some(values) = values {
            sets.hashes.extend(value_set(values)?);
        }
        sets.offsets.push(sets.hashes.len());
    }
    Ok(sets)
}

impl Rules {
    /// The contents of documents, and the sets of their fields that are not to be read, of `given` or of values.
    fn contents<'a>(
        &self, py: Python<'_>, documents: &'a [Vec<Option<Bound<'_, PyAny>>>], given: &GivenArrays<'_>,
    ) -> PyResult<(Contents<'a>, Vec<Option<Sets>>)> {
        let readers = &self.rules.readers;
        let mut sets = given_sets(py, given, readers, documents.len())?;
        let mut contents = Vec::with_capacity(documents.len());
        for (number, values) in documents.iter().enumerate() {
            if values.len() != readers.len() {
                let message = format!("a document has {} fields here, got {}", readers.len(), values.len());
                return Err(error(py, "SettingsError", message));
            }
            let content = |(field, value): (usize, &'a Option<Bound<'_, PyAny>>)| match value {
                None => Ok(None),
                Some(values) if takes_values(&readers[field], values) => Ok(Some(Cow::Borrowed(&b""[..]))),
                Some(value) => stored(value, &readers[field], &|| format!("text {number}")).map(Some),
            };
            contents.push(values.iter().enumerate().map(content).collect::<PyResult<Vec<_>>>()?);
        }
        for (field, reader) in readers.iter().enumerate() {
            let column = || documents.iter().map(|values| values[field].as_ref());
            if column().flatten().any(|values| takes_values(reader, values)) {
                sets[field] = Some(value_sets(column())?);
            }
        }
        Ok((contents, sets))
    }

    /// Runs `work` on each part of some documents, with its given sets.
    fn in_parts<T: Send>(
        &self, py: Python<'_>, threads: Threads, documents: &[Vec<Option<&[u8]>>], given: &[Option<Sets>],
        work: impl Fn(question::Documents<'_>, question::Given<'_>) -> Result<T, Malformed> + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let found = if documents.len() <= CHUNK || threads == Threads::ONE {
            py.detach(|| work(documents, &references(given)).map(|one| vec![one]))
        } else {
            let one = |(number, documents): (usize, &[Vec<Option<&[u8]>>])| {
                let start = number * CHUNK;
                work(documents, &references(&part(given, start, documents.len())))
            };
            in_pool(py, threads, || documents.par_chunks(CHUNK).enumerate().map(one).collect())?
        };
        found.map_err(|fault| candidate(py, fault))
    }
}

/// The error of a document that is not stored as it must be.
fn candidate(py: Python<'_>, Malformed(place): Malformed) -> PyErr {
    let message = format!("candidate {place} is not a document of these fields: restore a copy");
    error(py, "StoreFormatError", message)
}

#[pymethods]
impl Rules {
    #[new]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
    fn new(
        py: Python<'_>, readers: Vec<StoredReader<'_>>, weights: Vec<f64>, algorithm: &str, family: &str,
        num_hashes: usize, seed: u64, bands: usize, rows: usize,
    ) -> PyResult<Self> {
        check_bands(py, bands, rows, num_hashes)?;
        if readers.is_empty() || readers.len() != weights.len() {
            return Err(error(py, "SettingsError", "each field has a reader and a weight".to_owned()));
        }
        let readers = field_readers(py, &readers)?;
        let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
        Ok(Rules { rules: Arc::new(question::Rules { readers, weights, sketcher, bands, rows }) })
    }

    /// Reads documents, each given by the text, the values or the stored content of each field.
    #[pyo3(signature = (documents, threads, given = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn ask(
        &self, py: Python<'_>, documents: Vec<Vec<Option<Bound<'_, PyAny>>>>, threads: Threads, given: GivenArrays<'_>,
    ) -> PyResult<Vec<Question>> {
        let (contents, given) = self.contents(py, &documents, &given)?;
        let questions =
            self.in_parts(py, threads, &views(&contents), &given, |documents, given| self.rules.ask(documents, given))?;
        let questions = questions.into_iter().flatten();
        Ok(questions.map(|question| Question { rules: Arc::clone(&self.rules), question }).collect())
    }

    /// Documents as they are kept (bytes), and their band keys (uint64, n x (fields * bands)).
    #[pyo3(signature = (documents, threads, given = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn file<'py>(
        &self, py: Python<'py>, documents: Vec<Vec<Option<Bound<'py, PyAny>>>>, threads: Threads,
        given: GivenArrays<'py>,
    ) -> PyResult<(Bound<'py, PyList>, Keys<'py>)> {
        let (contents, given) = self.contents(py, &documents, &given)?;
        let width = self.rules.width();
        let parts = self.in_parts(py, threads, &views(&contents), &given, |documents, given| {
            let mut keys = vec![0; documents.len() * width];
            self.rules.keys(documents, given, &mut keys).map(|()| keys)
        })?;
        let mut data = Vec::new();
        let kept = contents.iter().map(|contents| {
            data.clear();
            for content in contents {
                data.extend(content.as_ref().map_or(LACKING, |content| content.len() as u32).to_le_bytes());
                data.extend_from_slice(content.as_deref().unwrap_or_default());
            }
            PyBytes::new(py, &data)
        });
        let keys = PyArray1::from_vec(py, parts.concat()).reshape([contents.len(), width])?;
        Ok((PyList::new(py, kept.collect::<Vec<_>>())?, keys))
    }
}

#[pymethods]
impl Question {
    /// The band keys (uint64, 1 x (fields * bands)).
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Keys<'py>> {
        PyArray1::from_slice(py, &self.question.keys).reshape([1, self.question.keys.len()])
    }

    /// The best of documents as they are kept: at most `limit`, each at least as similar as `least`.
    fn best(
        &self, py: Python<'_>, kept: Vec<Bound<'_, PyBytes>>, least: f64, limit: Option<usize>,
    ) -> PyResult<Vec<Found>> {
        let kept: Vec<&[u8]> = kept.iter().map(|data| data.as_bytes()).collect();
        let limit = limit.unwrap_or(usize::MAX);
        let best = py.detach(|| self.rules.best(&self.question, &kept, least, limit));
        let found = best.map_err(|fault| candidate(py, fault))?;
        // The only field has the similarity of the documents, unless one of them lacks it.
        let fields = |one: &Match| (one.fields != [one.similarity]).then(|| one.fields.clone());
        Ok(found.iter().map(|one| (one.place, one.similarity, fields(one))).collect())
    }

    /// The similarity of each document as it is kept, then of each field (float64, n x (1 + fields)).
    fn similarities<'py>(
        &self, py: Python<'py>, kept: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.overlaps(py, kept, None)?.similarities(py, self.rules.weights.clone(), None)
    }

    /// The elements that stored documents (left) share with this one (right).
    #[pyo3(signature = (kept, given = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn overlaps(&self, py: Python<'_>, kept: Vec<Bound<'_, PyBytes>>, given: GivenArrays<'_>) -> PyResult<Overlaps> {
        let kept: Vec<&[u8]> = kept.iter().map(|data| data.as_bytes()).collect();
        let given = given_sets(py, &given, &self.rules.readers, kept.len())?;
        let found = py.detach(|| self.rules.overlaps(&self.question, &kept, &references(&given)));
        Ok(Overlaps { overlaps: found.map_err(|fault| candidate(py, fault))? })
    }
}
