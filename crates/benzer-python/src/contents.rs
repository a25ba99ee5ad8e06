//! Stored contents of documents as sets, and what documents have in common.

use crate::convert::{Threads, document_text, error, in_pool};
use crate::joins::{check_positions, sets};
use crate::sketching::matrix;
use crate::text::{SetArrays, TextReader, set_arrays};
use benzer_core::contents::{self, ContentColumn, FieldReader, Malformed};
use benzer_core::jaccard::{FEW, Sets};
use benzer_core::similarity::{self, Overlap, Own, Weights};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::collections::HashMap;

/// What reads the stored content of a field: a text reader, "values", "cells", or "hashes" where its sets are passed.
#[derive(FromPyObject)]
pub enum StoredReader<'py> {
    Text(PyRef<'py, TextReader>),
    Named(String),
}

/// The readers of all fields.
pub fn field_readers(py: Python<'_>, readers: &[StoredReader<'_>]) -> PyResult<Vec<FieldReader>> {
    if readers.is_empty() {
        return Err(error(py, "SettingsError", "documents have at least one field".to_owned()));
    }
    let reader = |reader: &StoredReader<'_>| match reader {
        StoredReader::Text(reader) => Ok(FieldReader::Text(reader.shared())),
        StoredReader::Named(name) => match name.as_str() {
            "values" => Ok(FieldReader::Values),
            "cells" => Ok(FieldReader::Cells),
            "hashes" => Ok(FieldReader::Given),
            _ => {
                let message = format!("a field is read by a TextReader, values, cells or hashes, got {name:?}");
                Err(error(py, "SettingsError", message))
            }
        },
    };
    readers.iter().map(reader).collect()
}

/// The stored content of a field, or a text; `what` names it in errors.
pub fn stored<'a>(
    value: &'a Bound<'_, PyAny>, reader: &FieldReader, what: &dyn Fn() -> String,
) -> PyResult<Cow<'a, [u8]>> {
    if matches!(reader, FieldReader::Text(_)) {
        return Ok(match document_text(value, what)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        });
    }
    match value.cast::<PyBytes>() {
        Ok(data) => Ok(Cow::Borrowed(data.as_bytes())),
        Err(_) => {
            let kind = value.get_type().name()?;
            Err(error(value.py(), "InputError", format!("{} must be encoded as bytes, got {kind}", what())))
        }
    }
}

/// The stored contents of a field, none where a document lacks it.
fn stored_column<'a>(
    column: &'a [Option<Bound<'_, PyAny>>], reader: &FieldReader,
) -> PyResult<Vec<Option<Cow<'a, [u8]>>>> {
    let content = |(place, value): (usize, &'a Option<Bound<'_, PyAny>>)| {
        value.as_ref().map(|value| stored(value, reader, &|| format!("text {place}"))).transpose()
    };
    column.iter().enumerate().map(content).collect()
}

/// The error of a content that is not what its field stores.
fn malformed(py: Python<'_>, field: usize, Malformed(place): Malformed) -> PyErr {
    let message = format!("field {field} of document {place} cannot be decoded: restore a copy");
    error(py, "StoreFormatError", message)
}

type SetViews<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u64>);

/// The sets of fields by their number: offsets and hashes.
pub type GivenArrays<'py> = Option<HashMap<usize, SetViews<'py>>>;

/// For each field the sets of `count` documents, which must be there where the reader is to be given them.
pub fn given_sets(
    py: Python<'_>, arrays: &GivenArrays<'_>, readers: &[FieldReader], count: usize,
) -> PyResult<Vec<Option<Sets>>> {
    let one = |(field, reader): (usize, &FieldReader)| {
        if !matches!(reader, FieldReader::Given) {
            return Ok(None);
        }
        let passed = arrays.as_ref().and_then(|arrays| arrays.get(&field));
        let found = passed.map(|(offsets, hashes)| sets(py, offsets, hashes)).transpose()?;
        match found.filter(|sets| sets.offsets.len() == count + 1) {
            Some(sets) => Ok(Some(sets)),
            None => {
                Err(error(py, "SettingsError", format!("the sets of field {field} of {count} documents are required")))
            }
        }
    };
    readers.iter().enumerate().map(one).collect()
}

