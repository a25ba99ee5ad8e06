//! Documents and tables on their way to files.

use crate::convert::{Flags, Threads, error, in_pool};
use crate::corpus::Corpus;
use benzer_core::corpus::{self as core, Cells};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A column of a table.
#[derive(FromPyObject)]
pub enum Column<'py> {
    /// A corpus and positions: the ids there.
    Ids(PyRef<'py, Corpus>, PyReadonlyArray1<'py, u32>),
    /// JSON texts and places among them.
    Named(Vec<String>, PyReadonlyArray1<'py, u32>),
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Whole(PyReadonlyArray1<'py, u64>),
    #[pyo3(transparent)]
    Flags(Flags),
}

impl Column<'_> {
    fn cells(&self, py: Python<'_>) -> PyResult<Cells<'_>> {
        let among = |count: usize, places: &[u32]| match places.iter().find(|&&place| place as usize >= count) {
            Some(place) => Err(error(py, "SettingsError", format!("no place {place}: there are {count}"))),
            None => Ok(()),
        };
        Ok(match self {
            Column::Ids(corpus, positions) => {
                among(corpus.inner.len(), positions.as_slice()?)?;
                Cells::Ids(&corpus.inner, positions.as_slice()?)
            }
            Column::Named(names, places) => {
                among(names.len(), places.as_slice()?)?;
                Cells::Named(names, places.as_slice()?)
            }
            Column::Numbers(cells) => Cells::Numbers(cells.as_slice()?),
            Column::Whole(cells) => Cells::Whole(cells.as_slice()?),
            Column::Flags(cells) => Cells::Flags(&cells.0),
        })
    }
}

/// Fills an existing file with the rows of a table as JSON lines; each column stands under its name as JSON text.
#[pyfunction]
pub fn write_json_lines(
    py: Python<'_>, path: PathBuf, columns: Vec<(String, Column<'_>)>, threads: Threads,
) -> PyResult<()> {
    let cells = columns.iter().map(|(name, column)| Ok((name.clone(), column.cells(py)?)));
    let cells: Vec<(String, Cells<'_>)> = cells.collect::<PyResult<_>>()?;
    if cells.iter().any(|(_, one)| one.len() != cells[0].1.len()) {
        return Err(error(py, "SettingsError", "columns of a table must have one length".to_owned()));
    }
    let written = in_pool(py, threads, || {
        let written = core::write_json_lines(&cells, &mut emptied(&path)?);
        for (_, one) in &cells {
            if let Cells::Ids(corpus, _) = one {
                corpus.check_files();
            }
        }
        written
    })?;
    written.map_err(|cause| system_error(cause, &path))
}

/// Fills an existing file with the lines of the chosen documents of a source that is one mapped file of lines; false,
/// with nothing done, where it is none.
#[pyfunction]
pub fn copy_documents(
    py: Python<'_>, corpus: PyRef<'_, Corpus>, source: u32, keep: Flags, path: PathBuf,
) -> PyResult<bool> {
    let (documents, keep) = (&corpus.inner, &keep.0);
    let copied = in_pool(py, Threads::ONE, || documents.copy_lines(source, keep, &mut emptied(&path)?))?;
    copied.map_err(|cause| system_error(cause, &path))
}

fn emptied(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).truncate(true).open(path)
}

/// The error as Python would raise it: with its number, from which its class follows, and the file.
fn system_error(cause: io::Error, path: &Path) -> PyErr {
    let Some(number) = cause.raw_os_error() else { return PyOSError::new_err(cause.to_string()) };
    let told = cause.to_string();
    let reason = told.rsplit_once(" (os error").map_or(&*told, |(reason, _)| reason).to_owned();
    PyOSError::new_err((number, reason, path.as_os_str().to_owned()))
}
