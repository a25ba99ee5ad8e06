//! JSON lines: what the scanner reads is what `serde_json` reads, on each instruction set and in any pieces.

use benzer_core::corpus::{Corpus, FieldKind, JsonlColumns};
use benzer_core::isa::Isa;
use benzer_core::jsonl::{Malformed, Row, Value, scan, scan_rest, split_points, unescape};
use benzer_core::text::{Reader, Recipe};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

const BOM: &[u8] = b"\xEF\xBB\xBF";
const COLUMNS: [&str; 3] = ["text", "id", "a"];

/// A line that is not blank: its number, its bounds, and its values or what is wrong with it.
#[derive(Debug, PartialEq)]
struct Line {
    number: u64,
    start: usize,
    end: usize,
    content: Result<[Value; COLUMNS.len()], String>,
}

impl Line {
    /// The line of a piece that starts after some bytes and lines.
    fn moved(self, bytes: usize, lines: u64) -> Line {
        let values = |values: [Value; COLUMNS.len()]| {
            values.map(|value| match value {
                Value::Text { start, len, escaped } => Value::Text { start: start + bytes, len, escaped },
                Value::Number { start, len } => Value::Number { start: start + bytes, len },
                Value::Other { start, len } => Value::Other { start: start + bytes, len },
                Value::Missing | Value::Null => value,
            })
        };
        let Line { number, start, end, content } = self;
        Line { number: number + lines, start: start + bytes, end: end + bytes, content: content.map(values) }
    }
}

/// Checks the scanner, and the corpus that is made of the rows.
pub fn jsonl(data: &[u8]) {
    let (lines, count) = scanned(data, Isa::Portable);
    for isa in Isa::available().into_iter().filter(|&isa| isa > Isa::Portable) {
        let (actual, number) = scanned(data, isa);
        assert_eq!((&actual, number), (&lines, count), "{isa:?}");
    }
    check_lines(data, &lines, count);
    for pieces in [2, data.len()] {
        check_pieces(data, &lines, count, pieces);
    }
    check_corpus(data, &lines, count);
}

/// The lines that are not blank, and the number of all lines.
fn scanned(data: &[u8], isa: Isa) -> (Vec<Line>, u64) {
    scanned_from(data, 0, isa)
}

/// [`scanned`] of a piece of a file that begins at `start`.
fn scanned_from(piece: &[u8], start: usize, isa: Isa) -> (Vec<Line>, u64) {
    let columns = COLUMNS.map(str::as_bytes);
    let mut lines = Vec::new();
    let visit = |line: Result<Row<'_>, Malformed>| {
        lines.push(match line {
            Ok(row) => {
                let values = row.values.try_into().expect("a value for each column");
                Line { number: row.line, start: row.start, end: row.end, content: Ok(values) }
            }
            Err(Malformed { line, start, end, reason }) => Line { number: line, start, end, content: Err(reason) },
        });
        Ok::<(), ()>(())
    };
    let count = if start == 0 { scan(piece, &columns, isa, visit) } else { scan_rest(piece, &columns, isa, visit) };
    (lines, count.expect("the visitor returns no error"))
}

/// Each line that is not blank is a row or malformed, as `serde_json` says, with the values that it reads.
fn check_lines(data: &[u8], lines: &[Line], count: u64) {
    let mut start = if data.starts_with(BOM) { BOM.len() } else { 0 };
    let all: Vec<&[u8]> = data[start..].split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(count, all.len() as u64, "lines");
    let mut lines = lines.iter();
    for (number, with_end) in (0..).zip(all) {
        let content = with_end.strip_suffix(b"\n").unwrap_or(with_end);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if !content.iter().all(|byte| b" \t\r".contains(byte)) {
            let line = lines.next().expect("no line is left out");
            assert_eq!((line.number, line.start, line.end), (number, start, start + content.len()));
            check_line(data, content, line);
        }
        start += with_end.len();
    }
    assert_eq!(lines.next(), None, "no line comes twice");
}

fn check_line(data: &[u8], content: &[u8], line: &Line) {
    let expected = members(content);
    let Ok(values) = &line.content else {
        assert!(expected.is_none(), "a valid line is malformed: {line:?}");
        return;
    };
    let expected = expected.expect("an invalid line is no row");
    for (name, &value) in COLUMNS.iter().zip(values) {
        let last = expected.iter().rev().find(|(key, _)| key == name.as_bytes());
        check_value(data, value, last.map(|(_, value)| value.get()));
    }
}

