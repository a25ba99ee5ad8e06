//! Writes a table of documents as JSON lines, byte for byte like Python's `json`.

use super::held::Span;
use super::{Corpus, Id, RawScratch};
use crate::watch;
use rayon::prelude::*;
use std::io::{Result, Write};

/// Rows that are put into words between two writes of a thread.
const ROWS: usize = 8192;
/// Rows whose ids are fetched together: they stay in the second-level cache.
const TOUCHED: usize = 512;

/// One column of a table: a cell for each row.
pub enum Cells<'a> {
    /// The ids of documents, by their positions.
    Ids(&'a Corpus, &'a [u32]),
    /// JSON texts, by their places among some.
    Named(&'a [String], &'a [u32]),
    /// Whole numbers.
    Whole(&'a [u64]),
    /// Numbers, in the shortest form that reads back equal; what is not finite as null. Above 2^49 there may be two
    /// such forms that are equally near, and Python and Rust choose different ones.
    Numbers(&'a [f64]),
    /// True or false.
    Flags(&'a [bool]),
}

impl Cells<'_> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Ids(_, cells) | Cells::Named(_, cells) => cells.len(),
            Cells::Whole(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Flags(cells) => cells.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Cells::Ids(corpus, cells) => corpus.write_id(cells[row] as usize, out),
            Cells::Named(names, cells) => out.extend_from_slice(names[cells[row] as usize].as_bytes()),
            Cells::Whole(cells) => put(out, format_args!("{}", cells[row])),
            Cells::Numbers(cells) => number(cells[row], out),
            Cells::Flags(cells) => out.extend_from_slice(if cells[row] { b"true" } else { b"false" }),
        }
    }
}

impl Corpus {
    fn write_id(&self, position: usize, out: &mut Vec<u8>) {
        let span = self.ids.get(position);
        if !span.is_missing() && span.flags() == 0 {
            return quote(self.raw(span).text(span, &mut RawScratch::default()), out);
        }
        match self.id(position) {
            Id::Text(text) => quote(&text, out),
            Id::Integer(number) => put(out, format_args!("{number}")),
        }
    }

    /// Reads the first byte of each id, so that their memory is fetched in parallel: ids of documents in no order lie
    /// each in a line and a page of its own, and read one after the other they took half of the time.
    fn touch_ids(&self, positions: &[u32]) {
        let mut copy = Vec::with_capacity(1);
        let first = |&position: &u32| {
            let span = self.ids.get(position as usize);
            if span.len() == 0 { 0 } else { self.raw(Span::new(span.start(), 1, 0)).bytes(&mut copy)[0] }
        };
        std::hint::black_box(positions.iter().map(first).fold(0, |all, byte| all ^ byte));
    }
}

/// Writes columns of one length, each under its name (as JSON text), a line for each row.
///
/// # Panics
/// If columns differ in length.
pub fn write_json_lines(columns: &[(String, Cells<'_>)], out: &mut impl Write) -> Result<()> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    assert!(columns.iter().all(|(_, cells)| cells.len() == rows), "columns of one length");
    let starts: Vec<usize> = (0..rows).step_by(ROWS).collect();
    for together in starts.chunks(4 * rayon::current_num_threads()) {
        let lines = |&start: &usize| lines(columns, start, (start + ROWS).min(rows));
        let parts: Vec<Vec<u8>> = together.par_iter().map(lines).collect();
        parts.iter().try_for_each(|part| out.write_all(part))?;
    }
    Ok(())
}

fn lines(columns: &[(String, Cells<'_>)], start: usize, end: usize) -> Vec<u8> {
    watch::look();
    let before =
        |(at, (name, _)): (usize, &(String, Cells<'_>))| format!("{}{name}: ", if at == 0 { "{" } else { ", " });
    let before: Vec<String> = columns.iter().enumerate().map(before).collect();
    let mut out = Vec::with_capacity((end - start) * 64 * columns.len());
    for row in start..end {
        if (row - start).is_multiple_of(TOUCHED) {
            for (_, cells) in columns {
                if let Cells::Ids(corpus, positions) = cells {
                    corpus.touch_ids(&positions[row..end.min(row + TOUCHED)]);
                }
            }
        }
        for (before, (_, cells)) in before.iter().zip(columns) {
            out.extend_from_slice(before.as_bytes());
            cells.write(row, &mut out);
        }
        out.extend_from_slice(b"}\n");
    }
    out
}

fn put(out: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("memory takes everything");
}

/// A text between quotes, with the escapes that JSON asks for and no others.
fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut plain = 0;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            _ => put(out, format_args!("\\u{byte:04x}")),
        }
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
    out.push(b'"');
}

/// A number as Python's `repr` writes it: with an exponent below 0.0001 and from 1e16.
fn number(value: f64, out: &mut Vec<u8>) {
    let size = value.abs();
    if !value.is_finite() {
        out.extend_from_slice(b"null");
    } else if value == 1.0 {
        out.extend_from_slice(b"1.0");
    } else if size == 0.0 || (1e-4..1e16).contains(&size) {
        put(out, format_args!("{value:?}"));
    } else {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
        put(out, format_args!("{digits}e{sign}{exponent:0>2}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let cases = [
            (1.0, "1.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "-0.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.25e-7, "-1.25e-07"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ];
        for (value, want) in cases {
            let mut out = Vec::new();
            number(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn a_text_keeps_all_but_what_json_forbids() {
        let mut out = Vec::new();
        quote("a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}ç\u{2028}😀", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\u{7f}ç\u{2028}😀\"");
    }

    #[test]
    fn rows_come_in_their_order_whatever_the_threads() {
        let names = ["\"x\"".to_owned(), "null".to_owned()];
        let count = 3 * ROWS as u64 + 7;
        let (whole, flags): (Vec<u64>, Vec<bool>) = (0..count).map(|row| (row, row % 3 == 0)).unzip();
        let codes: Vec<u32> = whole.iter().map(|row| (row % 2) as u32).collect();
        let columns = [
            ("\"row\"".to_owned(), Cells::Whole(&whole)),
            ("\"name\"".to_owned(), Cells::Named(&names, &codes)),
            ("\"third\"".to_owned(), Cells::Flags(&flags)),
        ];
        let want: String = whole
            .iter()
            .map(|row| {
                format!("{{\"row\": {row}, \"name\": {}, \"third\": {}}}\n", names[(row % 2) as usize], row % 3 == 0)
            })
            .collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = Vec::new();
            pool.install(|| write_json_lines(&columns, &mut out)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }
}
