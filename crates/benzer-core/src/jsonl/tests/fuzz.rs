//! Random lines, valid and broken: all instruction sets read them like the oracle.

use super::oracle::{Found, members};
use super::{Random, Seen, on_all, seen};
use crate::isa::Isa;
use crate::jsonl::{Value, unescape};

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    " ",
    "\t",
    "\r",
    "\"id\"",
    "\"text\"",
    "\"\\u0069d\"",
    "null",
    "true",
    "false",
    "0",
    "-1.5e3",
    "01",
    "1.",
    "NaN",
    "\\n",
    "\\u12aB",
    "\\ud83d\\udc0c",
    "\\u12",
    "\\x",
    "ж",
    "\u{1}",
    "a",
];

/// A sound JSON value, written in one of many ways.
fn value(random: &mut Random, depth: usize, out: &mut String) {
    match random.below(if depth == 0 { 7 } else { 10 }) {
        0 => out.push_str(random.pick(&["null", "true", "false"])),
        1 | 2 => out.push_str(random.pick(&["0", "-0", "12", "-3.25", "1e9", "0.5E-7", "123456789012345678901"])),
        3..=6 => string(random, out),
        7 | 8 => object(random, depth - 1, out),
        _ => {
            out.push('[');
            for index in 0..random.below(4) {
                out.push_str(if index > 0 { "," } else { "" });
                value(random, depth - 1, out);
            }
            out.push(']');
        }
    }
}

fn string(random: &mut Random, out: &mut String) {
    let pieces =
        ["a", "word ", "ж", "🐌", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\udc0c", "\\ud83d", "{", "}"];
    let limit = random.pick(&[1, 8, 60]);
    out.push('"');
    for _ in 0..random.below(limit) {
        out.push_str(random.pick(&pieces));
    }
    out.push('"');
}

fn object(random: &mut Random, depth: usize, out: &mut String) {
    out.push('{');
    for index in 0..random.below(5) {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(random.pick(&["\"id\"", " \"text\" ", "\"x\"", "\"\\u0069d\"", "\"te\\u0078t\"\t"]));
        out.push_str(random.pick(&[":", " : "]));
        value(random, depth, out);
    }
    out.push_str(random.pick(&["}", " }"]));
}

/// Replaces, drops or adds a few tokens or bytes, newlines left out.
fn mutate(random: &mut Random, line: &mut Vec<u8>) {
    for _ in 0..random.below(4) {
        let at = random.below(line.len() + 1);
        let until = (at + random.below(3)).min(line.len());
        let byte = [random.next() as u8];
        let with = if random.below(3) > 0 { random.pick(TOKENS).as_bytes() } else { &byte };
        line.splice(at..until, with.iter().copied().filter(|&byte| byte != b'\n'));
    }
}

/// The expected value of `column` by the oracle; None for a malformed line.
fn expected(line: &[u8], column: &str) -> Option<Option<Found>> {
    let members = members(line)?;
    Some(members.into_iter().rev().find(|(key, _)| key == column).map(|(_, found)| found))
}

fn found(value: Value, data: &[u8], isa: Isa) -> Option<Found> {
    let raw = value.raw(data).to_vec();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("rows are UTF-8");
    Some(match value {
        Value::Missing => return None,
        Value::Null => Found::Null,
        Value::Number { .. } => Found::Number(text(raw)),
        Value::Other { .. } => Found::Other,
        Value::Text { escaped, .. } => {
            let mut decoded = Vec::new();
            unescape(&raw, &mut decoded, isa);
            assert_eq!(escaped, raw.contains(&b'\\'));
            Found::Text(text(decoded))
        }
    })
}

fn check(data: &[u8], isa: Isa) {
    let (all, count) = seen(data, &["id", "text"], isa);
    let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(count, lines.len() as u64);
    let mut visited = all.into_iter();
    for (number, line) in lines.into_iter().enumerate() {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            continue;
        }
        let ours = match visited.next().expect("no line is left out") {
            Seen::Row { values, line, .. } => {
                assert_eq!(line, number as u64);
                Some(values.into_iter().map(|value| found(value, data, isa)).collect::<Vec<_>>())
            }
            Seen::Malformed(bad) => {
                assert_eq!(bad.line, number as u64);
                None
            }
        };
        let theirs = expected(line, "id").zip(expected(line, "text")).map(|(id, text)| vec![id, text]);
        assert_eq!(ours, theirs, "{:?} on {isa:?}", String::from_utf8_lossy(line));
    }
    assert_eq!(visited.next(), None);
}

/// Lines of random objects; about half of them are damaged.
fn random_lines(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    for _ in 0..1 + random.below(6) {
        let mut line = String::new();
        object(random, 3, &mut line);
        let mut line = line.into_bytes();
        if random.below(2) == 0 {
            mutate(random, &mut line);
        }
        data.extend(line);
        data.extend(random.pick(&[&b"\n"[..], b"\r\n", b"\n\n"]));
    }
    if random.below(2) == 0 {
        data.pop();
    }
    data
}

#[test]
fn random_lines_are_read_as_the_oracle_reads_them() {
    let mut random = Random(1);
    for _ in 0..4_000 {
        let data = random_lines(&mut random);
        // A byte order mark is no part of the first line, which the oracle does not know.
        if !data.starts_with(b"\xEF\xBB\xBF") {
            on_all(|isa| check(&data, isa));
        }
    }
}

#[test]
fn damaged_data_gives_the_same_everywhere() {
    let mut random = Random(2);
    for _ in 0..4_000 {
        let mut data = random_lines(&mut random);
        for _ in 0..random.below(5) {
            let at = random.below(data.len() + 1);
            data.splice(at..at, [random.pick(b"\n\\\"{}\x00\xff\xe4u")]);
        }
        data.truncate(random.below(data.len() + 1));
        let portable = seen(&data, &["text", "id", "text"], Isa::Portable);
        on_all(|isa| assert_eq!(seen(&data, &["text", "id", "text"], isa), portable, "{data:?} on {isa:?}"));
    }
}

#[test]
fn random_tokens_give_no_panic() {
    let mut random = Random(3);
    for _ in 0..4_000 {
        let size = random.below(40);
        let data: String = (0..size).map(|_| random.pick(TOKENS)).collect();
        on_all(|isa| check(format!("{{\"id\":{data}}}").as_bytes(), isa));
        on_all(|isa| check(data.as_bytes(), isa));
    }
}

#[test]
fn every_place_in_a_vector_ends_a_string_alike() {
    let ends = [
        "\"}",
        "\\\"\"}",
        "\\\\\"}",
        "\\u12aB\"}",
        "\\u12a\"}",
        "\\x\"}",
        "\u{1}\"}",
        "\\\\\\\"\"}",
        "\\\\\\\"}",
        "\u{e9}\"}",
        "\\é\"}",
    ];
    for end in ends {
        for before in 0..140 {
            for after in [0, 70] {
                let line = format!("{{\"text\":\"{}{end}{}", "a".repeat(before), " ".repeat(after));
                on_all(|isa| check(line.as_bytes(), isa));
            }
        }
    }
}
