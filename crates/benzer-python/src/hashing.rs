//! String hashes and families of hash functions.

use crate::convert::{Threads, error, in_pool, text};
use benzer_core::hash::families::{Affine, Family, Function, Functions, Visitor};
use benzer_core::hash::strings::{StringHash, murmur3_128};
use benzer_core::isa::{self as levels, Level, Task};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use std::borrow::Cow;

/// Values made by one thread without a pool: a pool takes as long to start.
const FEW: usize = 1 << 17;

/// The family of a name.
pub fn family_by_name(py: Python<'_>, name: &str) -> PyResult<Family> {
    Family::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Family::ALL.into_iter().map(Family::name).collect();
        error(py, "SettingsError", format!("hash family must be one of {}, got '{name}'", names.join(", ")))
    })
}

fn string_hash_by_name(py: Python<'_>, name: &str) -> PyResult<StringHash> {
    StringHash::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = StringHash::ALL.into_iter().map(StringHash::name).collect();
        error(py, "SettingsError", format!("string hash must be one of {}, got '{name}'", names.join(", ")))
    })
}

/// The bytes to hash: any `bytes`, or the UTF-8 of a `str`.
fn bytes<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    Ok(match text(value, &|| "what is hashed".to_owned())? {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

/// The hash of one string.
#[pyfunction]
pub fn string_hash(name: &str, value: &Bound<'_, PyAny>, seed: u64) -> PyResult<u64> {
    Ok(string_hash_by_name(value.py(), name)?.hash(&bytes(value)?, seed))
}

/// The hash of each string.
#[pyfunction]
pub fn string_hashes<'py>(
    py: Python<'py>, name: &str, values: &Bound<'py, PyAny>, seed: u64,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let hash = string_hash_by_name(py, name)?;
    let mut hashes = Vec::new();
    for value in values.try_iter()? {
        hashes.push(hash.hash(&bytes(&value?)?, seed));
    }
    Ok(PyArray1::from_vec(py, hashes))
}

/// The 16 bytes of MurmurHash3, as its author writes them.
#[pyfunction]
pub fn murmur3_digest<'py>(value: &Bound<'py, PyAny>, seed: u32) -> PyResult<Bound<'py, PyBytes>> {
    let words = murmur3_128(&bytes(value)?, seed).map(u64::to_le_bytes);
    Ok(PyBytes::new(value.py(), words.as_flattened()))
}

/// Multipliers and addends of functions.
type Numbers<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// The multipliers and addends that a seed draws.
#[pyfunction]
pub fn hash_parameters<'py>(
    py: Python<'py>, family: &str, range: Option<u64>, count: usize, seed: u64,
) -> PyResult<Numbers<'py>> {
    let family = family_by_name(py, family)?;
    let Some(numbers) = family.affine(checked_range(py, family, range)?, count, seed) else {
        return Err(no_numbers(py, family));
    };
    let multipliers = PyArray1::from_iter(py, numbers.iter().map(|n| n.multiplier));
    Ok((multipliers, PyArray1::from_iter(py, numbers.iter().map(|n| n.addend))))
}

fn no_numbers(py: Python<'_>, family: Family) -> PyErr {
    let message = format!("the family {} has no multipliers and addends to take or give", family.name());
    error(py, "SettingsError", message)
}

/// The value of each element by each function, functions × elements.
///
/// The functions are `count` drawn from the seed, or those with the given numbers.
#[pyfunction]
#[pyo3(signature = (family, elements, count, *, range, seed, numbers, threads))]
#[allow(clippy::too_many_arguments)]
pub fn hash_values<'py>(
    py: Python<'py>, family: &str, elements: PyReadonlyArray1<'py, u64>, count: usize, range: Option<u64>, seed: u64,
    numbers: Option<(PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u64>)>, threads: Threads,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let family = family_by_name(py, family)?;
    let range = checked_range(py, family, range)?;
    let functions = match numbers {
        None => family.draw(range, count, seed),
        Some((multipliers, addends)) => given(py, family, range, multipliers.as_slice()?, addends.as_slice()?)?,
    };
    let elements = match functions.mixer() {
        Some(mixer) => elements.as_slice()?.iter().map(|&x| mixer.mix(x)).collect(),
        None => elements.as_slice()?.to_vec(),
    };
    let number = functions.visit(Count);
    let total = number.saturating_mul(elements.len());
    let mut values = room(number, elements.len(), total)?;
    if total > 0 {
        let width = elements.len() * number.div_ceil(if total <= FEW { 1 } else { 64 });
        let fill = |(part, out): (usize, &mut [u64])| {
            let first = part * width / elements.len();
            levels::run(Fill { functions: &functions, elements: &elements, first, out });
        };
        if total <= FEW {
            fill((0, &mut values[..]));
        } else {
            in_pool(py, threads, || values.par_chunks_mut(width).enumerate().for_each(fill))?;
        }
    }
    PyArray1::from_vec(py, values).reshape([number, elements.len()])
}

fn room(functions: usize, elements: usize, total: usize) -> PyResult<Vec<u64>> {
    let mut values = Vec::new();
    if values.try_reserve_exact(total).is_err() {
        let message = format!("no memory for {functions} values of each of {elements} elements: ask in parts");
        return Err(PyMemoryError::new_err(message));
    }
    values.resize(total, 0);
    Ok(values)
}

fn checked_range(py: Python<'_>, family: Family, range: Option<u64>) -> PyResult<u64> {
    let range = range.unwrap_or(family.default_range());
    let allowed = if family == Family::Modular { 2..=u64::MAX } else { 1..=32 };
    if !allowed.contains(&range) {
        let (least, most) = (allowed.start(), allowed.end());
        let message = format!("the range of family {} must be from {least} to {most}, got {range}", family.name());
        return Err(error(py, "SettingsError", message));
    }
    Ok(range)
}

fn given(py: Python<'_>, family: Family, range: u64, multipliers: &[u64], addends: &[u64]) -> PyResult<Functions> {
    if multipliers.len() != addends.len() {
        let message = format!("{} multipliers need as many addends, got {}", multipliers.len(), addends.len());
        return Err(error(py, "SettingsError", message));
    }
    if family == Family::Mixed || family.affine(2, 0, 0).is_none() {
        return Err(no_numbers(py, family));
    }
    let pairs = multipliers.iter().zip(addends);
    let numbers: Vec<Affine> = pairs.map(|(&multiplier, &addend)| Affine { multiplier, addend }).collect();
    Ok(family.of(range, &numbers))
}

/// How many functions there are.
struct Count;

impl Visitor for Count {
    type Output = usize;

    fn visit<F: Function>(self, functions: &[F]) -> usize {
        functions.len()
    }
}

/// The values of some functions, from number `first`; as many as `out` has rows.
struct Fill<'a> {
    functions: &'a Functions,
    elements: &'a [u64],
    first: usize,
    out: &'a mut [u64],
}

impl Task for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        self.functions.visit(self);
    }
}

impl Visitor for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn visit<F: Function>(self, functions: &[F]) {
        let rows = self.out.chunks_mut(self.elements.len());
        for (function, row) in functions[self.first..].iter().zip(rows) {
            for (value, &x) in row.iter_mut().zip(self.elements) {
                *value = function.value(x);
            }
        }
    }
}