/// A value is what `serde_json` reads at its key.
fn check_value(data: &[u8], value: Value, expected: Option<&str>) {
    let raw = value.raw(data);
    match (value, expected) {
        (Value::Missing, None) | (Value::Null, Some("null")) => {}
        (Value::Text { escaped, .. }, Some(json)) if json.starts_with('"') => {
            assert_eq!(raw, &json.as_bytes()[1..json.len() - 1]);
            assert_eq!(escaped, raw.contains(&b'\\'));
            let Text(text) = serde_json::from_str(json).expect("a string of a valid line");
            for isa in Isa::available() {
                let mut decoded = Vec::new();
                unescape(raw, &mut decoded, isa);
                assert_eq!(decoded, text, "{isa:?}");
            }
            assert!(std::str::from_utf8(&text).is_ok());
        }
        (Value::Number { .. }, Some(json)) if json.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            assert_eq!(raw, json.as_bytes());
        }
        (Value::Other { .. }, Some(json)) if json.starts_with(['t', 'f', '{', '[']) => assert_eq!(raw, json.as_bytes()),
        _ => panic!("{value:?} for {expected:?}"),
    }
}

/// The members of a line in order; none where the line is not one JSON object.
fn members(line: &[u8]) -> Option<Vec<(Vec<u8>, &RawValue)>> {
    let text = std::str::from_utf8(line).ok()?;
    // Keys are read as bytes below, where control characters would pass.
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let Members(members) = serde_json::from_str(text).expect("a valid object");
    Some(members)
}

struct Members<'a>(Vec<(Vec<u8>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// A string as bytes, so that lone surrogates pass; each of them becomes U+FFFD.
struct Text(Vec<u8>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Text;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(without_surrogates(bytes)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// `serde_json` writes a lone surrogate as three bytes, as many as U+FFFD has.
fn without_surrogates(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    for index in 0..text.len().saturating_sub(2) {
        if text[index] == 0xED && text[index + 1] >= 0xA0 {
            text[index..index + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    text
}

/// Data that is scanned in pieces gives the same lines as the whole.
fn check_pieces(data: &[u8], lines: &[Line], count: u64, pieces: usize) {
    let newline =
        |index: usize| data[index..].iter().position(|&byte| byte == b'\n').map_or(data.len(), |place| index + place);
    let borders = split_points(data.len(), pieces, newline);
    assert!(borders.is_sorted() && borders[0] == 0 && borders[borders.len() - 1] == data.len());
    let (mut joined, mut before) = (Vec::new(), 0);
    for border in borders.windows(2) {
        let (part, number) = scanned_from(&data[border[0]..border[1]], border[0], Isa::detect());
        joined.extend(part.into_iter().map(|line| line.moved(border[0], before)));
        before += number;
    }
    assert_eq!(before, count, "lines in {pieces} pieces");
    assert_eq!(joined, lines, "in {pieces} pieces");
}

/// Each line becomes a document, is counted as a fault, or is blank.
fn check_corpus(data: &[u8], lines: &[Line], count: u64) {
    let mut corpus = Corpus::new(vec![FieldKind::Text(Reader::new(Recipe::PLAIN, &[]))]);
    let (fields, first) = (["text".to_owned()], 1);
    let columns = JsonlColumns { fields: &fields, id: Some("id"), id_required: false, extra: Some("a") };
    let report = corpus.add_jsonl_data(0, data.to_vec(), &columns, first);
    assert_eq!(report.lines, count);
    assert_eq!(report.documents as usize + report.faults.len(), lines.len());
    assert_eq!(report.documents as usize, corpus.len());
    let mut rows: Vec<u64> = corpus.rows().chain(report.faults.iter().map(|fault| fault.row)).collect();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(lines.iter().map(|line| line.number + first)), "each line once");
    for (position, row) in corpus.rows().enumerate() {
        let line = lines.iter().find(|line| line.number + first == row).expect("a row of the data");
        let values = line.content.as_ref().expect("a document is of a valid line");
        check_document(data, &corpus, position, values);
    }
}

fn check_document(data: &[u8], corpus: &Corpus, position: usize, [text, id, extra]: &[Value; COLUMNS.len()]) {
    let decoded = |value: Value| {
        let mut decoded = Vec::new();
        unescape(value.raw(data), &mut decoded, Isa::Portable);
        String::from_utf8(decoded).expect("texts are UTF-8")
    };
    match (text, corpus.text(position, 0)) {
        (Value::Null, None) => {}
        (Value::Text { .. }, Some(kept)) => assert_eq!(kept, decoded(*text)),
        (value, kept) => panic!("{kept:?} is kept for {value:?}"),
    }
    assert!(!matches!(id, Value::Other { .. }), "an id is a text or a number");
    let expected = match *extra {
        Value::Missing | Value::Null => None,
        Value::Text { start, len, .. } => Some(&data[start - 1..start + len + 1]),
        value => Some(value.raw(data)),
    };
    assert_eq!(corpus.extra(position).as_deref(), expected);
}
