//! Documents on the native side.

use crate::clusters;
use crate::columns::{IdArrays, SharedArray, TextArrays, mask, text_column};
use crate::contents::{Contents, Overlaps};
use crate::convert::{self, Flags, Threads, error, in_pool, in_pool_told};
use crate::interrupt::reading;
use crate::joins::{check_lengths, check_positions, content_rows};
use crate::setjoin::{self, PairArrays, Positions, SetArrays, Values};
use crate::sketching::{check_bands, sketcher};
use crate::text::TextReader;
use benzer_core::corpus::{self as core, Batch, FieldKind, IdColumn, JsonlColumns, JsonlReport, SketchPlan, Sketches};
use benzer_core::similarity::Weights;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The highest number of a source: each has a name in a table.
const MOST_SOURCES: u32 = 1 << 24;

/// Documents sketched between two looks at signals and progress.
const STEP: usize = 16_384;

/// How the content of a field comes over from Python.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Texts, read by a reader.
    Text,
    /// Collections of values, which are hashed here.
    Values,
    /// Sets that are hashed already: arrays of hashes, ascending, without repeats.
    Hashes,
}

/// What reads a field: a text reader, nothing (values), or the word "hashes".
#[derive(FromPyObject)]
enum FieldReader<'py> {
    Text(PyRef<'py, TextReader>),
    Named(String),
}

/// Documents by position, in memory or in mapped files.
#[pyclass(module = "benzer._native")]
pub struct Corpus {
    pub(crate) inner: core::Corpus,
    kinds: Vec<Kind>,
}

/// Rows read (blank lines are none), and the malformed rows with their reasons.
type Report = (u64, Vec<(u64, String)>);
type SketchArrays<'py> =
    (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<u32>>);
/// Where texts begin and end, and their bytes.
type Repeated<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);
type Texts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

fn report(found: JsonlReport, most: usize) -> Report {
    let rows = found.documents + found.faults.len() as u64;
    let faults = found.faults.into_iter().take(most).map(|fault| (fault.row, fault.reason));
    (rows, faults.collect())
}

