//! Positions of the tokens of a text, and the passages that two texts share.

use crate::convert;
use crate::text::TextReader;
use benzer_core::evidence::{Found, Known, find_in};
use benzer_core::text::Reader;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;

type Spans<'py> = Bound<'py, PyArray2<i64>>;

/// The units of a text and where each starts and ends in it, in code points (int64, n × 2).
#[pyfunction]
pub fn token_spans<'py>(
    py: Python<'py>, reader: &TextReader, text: &Bound<'py, PyAny>,
) -> PyResult<(Vec<String>, Spans<'py>)> {
    let text = convert::document_text(text, &|| "the text".to_owned())?;
    let reader = reader.shared();
    let units = py.detach(|| reader.units(&text));
    let places = units.places.iter().flatten().map(|&place| i64::from(place)).collect();
    Ok((units.iter().map(str::to_owned).collect(), table(py, places, 2)?))
}

/// Passages (int64, n × 6: start and end in a, in b, tokens, shared), the stretches that differ (int64, n × 5: number of
/// the passage, start and end in a, in b), which tokens of a are shared, tokens of a and b, those shared, and further passages, and the steps taken.
type Answer<'py> = (Spans<'py>, Spans<'py>, Bound<'py, PyArray1<bool>>, [usize; 5], u64);

/// A text that is read once, to be compared with many.
#[pyclass(frozen, module = "benzer._native")]
pub struct KnownText {
    reader: Arc<Reader>,
    known: Known,
}

#[pymethods]
impl KnownText {
    #[new]
    fn new(py: Python<'_>, reader: &TextReader, text: &Bound<'_, PyAny>) -> PyResult<KnownText> {
        let text = convert::document_text(text, &|| "the first text".to_owned())?;
        let reader = reader.shared();
        let known = py.detach(|| Known::new(&reader, &text));
        Ok(KnownText { reader, known })
    }

    /// The passages that it shares with another text.
    #[pyo3(signature = (other, least, gap))]
    fn passages<'py>(
        &self, py: Python<'py>, other: &Bound<'py, PyAny>, least: Option<usize>, gap: usize,
    ) -> PyResult<Answer<'py>> {
        let other = convert::document_text(other, &|| "the second text".to_owned())?;
        let reader = &self.reader;
        answer(py, py.detach(|| find_in(reader, &self.known, &Known::new(reader, &other), least, gap)))
    }
}

fn answer(py: Python<'_>, found: Found) -> PyResult<Answer<'_>> {
    let Found { passages, more, a, b, shared, work } = found;
    let places = |pair: [[u32; 2]; 2]| pair.into_iter().flatten().map(i64::from);
    let mut rows = Vec::new();
    let mut differences = Vec::new();
    for (number, passage) in passages.iter().enumerate() {
        rows.extend(places([passage.a, passage.b]));
        rows.extend([passage.tokens as i64, passage.shared as i64]);
        for &(in_a, in_b) in &passage.differences {
            differences.push(number as i64);
            differences.extend(places([in_a, in_b]));
        }
    }
    let shared = PyArray1::from_vec(py, shared);
    Ok((table(py, rows, 6)?, table(py, differences, 5)?, shared, [a[0], b[0], a[1], b[1], more], work))
}

fn table(py: Python<'_>, values: Vec<i64>, width: usize) -> PyResult<Spans<'_>> {
    let rows = values.len() / width;
    PyArray1::from_vec(py, values).reshape([rows, width])
}