/// The similarities of fields by their number.
type OwnArrays<'py> = Option<HashMap<usize, PyReadonlyArray1<'py, f64>>>;

/// For each field its own similarity of each pair, if there is one.
fn own_values<'a>(py: Python<'_>, arrays: &'a OwnArrays<'_>, fields: usize, pairs: usize) -> PyResult<Vec<Own<'a>>> {
    let mut own = vec![None; fields];
    for (&field, values) in arrays.iter().flatten() {
        let values = values.as_slice()?;
        if field >= fields || values.len() != pairs {
            let message =
                format!("field {field} has {} similarities of {pairs} pairs of {fields} fields", values.len());
            return Err(error(py, "SettingsError", message));
        }
        own[field] = Some(values);
    }
    Ok(own)
}

/// The fields of some documents as sets.
#[pyclass(frozen, module = "benzer._native")]
pub struct Contents {
    pub contents: contents::Contents,
}

#[pymethods]
impl Contents {
    /// Reads columns of stored contents, one for each field; `given`: the sets of fields read elsewhere.
    #[new]
    #[pyo3(signature = (readers, columns, given = None, threads = Threads::ONE))]
    #[allow(clippy::needless_pass_by_value)]
    fn new(
        py: Python<'_>, readers: Vec<StoredReader<'_>>, columns: Vec<Vec<Option<Bound<'_, PyAny>>>>,
        given: GivenArrays<'_>, threads: Threads,
    ) -> PyResult<Self> {
        let readers = field_readers(py, &readers)?;
        let count = columns.first().map_or(0, Vec::len);
        if columns.len() != readers.len() || columns.iter().any(|column| column.len() != count) {
            let message = format!("{} fields need as many columns of one length", readers.len());
            return Err(error(py, "SettingsError", message));
        }
        let given = given_sets(py, &given, &readers, count)?;
        let mut read = Vec::with_capacity(readers.len());
        for (field, ((reader, column), given)) in readers.iter().zip(&columns).zip(given).enumerate() {
            let contents = stored_column(column, reader)?;
            let contents: Vec<Option<&[u8]>> = contents.iter().map(Option::as_deref).collect();
            let column = in_threads(py, threads, count, || ContentColumn::read(reader, &contents))?;
            let mut column = column.map_err(|fault| malformed(py, field, fault))?;
            column.sets = given.unwrap_or(column.sets);
            read.push(column);
        }
        Ok(Contents { contents: contents::Contents { columns: read } })
    }

    fn __len__(&self) -> usize {
        self.contents.len()
    }

    /// The sets of a field: offsets and hashes.
    fn sets<'py>(&self, py: Python<'py>, field: usize) -> PyResult<SetArrays<'py>> {
        let column = self.contents.columns.get(field);
        let column = column.ok_or_else(|| error(py, "SettingsError", format!("there is no field {field}")))?;
        let Sets { offsets, hashes } = &column.sets;
        Ok(set_arrays(py, Sets { offsets: offsets.clone(), hashes: hashes.clone() }))
    }

    /// The elements that pairs of these documents (left) and others (right) share.
    #[pyo3(signature = (others, left, right, threads = Threads::ONE))]
    fn overlaps(
        &self, py: Python<'_>, others: &Contents, left: PyReadonlyArray1<'_, u32>, right: PyReadonlyArray1<'_, u32>,
        threads: Threads,
    ) -> PyResult<Overlaps> {
        let (left, right) = (left.as_slice()?, right.as_slice()?);
        if self.contents.columns.len() != others.contents.columns.len() || left.len() != right.len() {
            let message = "documents of the same fields and as many left as right ends are compared".to_owned();
            return Err(error(py, "SettingsError", message));
        }
        check_positions(py, self.contents.len(), &[left])?;
        check_positions(py, others.contents.len(), &[right])?;
        let compare = || self.contents.overlaps(&others.contents, left, right);
        Ok(Overlaps { overlaps: in_threads(py, threads, left.len(), compare)? })
    }
}