#[pymethods]
impl Corpus {
    #[new]
    fn new(py: Python<'_>, readers: Vec<Option<FieldReader<'_>>>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut kinds = Vec::new();
        for reader in &readers {
            let (field, kind) = match reader {
                Some(FieldReader::Text(reader)) => (FieldKind::Text(reader.make()), Kind::Text),
                None => (FieldKind::Values, Kind::Values),
                Some(FieldReader::Named(name)) if name == "hashes" => (FieldKind::Values, Kind::Hashes),
                Some(FieldReader::Named(name)) => {
                    let message = format!("a field is read by a TextReader, None or \"hashes\", got {name:?}");
                    return Err(error(py, "SettingsError", message));
                }
            };
            fields.push(field);
            kinds.push(kind);
        }
        Ok(Corpus { inner: core::Corpus::new(fields), kinds })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// Names a source; made ids begin with its name.
    fn name_source(&mut self, py: Python<'_>, source: u32, name: &str) -> PyResult<()> {
        if source > MOST_SOURCES {
            return Err(error(py, "SettingsError", format!("at most {MOST_SOURCES} sources, got number {source}")));
        }
        self.inner.name_source(source, name);
        Ok(())
    }

    /// Adds documents: `fields` holds, for each field, its content in each document.
    #[pyo3(signature = (source, rows, ids, fields, extras = None))]
    fn add(
        &mut self, py: Python<'_>, source: u32, rows: Vec<u64>, ids: &Bound<'_, PyAny>, fields: Vec<Bound<'_, PyAny>>,
        extras: Option<Vec<Option<Vec<u8>>>>,
    ) -> PyResult<()> {
        if fields.len() != self.kinds.len() {
            let message = format!("the corpus has {} fields, got {}", self.kinds.len(), fields.len());
            return Err(error(py, "SettingsError", message));
        }
        let mut batch = self.inner.batch();
        let mut counts = vec![0];
        for id in ids.try_iter()? {
            batch.id(convert::id(&id?)?);
            counts[0] += 1;
        }
        let mut values = Vec::new();
        for (field, (content, &kind)) in fields.iter().zip(&self.kinds).enumerate() {
            if kind == Kind::Text {
                counts.push(add_texts(&mut batch, field, content)?);
            } else {
                values.push(collect_sets(content, kind)?);
                counts.push(values.last().map_or(0, Vec::len));
            }
        }
        if counts.iter().any(|&count| count != rows.len()) {
            let message = format!("{} rows, but ids and fields of {counts:?} documents", rows.len());
            return Err(error(py, "SettingsError", message));
        }
        extras.into_iter().flatten().for_each(|extra| batch.extra(extra.as_deref()));
        self.inner.add_batch(source, &rows, batch, values);
        Ok(())
    }

    /// Adds the rows of a JSONL file (`path`), or of JSONL data that begins at a line's start.
    #[pyo3(signature = (
        *, source, name, path, data, columns, id_column, id_required, extra_column, first_row, stop_on_error, threads,
        progress = None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn add_jsonl(
        &mut self, py: Python<'_>, source: u32, name: &str, path: Option<PathBuf>, data: Option<&Bound<'_, PyBytes>>,
        columns: Vec<String>, id_column: Option<String>, id_required: bool, extra_column: Option<String>,
        first_row: u64, stop_on_error: bool, threads: Threads, progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Report> {
        if columns.len() != self.kinds.len() || self.kinds.iter().any(|&kind| kind != Kind::Text) {
            return Err(error(py, "SettingsError", "JSONL is read natively for text fields only".to_owned()));
        }
        let names =
            JsonlColumns { fields: &columns, id: id_column.as_deref(), id_required, extra: extra_column.as_deref() };
        self.name_source(py, source, name)?;
        let most = if stop_on_error { 1 } else { usize::MAX };
        if let Some(path) = path {
            let add = || self.inner.add_jsonl_file(source, &path, &names, first_row);
            let added = in_pool_told(py, threads, progress.as_ref(), add)?;
            return Ok(report(added?, most));
        }
        let data = data.map(|data| data.as_bytes().to_vec()).unwrap_or_default();
        let added = in_pool(py, threads, || self.inner.add_jsonl_data(source, data, &names, first_row))?;
        Ok(report(added, most))
    }

    /// Adds documents by columns without copying: for each field (offsets, data, optional mask), for the ids the same,
    /// (integers, mask), or nothing. Returns false and adds nothing if a column is invalid.
    fn add_columns<'py>(
        &mut self, py: Python<'py>, source: u32, first_row: u64, count: usize, ids: Option<IdArrays<'py>>,
        fields: Vec<TextArrays<'py>>,
    ) -> PyResult<bool> {
        if fields.len() != self.kinds.len() || self.kinds.iter().any(|&kind| kind != Kind::Text) {
            return Err(error(py, "SettingsError", "columns are taken for text fields only".to_owned()));
        }
        let column = |arrays: &'_ TextArrays<'py>| SharedArray::share(&arrays.1);
        let mut columns = Vec::with_capacity(fields.len());
        for field in &fields {
            columns.push(text_column(field, column(field)?)?);
        }
        let ids = match &ids {
            None => IdColumn::Made,
            Some(IdArrays::Texts(arrays)) => IdColumn::Texts(text_column(arrays, column(arrays)?)?),
            Some(IdArrays::Integers(numbers, valid)) => IdColumn::Integers(numbers.as_slice()?, mask(valid)),
        };
        Ok(self.inner.add_columns(source, first_row, count, ids, columns))
    }

    /// The ids at some positions, or all.
    #[pyo3(signature = (positions = None))]
    fn ids<'py>(&self, py: Python<'py>, positions: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        match positions {
            Some(positions) => {
                let positions = match positions.extract::<PyReadonlyArray1<'_, u32>>() {
                    Ok(array) => array.as_slice()?.to_vec(),
                    Err(_) => positions.extract::<Vec<u32>>()?,
                };
                check_positions(py, self.inner.len(), &[&positions])?;
                self.ids_at(py, positions.into_iter().map(|at| at as usize))
            }
            None => self.ids_at(py, 0..self.inner.len()),
        }
    }

    /// The documents that repeat the id of an earlier one: the position of the first document with that id, and the
    /// own one.
    #[pyo3(signature = (threads = Threads::ALL))]
    fn repeated_ids<'py>(&self, py: Python<'py>, threads: Threads) -> PyResult<Repeated<'py>> {
        let (first, later): (Vec<u32>, Vec<u32>) = in_pool(py, threads, || {
            self.inner.repeated_ids().into_iter().map(|(first, later)| (first as u32, later as u32)).unzip()
        })?;
        Ok((PyArray1::from_vec(py, first), PyArray1::from_vec(py, later)))
    }

    /// Replaces the ids of some documents by made ones.
    fn make_ids(&mut self, py: Python<'_>, positions: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let positions = positions.as_array().to_vec();
        check_positions(py, self.inner.len(), &[&positions])?;
        self.inner.make_ids(&positions);
        Ok(())
    }

    /// Puts the name of its source before each id that was given.
    fn scope_ids(&mut self, py: Python<'_>) -> PyResult<()> {
        let inner = &mut self.inner;
        reading(py, || inner.scope_ids())
    }

    /// Removes some documents.
    fn remove(&mut self, py: Python<'_>, positions: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let positions = positions.as_array().to_vec();
        check_positions(py, self.inner.len(), &[&positions])?;
        self.inner.remove(&positions);
        Ok(())
    }

    /// The source of each document.
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        collected(py, self.inner.len(), self.inner.sources())
    }

    /// The row of each document in its source, from 1.
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        collected(py, self.inner.len(), self.inner.rows())
    }

    /// The text of a field of a document.
    fn text(&self, py: Python<'_>, position: usize, field: usize) -> PyResult<Option<String>> {
        if position >= self.inner.len() || field >= self.kinds.len() {
            let message = format!("no field {field} of document {position}: there are {}", self.inner.len());
            return Err(error(py, "SettingsError", message));
        }
        reading(py, || self.inner.text(position, field))
    }

    /// The texts of a field of some documents: offsets (int64, n + 1) into their bytes (uint8), as Arrow has them.
    fn texts<'py>(&self, py: Python<'py>, positions: PyReadonlyArray1<'py, u32>, field: usize) -> PyResult<Texts<'py>> {
        let positions = positions.as_array().to_vec();
        check_positions(py, self.inner.len(), &[&positions])?;
        if field >= self.kinds.len() {
            return Err(error(py, "SettingsError", format!("no field {field}: there are {}", self.kinds.len())));
        }
        let (ends, texts) = in_pool(py, Threads::ONE, || self.inner.texts(&positions, field))?;
        Ok((PyArray1::from_vec(py, ends), PyArray1::from_vec(py, texts)))
    }

    /// The extra value of each document, as JSON.
    fn extras(&self, py: Python<'_>) -> PyResult<Vec<Option<Vec<u8>>>> {
        reading(py, || (0..self.inner.len()).map(|position| self.inner.extra(position)).collect())
    }

    /// Raises an error if a file of the documents was truncated since it was read.
    fn check_files(&self, py: Python<'_>) -> PyResult<()> {
        reading(py, || self.inner.check_files())
    }

    /// The size in bytes of the fields of some documents, without the escapes of their source.
    fn text_sizes<'py>(
        &self, py: Python<'py>, positions: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let positions = positions.as_array().to_vec();
        check_positions(py, self.inner.len(), &[&positions])?;
        let sizes = in_pool(py, threads, || self.inner.text_sizes(&positions))?;
        Ok(PyArray1::from_vec(py, sizes))
    }

    /// The length in characters of the fields of some documents.
    fn text_lengths<'py>(
        &self, py: Python<'py>, positions: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let positions = positions.as_array().to_vec();
        check_positions(py, self.inner.len(), &[&positions])?;
        let lengths = in_pool(py, threads, || self.inner.text_lengths(&positions))?;
        Ok(PyArray1::from_vec(py, lengths))
    }

    /// The bytes of each document's fields in memory.
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_iter(py, (0..self.inner.len()).map(|position| self.inner.size(position)))
    }

    /// Says how documents that come from now on will be sketched, so that it can be done while they are read.
    #[allow(clippy::too_many_arguments)]
    fn sketch_ahead(
        &mut self, py: Python<'_>, algorithm: &str, family: &str, num_hashes: usize, seed: u64, bands: usize,
        rows: usize,
    ) -> PyResult<()> {
        check_bands(py, bands, rows, num_hashes)?;
        let sketcher = sketcher(py, algorithm, family, num_hashes, seed)?;
        self.inner.sketch_ahead(SketchPlan { sketcher, bands, rows });
        Ok(())
    }

    /// Band keys, content hashes, shingles and units of the documents from `start` to `end`, by default all.
    #[pyo3(signature = (algorithm, family, num_hashes, seed, bands, rows, threads, progress = None, start = 0, end = None))]
    #[allow(clippy::too_many_arguments)]
    fn sketch<'py>(
        &self, py: Python<'py>, algorithm: &str, family: &str, num_hashes: usize, seed: u64, bands: usize, rows: usize,
        threads: Threads, progress: Option<Bound<'py, PyAny>>, start: usize, end: Option<usize>,
    ) -> PyResult<SketchArrays<'py>> {
        check_bands(py, bands, rows, num_hashes)?;
        let plan = SketchPlan { sketcher: sketcher(py, algorithm, family, num_hashes, seed)?, bands, rows };
        let (total, last) = (self.inner.len(), end.unwrap_or(self.inner.len()));
        if start > last || last > total {
            let message = format!("documents {start} to {last} are not among the {total}");
            return Err(error(py, "SettingsError", message));
        }
        let count = last - start;
        let (fields, width) = (self.inner.fields(), self.inner.fields() * bands);
        let keys = PyArray2::<u64>::zeros(py, [count, width], false);
        let content = PyArray2::<u64>::zeros(py, [count, 2], false);
        let [sizes, units] = [(); 2].map(|()| PyArray2::<u32>::zeros(py, [count, fields], false));
        let (mut keys_room, mut content_room) = (keys.readwrite(), content.readwrite());
        let (mut sizes_room, mut units_room) = (sizes.readwrite(), units.readwrite());
        let content_room = content_room.as_slice_mut()?.as_chunks_mut::<2>().0;
        let rooms = (keys_room.as_slice_mut()?, sizes_room.as_slice_mut()?, units_room.as_slice_mut()?);
        for from in (0..count).step_by(STEP) {
            let to = (from + STEP).min(count);
            let out = Sketches {
                keys: &mut rooms.0[from * width..to * width],
                content: &mut content_room[from..to],
                sizes: &mut rooms.1[from * fields..to * fields],
                units: &mut rooms.2[from * fields..to * fields],
            };
            in_pool(py, threads, || self.inner.sketch(&plan, start + from, out))?;
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1((start + to, total))?;
            }
        }
        drop((keys_room, sizes_room, units_room));
        Ok((keys, content, sizes, units))
    }

    /// For each document the one of least rank that is identical to it. content: as `sketch` returns it.
    #[pyo3(signature = (content, empty, rank, threads = Threads::ALL))]
    fn identical<'py>(
        &self, py: Python<'py>, content: PyReadonlyArray2<'py, u64>, empty: Flags, rank: PyReadonlyArray1<'py, u32>,
        threads: Threads,
    ) -> PyResult<Positions<'py>> {
        let (empty, rank, count) = (&empty.0, rank.as_slice()?, self.inner.len());
        check_lengths(py, "documents, content, empty and rank", &[count, content.shape()[0], empty.len(), rank.len()])?;
        let content = content_rows(py, &content, count)?;
        let found = in_pool(py, threads, || self.inner.identical(content, empty, rank))?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// A digest of the shingles of each of some documents: 128 bits, equal for identical documents.
    #[pyo3(signature = (positions, threads = Threads::ALL))]
    fn identities<'py>(
        &self, py: Python<'py>, positions: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let positions = positions.as_slice()?;
        check_positions(py, self.inner.len(), &[positions])?;
        let found = in_pool(py, threads, || self.inner.identities(positions))?;
        PyArray1::from_vec(py, found.into_flattened()).reshape([positions.len(), 2])
    }

    /// A hash of all documents in their order, as 16 bytes.
    #[pyo3(signature = (threads = Threads::ALL))]
    fn digest<'py>(&self, py: Python<'py>, threads: Threads) -> PyResult<Bound<'py, PyBytes>> {
        let found = in_pool(py, threads, || self.inner.digest())?;
        Ok(PyBytes::new(py, found.map(u64::to_le_bytes).as_flattened()))
    }

    /// Which documents lack a field.
    fn missing<'py>(&self, py: Python<'py>, field: usize) -> PyResult<Bound<'py, PyArray1<bool>>> {
        if field >= self.inner.fields() {
            let message = format!("no field {field}: there are {}", self.inner.fields());
            return Err(error(py, "SettingsError", message));
        }
        Ok(PyArray1::from_iter(py, (0..self.inner.len() as u32).map(|position| self.inner.is_missing(field, position))))
    }

    /// The exact similarity of pairs of documents: the mean of their fields by weight.
    fn similarity<'py>(
        &self, py: Python<'py>, left: PyReadonlyArray1<'py, u32>, right: PyReadonlyArray1<'py, u32>, weights: Vec<f64>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (left, right) = (left.as_slice()?, right.as_slice()?);
        check_positions(py, self.inner.len(), &[left, right])?;
        clusters::check_weights(py, &self.inner, &weights)?;
        let similarity = in_pool(py, threads, || self.inner.similarity(left, right, &Weights(&weights)))?;
        Ok(PyArray1::from_vec(py, similarity))
    }

    /// The documents of large buckets, compared with the leaders among them; see [`clusters::FamilyArrays`].
    #[allow(clippy::too_many_arguments)]
    fn compare_families<'py>(
        &self, py: Python<'py>, rank: PyReadonlyArray1<'py, u32>, members: PyReadonlyArray1<'py, u32>,
        ends: PyReadonlyArray1<'py, i64>, may_lead: PyReadonlyArray1<'py, u32>, threshold: f64, weights: Vec<f64>,
        threads: Threads,
    ) -> PyResult<clusters::FamilyArrays<'py>> {
        let large = (members.as_slice()?, ends.as_slice()?);
        let documents = (rank.as_slice()?, may_lead.as_slice()?);
        clusters::compare_families(py, &self.inner, documents, large, threshold, &weights, threads)
    }

    /// An order in which connected pairs are adjacent, and the ends of its parts of `most` bytes.
    fn batches<'py>(
        &self, py: Python<'py>, left: PyReadonlyArray1<'py, u32>, right: PyReadonlyArray1<'py, u32>, most: u64,
    ) -> PyResult<(Positions<'py>, Vec<usize>)> {
        let (left, right) = (left.as_slice()?, right.as_slice()?);
        check_positions(py, self.inner.len(), &[left, right])?;
        let found = py.detach(|| self.inner.batches(left, right, most));
        Ok((PyArray1::from_vec(py, found.order), found.ends))
    }

    /// The elements that pairs of documents share, field by field.
    fn overlaps<'py>(
        &self, py: Python<'py>, left: PyReadonlyArray1<'py, u32>, right: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<Overlaps> {
        let (left, right) = (left.as_slice()?, right.as_slice()?);
        check_positions(py, self.inner.len(), &[left, right])?;
        Ok(Overlaps { overlaps: in_pool(py, threads, || self.inner.overlaps(left, right))? })
    }

    /// The fields of some documents as sets, to compare them with documents from elsewhere.
    fn contents<'py>(
        &self, py: Python<'py>, positions: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<Contents> {
        let positions = positions.as_slice()?;
        check_positions(py, self.inner.len(), &[positions])?;
        Ok(Contents { contents: in_pool(py, threads, || self.inner.contents(positions))? })
    }

    /// The positions of the documents of least content hash, one for each content, in the order of the hashes.
    #[pyo3(signature = (count, seed, threads = Threads::ALL))]
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64, threads: Threads) -> PyResult<Positions<'py>> {
        Ok(PyArray1::from_vec(py, in_pool(py, threads, || self.inner.sample(count, seed))?))
    }

    /// The sets of one field of some documents: offsets and hashes.
    #[pyo3(signature = (field, positions, threads = Threads::ALL))]
    fn sets<'py>(
        &self, py: Python<'py>, field: usize, positions: PyReadonlyArray1<'py, u32>, threads: Threads,
    ) -> PyResult<SetArrays<'py>> {
        setjoin::sets_of(py, &self.inner, field, positions.as_slice()?, threads)
    }

    /// Each query (by its position in the list) with every other document with a field that reaches its threshold.
    fn exact_neighbours<'py>(
        &self, py: Python<'py>, queries: PyReadonlyArray1<'py, u32>, thresholds: Vec<f64>, threads: Threads,
    ) -> PyResult<(Positions<'py>, Positions<'py>)> {
        setjoin::neighbours(py, &self.inner, queries.as_slice()?, &thresholds, threads)
    }

    /// All pairs of documents with a field that reaches its threshold; for one field, also their similarity.
    #[pyo3(signature = (thresholds, taking_part, threads, progress = None))]
    fn exact_pairs<'py>(
        &self, py: Python<'py>, thresholds: Vec<f64>, taking_part: Flags, threads: Threads,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Positions<'py>, Positions<'py>, Option<Values<'py>>)> {
        setjoin::exact_pairs(py, &self.inner, &thresholds, &taking_part.0, threads, progress.as_ref())
    }

    /// All ordered pairs of documents whose right one has that share of a field of the left one.
    fn contained_pairs<'py>(
        &self, py: Python<'py>, field: usize, threshold: f64, taking_part: Flags, threads: Threads,
    ) -> PyResult<PairArrays<'py>> {
        setjoin::contained_pairs(py, &self.inner, field, threshold, &taking_part.0, threads)
    }
}

