//! Scanner of JSONL: finds the values of columns, and the lines that are not JSON objects.
//!
//! [`scan`] reads every line once and passes spans of the data, without copying. The syntax of the whole line is
//! checked, including members that are not needed. [`scan_rest`] reads lines from the middle of a file. [`unescape`]
//! decodes strings with escapes.
//!
//! ```
//! # use benzer_core::{isa, jsonl::{scan, unescape, Value}};
//! let data = b"{\"id\": 7, \"text\": \"one\\ntwo\"}\n{\"id\": }\n";
//! let (mut texts, mut faults) = (Vec::new(), Vec::new());
//! let lines = scan::<()>(data, &[b"id", b"text"], isa::current(), |line| {
//!     match line {
//!         Ok(row) => {
//!             let mut text = Vec::new();
//!             unescape(row.values[1].raw(data), &mut text, isa::current());
//!             texts.push(text);
//!         }
//!         Err(fault) => faults.push((fault.line, fault.reason)),
//!     }
//!     Ok(())
//! });
//! assert_eq!(lines, Ok(2));
//! assert_eq!(texts, [b"one\ntwo"]);
//! assert_eq!(faults, [(1, "expected a JSON value at column 8, found '}'".to_string())]);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod blocks;
mod cursor;
mod fault;
mod kernel;
mod portable;
mod unescape;
mod utf8;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use cursor::Cursor;
use kernel::Kernel;
use portable::Portable;
use utf8::Utf8Check;

pub use unescape::unescape;

/// The value of a line in one column; `start` is an offset in the scanned data, `len` counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The object has no such key.
    Missing,
    /// The literal `null`.
    Null,
    /// A string: the bytes between its quotes, valid UTF-8.
    Text {
        /// Offset of the byte after the opening quote.
        start: usize,
        /// Length without the quotes.
        len: usize,
        /// Whether there is a backslash in it: then [`unescape`] gives the text, else the bytes are the text.
        escaped: bool,
    },
    /// A number, as written.
    Number {
        /// Offset of its first byte.
        start: usize,
        /// Length of the number.
        len: usize,
    },
    /// `true`, `false`, an object or an array, as written.
    Other {
        /// Offset of its first byte.
        start: usize,
        /// Length up to and with the closing bracket.
        len: usize,
    },
}

impl Value {
    /// The bytes of the value in the `data` that was scanned; none for a missing value and for `null`.
    pub fn raw(self, data: &[u8]) -> &[u8] {
        match self {
            Value::Missing | Value::Null => &[],
            Value::Text { start, len, .. } | Value::Number { start, len } | Value::Other { start, len } => {
                &data[start..start + len]
            }
        }
    }
}

/// A line that is a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Number of the line in the data, from 0; blank lines count.
    pub line: u64,
    /// Offset of the line's first byte.
    pub start: usize,
    /// Offset after the line's last byte, its `\n` or `\r\n` left out.
    pub end: usize,
    /// One value per column asked for, in that order. Where a key comes twice the last one wins.
    pub values: &'a [Value],
}

/// A line that is not a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Number of the line in the data, from 0; blank lines count.
    pub line: u64,
    /// Offset of the line's first byte.
    pub start: usize,
    /// Offset after the line's last byte, its `\n` or `\r\n` left out.
    pub end: usize,
    /// The error and its position; columns are bytes of the line, from 1.
    pub reason: String,
}