/// Runs `work` in a pool, or by this thread where that is sooner done.
fn in_threads<T: Send>(py: Python<'_>, threads: Threads, count: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if count <= FEW { Ok(py.detach(work)) } else { in_pool(py, threads, work) }
}

/// The elements that pairs of documents share.
#[pyclass(frozen, module = "benzer._native")]
pub struct Overlaps {
    pub overlaps: similarity::Overlaps,
}

impl Overlaps {
    fn numbers<'py>(&self, py: Python<'py>, number: impl Fn(&Overlap) -> u32) -> PyResult<Bound<'py, PyArray2<u32>>> {
        matrix(py, self.overlaps.each.iter().map(number).collect(), self.overlaps.fields)
    }

    fn check_weights(&self, py: Python<'_>, weights: &[f64]) -> PyResult<()> {
        if weights.len() != self.overlaps.fields {
            let message = format!("{} fields need as many weights, got {}", self.overlaps.fields, weights.len());
            return Err(error(py, "SettingsError", message));
        }
        Ok(())
    }
}

#[pymethods]
impl Overlaps {
    fn __len__(&self) -> usize {
        self.overlaps.len()
    }

    /// The elements that both sets of each field have (uint32, pairs x fields).
    #[getter]
    fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.numbers(py, |overlap| overlap.shared)
    }

    /// The elements of each set on the left (uint32, pairs x fields).
    #[getter]
    fn left_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.numbers(py, |overlap| overlap.sizes[0])
    }

    /// The elements of each set on the right (uint32, pairs x fields).
    #[getter]
    fn right_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.numbers(py, |overlap| overlap.sizes[1])
    }

    /// In which pairs a field counts (bool): both documents hold it, and it is not empty in both.
    fn counted<'py>(&self, py: Python<'py>, field: usize) -> PyResult<Bound<'py, PyArray1<bool>>> {
        if field >= self.overlaps.fields {
            return Err(error(py, "SettingsError", format!("there is no field {field}")));
        }
        let each = self.overlaps.each.iter().skip(field).step_by(self.overlaps.fields);
        Ok(PyArray1::from_vec(py, each.map(Overlap::counts).collect()))
    }

    /// The similarity of each pair, then that of each field (float64, pairs x (1 + fields)).
    #[pyo3(signature = (weights, own = None))]
    #[allow(clippy::needless_pass_by_value)]
    pub fn similarities<'py>(
        &self, py: Python<'py>, weights: Vec<f64>, own: OwnArrays<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.check_weights(py, &weights)?;
        let own = own_values(py, &own, self.overlaps.fields, self.overlaps.len())?;
        matrix(py, self.overlaps.similarities(&Weights(&weights), &own), 1 + self.overlaps.fields)
    }

    /// How much of the left documents (or the right ones) the others have, then of each field.
    #[pyo3(signature = (weights, of_right = false))]
    #[allow(clippy::needless_pass_by_value)]
    fn containments<'py>(
        &self, py: Python<'py>, weights: Vec<f64>, of_right: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.check_weights(py, &weights)?;
        let side = usize::from(of_right);
        matrix(py, self.overlaps.containments(&Weights(&weights), side), 1 + self.overlaps.fields)
    }
}

/// The numbers of the elements of an image described by cells (uint32).
#[pyfunction]
pub fn cell_codes<'py>(py: Python<'py>, description: &[u8]) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let codes = contents::cells::codes(description);
    let codes = codes.ok_or_else(|| error(py, "InputError", "the description of an image is damaged".to_owned()))?;
    Ok(PyArray1::from_vec(py, codes))
}