impl Corpus {
    fn ids_at<'py>(&self, py: Python<'py>, positions: impl Iterator<Item = usize>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        reading(py, || {
            let ids = positions.map(|at| convert::id_object(py, &self.inner.id(at))).collect();
            self.inner.check_files();
            ids
        })?
    }
}

/// An array of so many items.
fn collected<T: numpy::Element>(
    py: Python<'_>, count: usize, items: impl Iterator<Item = T>,
) -> Bound<'_, PyArray1<T>> {
    let mut all = Vec::with_capacity(count);
    all.extend(items);
    PyArray1::from_vec(py, all)
}

fn add_texts(batch: &mut Batch, field: usize, content: &Bound<'_, PyAny>) -> PyResult<usize> {
    let mut count = 0;
    for item in content.try_iter()? {
        let item = item?;
        if item.is_none() {
            batch.text(field, None);
        } else {
            let what = || format!("field {} of document {}", field + 1, count + 1);
            batch.text(field, Some(&convert::document_text(&item, &what)?));
        }
        count += 1;
    }
    Ok(count)
}

fn collect_sets(content: &Bound<'_, PyAny>, kind: Kind) -> PyResult<Vec<Option<Vec<u64>>>> {
    let mut sets = Vec::new();
    for item in content.try_iter()? {
        let item = item?;
        sets.push(if item.is_none() {
            None
        } else if kind == Kind::Hashes {
            Some(convert::hash_set(&item)?)
        } else {
            Some(convert::value_set(&item)?)
        });
    }
    Ok(sets)
}