/// Visits the lines of `data` in order and returns how many there were, blank ones included.
///
/// A line must be one JSON object (RFC 8259) in UTF-8. Lines of white space are passed over; `\r\n` ends a line as well
/// as `\n`, the last line needs neither; a byte order mark at the start of `data` is ignored. `columns` are the decoded
/// keys to look for at the top level of the objects. The first error of `visit` ends the scan.
///
/// The time is linear in `data`. Memory grows only with the depth of nesting, by one byte per level.
pub fn scan<E>(
    data: &[u8], columns: &[&[u8]], isa: Isa, visit: impl FnMut(Result<Row<'_>, Malformed>) -> Result<(), E>,
) -> Result<u64, E> {
    let start = if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    scan_from(data, start, columns, isa, visit)
}

/// [`scan`] of lines from the middle of a file: a byte order mark at the start of `data` is not ignored, so that the
/// result does not depend on where the file was cut.
pub fn scan_rest<E>(
    data: &[u8], columns: &[&[u8]], isa: Isa, visit: impl FnMut(Result<Row<'_>, Malformed>) -> Result<(), E>,
) -> Result<u64, E> {
    scan_from(data, 0, columns, isa, visit)
}

fn scan_from<E>(
    data: &[u8], start: usize, columns: &[&[u8]], isa: Isa,
    visit: impl FnMut(Result<Row<'_>, Malformed>) -> Result<(), E>,
) -> Result<u64, E> {
    match usable(isa) {
        // SAFETY: `usable` lets through only what the machine offers.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => drive(unsafe { Cursor::<Avx512>::new(data, start, columns) }, columns.len(), visit),
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => drive(unsafe { Cursor::<Avx2>::new(data, start, columns) }, columns.len(), visit),
        // SAFETY: plain Rust runs everywhere.
        _ => drive(unsafe { Cursor::<Portable>::new(data, start, columns) }, columns.len(), visit),
    }
}

/// Cuts `len` bytes right after newlines into about `pieces` parts of like size, to be scanned in parallel.
/// `newline_from` gives the offset of the first newline at or after another one, `len` if there is none.
///
/// Gives the borders in ascending order, 0 first and `len` last: part `i` is from `borders[i]` to `borders[i + 1]`.
/// There are fewer parts where the lines are long.
pub fn split_points(len: usize, pieces: usize, newline_from: impl Fn(usize) -> usize) -> Vec<usize> {
    let pieces = pieces.max(1);
    let mut borders = vec![0];
    let mut last = 0;
    for piece in 1..pieces {
        let wanted = len / pieces * piece;
        if wanted > last {
            last = newline_from(wanted - 1) + 1;
            if last >= len {
                break;
            }
            borders.push(last);
        }
    }
    borders.push(len);
    borders
}

/// `isa`, or the best level of this machine where that is lower.
fn usable(isa: Isa) -> Isa {
    static BEST: OnceLock<Isa> = OnceLock::new();
    isa.min(*BEST.get_or_init(Isa::detect))
}

/// Reads line after line. Only this loop is compiled for each visitor; the parser behind `K::line` is not.
fn drive<K: Kernel, E>(
    mut cursor: Cursor<'_, K>, num_columns: usize, mut visit: impl FnMut(Result<Row<'_>, Malformed>) -> Result<(), E>,
) -> Result<u64, E> {
    let data = cursor.data();
    let mut values = vec![Value::Missing; num_columns];
    let mut utf8 = Utf8Check::default();
    let mut line = 0;
    while cursor.pos() < data.len() {
        let start = cursor.pos();
        utf8.look_ahead(data, start);
        values.fill(Value::Missing);
        // SAFETY: the cursor was made, so the machine has the instruction set of `K`.
        let parsed = unsafe { K::line(&mut cursor, &mut values) };
        let newline = match &parsed {
            Ok(_) => cursor.pos(),
            Err(fault) => newline_from(data, fault.at),
        };
        let end = without_return(data, start, newline);
        match parsed.and_then(|is_row| utf8.line(data, start, end).map(|()| is_row)) {
            Ok(true) => visit(Ok(Row { line, start, end, values: &values }))?,
            Ok(false) => {}
            Err(fault) => visit(Err(Malformed { line, start, end, reason: fault.reason(data, start) }))?,
        }
        cursor.set_pos(newline + 1);
        line += 1;
    }
    Ok(line)
}

/// The end of the line that starts at `start`, less the `\r` of a `\r\n`.
fn without_return(data: &[u8], start: usize, newline: usize) -> usize {
    if data[start..newline].ends_with(b"\r") { newline - 1 } else { newline }
}

/// The offset of the first newline at or after `at`; the end of the data if there is none.
pub(crate) fn newline_from(data: &[u8], at: usize) -> usize {
    let mut from = at;
    for block in data[at..].chunks(64) {
        if block.contains(&b'\n') {
            return from + block.iter().take_while(|&&byte| byte != b'\n').count();
        }
        from += block.len();
    }
    from
}
