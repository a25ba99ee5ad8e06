//! Documents of text fields, as an index files, asks and compares them.

use crate::convert::{Threads, document_text, error, in_pool};
use crate::sketching::{check_bands, sketcher};
use crate::text::TextReader;
use benzer_core::question::{self, LACKING};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// Documents that one thread reads at a time, and up to which none is started.
const CHUNK: usize = 64;

type Keys<'py> = Bound<'py, PyArray2<u64>>;
/// The place of a document, how similar it is, and each of its fields.
type Found = (usize, f64, Vec<f64>);

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

/// The text of each field of a document; none for a field that it lacks.
fn texts<'a>(
    py: Python<'_>, values: &'a [Option<Bound<'_, PyAny>>], fields: usize, number: usize,
) -> PyResult<Vec<Option<Cow<'a, str>>>> {
    if values.len() != fields {
        let message = format!("a document has {fields} fields here, got {}", values.len());
        return Err(error(py, "SettingsError", message));
    }
    let text = |value: &'a Option<Bound<'_, PyAny>>| {
        value.as_ref().map(|value| document_text(value, &|| format!("text {number}"))).transpose()
    };
    values.iter().map(text).collect()
}

fn views<'a>(texts: &'a [Option<Cow<'_, str>>]) -> Vec<Option<&'a str>> {
    texts.iter().map(Option::as_deref).collect()
}

impl Rules {
    fn texts_of<'a>(
        &self, py: Python<'_>, documents: &'a [Vec<Option<Bound<'_, PyAny>>>],
    ) -> PyResult<Vec<Vec<Option<Cow<'a, str>>>>> {
        let read = |(number, values): (usize, &'a Vec<_>)| texts(py, values, self.rules.readers.len(), number);
        documents.iter().enumerate().map(read).collect()
    }
}

#[pymethods]
impl Rules {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>, readers: Vec<PyRef<'_, TextReader>>, weights: Vec<f64>, algorithm: &str, family: &str,
        num_hashes: usize, seed: u64, bands: usize, rows: usize,
    ) -> PyResult<Self> {
        check_bands(py, bands, rows, num_hashes)?;
        if readers.is_empty() || readers.len() != weights.len() {
            return Err(error(py, "SettingsError", "each field has a reader and a weight".to_owned()));
        }
        let readers = readers.iter().map(|reader| reader.shared()).collect();
        let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
        Ok(Rules { rules: Arc::new(question::Rules { readers, weights, sketcher, bands, rows }) })
    }

    /// Reads documents, each given by the text of each field.
    #[allow(clippy::needless_pass_by_value)]
    fn ask(
        &self, py: Python<'_>, documents: Vec<Vec<Option<Bound<'_, PyAny>>>>, threads: Threads,
    ) -> PyResult<Vec<Question>> {
        let read = self.texts_of(py, &documents)?;
        let all: Vec<Vec<Option<&str>>> = read.iter().map(|texts| views(texts)).collect();
        let ask = |document: &Vec<Option<&str>>| self.rules.ask(document);
        let questions: Vec<_> = if all.len() <= CHUNK || threads == Threads::ONE {
            py.detach(|| all.iter().map(ask).collect())
        } else {
            in_pool(py, threads, || all.par_iter().map(ask).collect())?
        };
        Ok(questions.into_iter().map(|question| Question { rules: Arc::clone(&self.rules), question }).collect())
    }

    /// Documents as they are kept (bytes), and their band keys (uint64, n x (fields * bands)).
    fn file<'py>(
        &self, py: Python<'py>, documents: Vec<Vec<Option<Bound<'py, PyAny>>>>, threads: Threads,
    ) -> PyResult<(Bound<'py, PyList>, Keys<'py>)> {
        let (read, width) = (self.texts_of(py, &documents)?, self.rules.width());
        let mut keys = vec![0; documents.len() * width];
        let all: Vec<Vec<Option<&str>>> = read.iter().map(|texts| views(texts)).collect();
        if all.len() <= CHUNK || threads == Threads::ONE {
            py.detach(|| self.rules.keys(&all, &mut keys));
        } else {
            let parts = all.par_chunks(CHUNK).zip(keys.par_chunks_mut(CHUNK * width));
            in_pool(py, threads, || parts.for_each(|(documents, out)| self.rules.keys(documents, out)))?;
        }
        let mut data = Vec::new();
        let kept = all.iter().map(|texts| {
            data.clear();
            for text in texts {
                data.extend(text.map_or(LACKING, |text| text.len() as u32).to_le_bytes());
                data.extend(text.unwrap_or_default().as_bytes());
            }
            PyBytes::new(py, &data)
        });
        Ok((PyList::new(py, kept.collect::<Vec<_>>())?, PyArray1::from_vec(py, keys).reshape([all.len(), width])?))
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
        match py.detach(|| self.rules.best(&self.question, &kept, least, limit)) {
            Ok(found) => Ok(found.into_iter().map(|one| (one.place, one.similarity, one.fields)).collect()),
            Err(fault) => {
                let message = format!("candidate {} is not a document of these fields: restore a copy", fault.0);
                Err(error(py, "StoreFormatError", message))
            }
        }
    }
}
