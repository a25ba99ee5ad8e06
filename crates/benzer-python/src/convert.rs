//! Between Python's values and the core's: texts, ids, values, errors, threads.

use crate::interrupt;
use benzer_core::corpus::{Id, MAX_TEXT};
use benzer_core::hash::shingle::value_hash;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString, PyType};
use std::borrow::Cow;
use std::io::Write;

/// An error of the named class of `benzer.errors`.
pub fn error(py: Python<'_>, class: &str, message: String) -> PyErr {
    let found = py.import("benzer.errors").and_then(|module| module.getattr(class));
    match found.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
        Ok(class) => PyErr::from_type(class, (message,)),
        Err(error) => error,
    }
}

/// Maximum number of threads: each takes memory, and thousands take seconds to start.
const MOST_THREADS: usize = 4096;

/// The requested number of threads; 0 means one for each core.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Threads(usize);

impl Threads {
    /// One for each core.
    pub const ALL: Threads = Threads(0);
    /// The one that asks.
    pub const ONE: Threads = Threads(1);
}

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<usize>() {
            Ok(threads) if threads <= MOST_THREADS => Ok(Threads(threads)),
            _ => {
                let message = format!("threads must be from 0 (all cores) to {MOST_THREADS}, got {}", &*value);
                Err(error(value.py(), "SettingsError", message))
            }
        }
    }
}

/// An array of flags. They are copied, because the bytes of such an array may be any, and may change.
pub struct Flags(pub Vec<bool>);

impl<'py> FromPyObject<'_, 'py> for Flags {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let flags = value.cast::<PyArray1<bool>>()?;
        let bytes = flags.call_method1("view", ("uint8",))?.extract::<PyReadonlyArray1<'_, u8>>()?;
        Ok(Flags(bytes.as_array().iter().map(|&byte| byte != 0).collect()))
    }
}

/// Runs `work` without the GIL in a pool of as many threads as asked for; Ctrl-C ends it, see [`interrupt::watched`].
pub fn in_pool<T: Send>(py: Python<'_>, threads: Threads, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    interrupt::watched(py, threads.0, None, work)
}

/// [`in_pool`], and `progress` is called with what is done, of how much.
pub fn in_pool_told<T: Send>(
    py: Python<'_>, threads: Threads, progress: Option<&Bound<'_, PyAny>>, work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    interrupt::watched(py, threads.0, progress, work)
}

/// [`text`] of a document, which must not be longer than the core can take.
pub fn document_text<'a>(value: &'a Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<Cow<'a, str>> {
    let found = text(value, what)?;
    if found.len() > MAX_TEXT {
        let message = format!("{} has {} bytes; the limit is {MAX_TEXT}: split it", what(), found.len());
        return Err(error(value.py(), "InputError", message));
    }
    Ok(found)
}

/// The UTF-8 of a `str` (lone surrogates become U+FFFD) or of `bytes`; `what` names it in errors.
pub fn text<'a>(value: &'a Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<Cow<'a, str>> {
    let py = value.py();
    if let Ok(string) = value.cast::<PyString>() {
        return match string.to_cow() {
            Ok(text) => Ok(text),
            Err(_) => Ok(Cow::Owned(without_surrogates(string)?)),
        };
    }
    let Ok(bytes) = value.cast::<PyBytes>() else {
        let kind = value.get_type().name()?;
        return Err(error(py, "InputError", format!("{} must be str or bytes, got {kind}", what())));
    };
    match std::str::from_utf8(bytes.as_bytes()) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(fault) => {
            let at = fault.valid_up_to();
            let cure = "decode it with its real encoding, or with errors='replace'";
            Err(error(py, "InputError", format!("{} is not valid UTF-8 at byte {at}: {cure}", what())))
        }
    }
}

fn without_surrogates(string: &Bound<'_, PyString>) -> PyResult<String> {
    let encoded = string.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let bytes = encoded.cast_into::<PyBytes>()?;
    let mut clean = Vec::with_capacity(bytes.as_bytes().len());
    let mut rest = bytes.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == 0xED && tail.first().is_some_and(|&second| second >= 0xA0) {
            clean.extend("\u{FFFD}".as_bytes());
            rest = &tail[2..];
        } else {
            clean.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(clean).map_err(|fault| PyRuntimeError::new_err(fault.to_string()))
}

/// An id: a string or an integer of 64 bits; none for `None`.
pub fn id(value: &Bound<'_, PyAny>) -> PyResult<Option<Id>> {
    if value.is_none() {
        return Ok(None);
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        let number = value.extract::<i64>();
        let too_large = |_| error(value.py(), "InputError", format!("the id {value} is beyond 64 bits: give a string"));
        return number.map(|number| Some(Id::Integer(number))).map_err(too_large);
    }
    if !value.is_instance_of::<PyString>() {
        let kind = value.get_type().name()?;
        return Err(error(value.py(), "InputError", format!("an id must be str or int, got {kind}: {value}")));
    }
    Ok(Some(Id::Text(text(value, &|| "an id".to_owned())?.into_owned())))
}

/// An id as a Python value.
pub fn id_object<'py>(py: Python<'py>, id: &Id) -> PyResult<Bound<'py, PyAny>> {
    match id {
        Id::Text(text) => Ok(text.into_pyobject(py)?.into_any()),
        Id::Integer(number) => Ok(number.into_pyobject(py)?.into_any()),
    }
}

/// The hash of a value of a value set.
pub fn value(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value_with(value, &mut Vec::new())
}

/// The same, with a buffer for its canonical bytes.
fn value_with(value: &Bound<'_, PyAny>, canonical: &mut Vec<u8>) -> PyResult<u64> {
    canonical.clear();
    if value.is_instance_of::<PyString>() {
        canonical.push(b's');
        canonical.extend_from_slice(text(value, &|| "a value".to_owned())?.as_bytes());
        return Ok(value_hash(canonical));
    }
    if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
        let kind = value.get_type().name()?;
        return Err(error(value.py(), "InputError", format!("a value must be str or int, got {kind}: {value}")));
    }
    canonical.push(b'i');
    if let Ok(number) = value.extract::<i64>() {
        write!(canonical, "{number}").map_err(|fault| PyRuntimeError::new_err(fault.to_string()))?;
    } else {
        let Ok(digits) = value.str() else {
            let message = "an integer of too many digits: give it as text".to_owned();
            return Err(error(value.py(), "InputError", message));
        };
        canonical.extend_from_slice(digits.to_str()?.as_bytes());
    }
    Ok(value_hash(canonical))
}

/// The sorted distinct hashes of a collection of values.
pub fn value_set(values: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        let message =
            format!("a value set must be a collection of str or int, got the text {values:?}: put it in a list");
        return Err(error(values.py(), "InputError", message));
    }
    let (mut hashes, mut canonical) = (Vec::new(), Vec::new());
    for item in values.try_iter()? {
        hashes.push(value_with(&item?, &mut canonical)?);
    }
    hashes.sort_unstable();
    hashes.dedup();
    Ok(hashes)
}

/// A set that comes as its hashes (uint64, ascending, without repeats).
pub fn hash_set(item: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let wrong = |_| {
        let message = "a set of hashes must be a uint64 array of one dimension".to_owned();
        error(item.py(), "InputError", message)
    };
    let array = item.extract::<PyReadonlyArray1<'_, u64>>().map_err(wrong)?;
    let hashes = array.as_slice()?.to_vec();
    if !hashes.is_sorted_by(|a, b| a < b) {
        let message = "a set of hashes must be ascending, without repeats: sort it first".to_owned();
        return Err(error(item.py(), "InputError", message));
    }
    Ok(hashes)
}
