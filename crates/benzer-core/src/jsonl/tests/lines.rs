//! Valid rows and their values, and the messages for malformed lines.

use super::{Seen, on_all, seen};
use crate::jsonl::{Malformed, Row, Value, newline_from, scan, scan_rest};

/// The shown form of the columns `id` and `text` of a line, or the reason why it is malformed.
fn shown(line: &[u8], padding: usize) -> impl Fn(crate::isa::Isa) -> Vec<String> {
    let mut data = line.to_vec();
    // Blank lines behind: then the line is not near the end of the data.
    data.extend(vec![b'\n'; padding]);
    move |isa| match &seen(&data, &["id", "text"], isa).0[..] {
        [Seen::Row { values, .. }] => values.iter().map(|value| show(*value, &data)).collect(),
        [Seen::Malformed(malformed)] => vec![malformed.reason.clone()],
        other => panic!("one line, but visited: {other:?}"),
    }
}

fn show(value: Value, data: &[u8]) -> String {
    let raw = String::from_utf8(value.raw(data).to_vec()).expect("rows are UTF-8");
    match value {
        Value::Missing => "missing".into(),
        Value::Null => "null".into(),
        Value::Text { escaped, .. } => format!("{}{raw}", if escaped { "escaped " } else { "text " }),
        Value::Number { .. } => format!("number {raw}"),
        Value::Other { .. } => format!("other {raw}"),
    }
}

#[test]
fn sound_lines_give_the_values_of_the_columns() {
    let cases: &[(&str, [&str; 2])] = &[
        (r#"{}"#, ["missing", "missing"]),
        (" \t{ \r} \t", ["missing", "missing"]),
        (r#"{"id":1,"text":"a"}"#, ["number 1", "text a"]),
        (r#"{ "text" : "a" , "id" : -0.5E+3 }"#, ["number -0.5E+3", "text a"]),
        (r#"{"id":null,"text":""}"#, ["null", "text "]),
        (r#"{"id":true,"text":false}"#, ["other true", "other false"]),
        (r#"{"id":[],"text":{}}"#, ["other []", "other {}"]),
        (
            r#"{"id":[1,[{"a":[null]}],"]"],"text":{"b":{"c":"}"},"d":0}}"#,
            ["other [1,[{\"a\":[null]}],\"]\"]", "other {\"b\":{\"c\":\"}\"},\"d\":0}"],
        ),
        (r#"{"x":{"id":1,"text":"no"},"y":["text"]}"#, ["missing", "missing"]),
        (r#"{"id":1,"id":"two","text":"a","text":"b"}"#, ["text two", "text b"]),
        (r#"{"\u0069d":1,"t\u0065xt":"a"}"#, ["number 1", "text a"]),
        (r#"{"i\u0064\u0020":1,"text\n":"a"}"#, ["missing", "missing"]),
        (r#"{"text":"\"\\\/\b\f\n\r\t\u12aF"}"#, ["missing", r#"escaped \"\\\/\b\f\n\r\t\u12aF"#]),
        (r#"{"text":"\\"}"#, ["missing", r#"escaped \\"#]),
        (r#"{"text":"ends in \\\"","id":0}"#, ["number 0", r#"escaped ends in \\\""#]),
        (r#"{"id":0e0,"text":1.0e-10}"#, ["number 0e0", "number 1.0e-10"]),
        ("{\"text\":\"жук \u{1F40C} \u{7f}\"}", ["missing", "text жук \u{1F40C} \u{7f}"]),
    ];
    for (line, values) in cases {
        for padding in [0, 1, 80] {
            on_all(|isa| assert_eq!(shown(line.as_bytes(), padding)(isa), values, "{line} on {isa:?}"));
        }
    }
}

#[test]
fn malformed_lines_are_named_with_reason_and_column() {
    let cases: &[(&[u8], &str)] = &[
        (b"[1]", "not a JSON object: expected '{' at column 1, found '['"),
        (b" x", "not a JSON object: expected '{' at column 2, found 'x'"),
        (b"{", "expected a key in double quotes at column 2, found the end of the line"),
        (b"{'a':1}", "expected a key in double quotes at column 2, found '''"),
        (b"{\"a\" 1}", "expected ':' at column 6, found '1'"),
        (b"{\"a\":}", "expected a JSON value at column 6, found '}'"),
        (b"{\"a\":\x01}", "expected a JSON value at column 6, found byte 0x01"),
        (b"{\"a\":1 \"b\":2}", "expected ',' or '}' at column 8, found '\"'"),
        (b"{\"a\":1,}", "expected a key in double quotes at column 8, found '}'"),
        (b"{\"a\":1", "expected ',' or '}' at column 7, found the end of the line"),
        (b"{\"a\":1}}", "expected the end of the line at column 8, found '}'"),
        (b"{} {}", "expected the end of the line at column 4, found '{'"),
        (b"{\"a\":[1,]}", "expected a JSON value at column 9, found ']'"),
        (b"{\"a\":[1}", "expected ',' or ']' at column 8, found '}'"),
        (b"{\"a\":{\"b\":1]}", "expected ',' or '}' at column 12, found ']'"),
        (b"{\"a\":{1:1}}", "expected a key in double quotes at column 7, found '1'"),
        (b"{\"a\":[[[", "expected a JSON value at column 9, found the end of the line"),
        (b"{\"a\":\"b}", "unterminated string: its quote at column 6 is never closed"),
        (b"{\"a\":\"b\\\"}", "unterminated string: its quote at column 6 is never closed"),
        (b"{\"a\":\"\tb\"}", "control character 0x09 in a string at column 7: escape it"),
        (b"{\"a\\x\":1}", "invalid escape at column 4: after a backslash comes one of \" \\ / b f n r t u"),
        (b"{\"text\":\"\\U0041\"}", "invalid escape at column 10: after a backslash comes one of \" \\ / b f n r t u"),
        (b"{\"text\":\"\\", "invalid escape at column 10: after a backslash comes one of \" \\ / b f n r t u"),
        (b"{\"text\":\"\\u12g4\"}", "invalid escape at column 10: \\u takes four hexadecimal digits"),
        (b"{\"text\":\"\\u12\"}", "invalid escape at column 10: \\u takes four hexadecimal digits"),
        (b"{\"a\":01}", "expected ',' or '}' at column 7, found '1'"),
        (b"{\"a\":-}", "invalid number at column 6: write it as in -12.5e3"),
        (b"{\"a\":1.}", "invalid number at column 6: write it as in -12.5e3"),
        (b"{\"a\":1e+}", "invalid number at column 6: write it as in -12.5e3"),
        (b"{\"a\":-Infinity}", "invalid number at column 6: write it as in -12.5e3"),
        (b"{\"a\":+1}", "expected a JSON value at column 6, found '+'"),
        (b"{\"a\":NaN}", "invalid literal at column 6: JSON has only true, false and null (no NaN, no Infinity)"),
        (b"{\"a\":nul}", "invalid literal at column 6: JSON has only true, false and null (no NaN, no Infinity)"),
        (b"{\"a\":truely}", "expected ',' or '}' at column 10, found 'l'"),
        (b"{\"a\":\"\xff\"}", "invalid UTF-8 at byte 7 of the line"),
        (b"{\"a\":\"\xe4\xb8\"}", "invalid UTF-8 at byte 7 of the line"),
        (b"{\"\xed\xa0\x80\":1}", "invalid UTF-8 at byte 3 of the line"),
    ];
    for (line, reason) in cases {
        for padding in [0, 1, 80] {
            on_all(|isa| assert_eq!(shown(line, padding)(isa), [*reason], "on {isa:?}"));
        }
    }
}

#[test]
fn lines_are_numbered_and_bounded_without_their_endings() {
    let data = b"\xEF\xBB\xBF{}\r\n\r\n \t\nbad\r\n{\"a\":\"\xff\"}\n{} \n{}";
    let spans = |isa| {
        let (all, lines) = seen(data, &[], isa);
        assert_eq!(lines, 7);
        all.into_iter()
            .map(|one| match one {
                Seen::Row { line, start, end, .. } => (true, line, &data[start..end]),
                Seen::Malformed(bad) => (false, bad.line, &data[bad.start..bad.end]),
            })
            .collect::<Vec<_>>()
    };
    let expected: [(bool, u64, &[u8]); 5] =
        [(true, 0, b"{}"), (false, 3, b"bad"), (false, 4, b"{\"a\":\"\xff\"}"), (true, 5, b"{} "), (true, 6, b"{}")];
    on_all(|isa| assert_eq!(spans(isa), expected));
}

#[test]
fn a_byte_order_mark_is_ignored_at_the_start_of_a_file_only() {
    let data = b"\xEF\xBB\xBF{}\n{}\n\xEF\xBB\xBF{}\n";
    let sound = |from: usize, isa| {
        let mut sound = Vec::new();
        let visit = |line: Result<Row<'_>, Malformed>| {
            sound.push(line.is_ok());
            Ok::<(), ()>(())
        };
        let lines = if from == 0 { scan(data, &[], isa, visit) } else { scan_rest(&data[from..], &[], isa, visit) };
        assert_eq!(lines, Ok(sound.len() as u64));
        sound
    };
    on_all(|isa| assert_eq!(sound(0, isa), [true, true, false]));
    on_all(|isa| assert_eq!(sound(6, isa), [true, false]));
    on_all(|isa| assert_eq!(sound(9, isa), [false]));
}

#[test]
fn the_number_of_lines_counts_blank_ones_and_an_unended_last_one() {
    let cases: &[(&[u8], u64)] =
        &[(b"", 0), (b"\n", 1), (b"\n\n", 2), (b" ", 1), (b"{}", 1), (b"{}\n", 1), (b"{}\n{", 2), (b"\xEF\xBB\xBF", 0)];
    for (data, lines) in cases {
        on_all(|isa| assert_eq!(seen(data, &["id"], isa).1, *lines, "{data:?}"));
    }
}

#[test]
fn nesting_has_no_limit() {
    let depth = 1_000_000;
    let line = ["{\"a\":", &"[".repeat(depth), &"]".repeat(depth), "}"].concat();
    on_all(|isa| assert!(matches!(seen(line.as_bytes(), &["a"], isa).0[..], [Seen::Row { .. }])));
    on_all(|isa| assert!(matches!(seen(&line.as_bytes()[..depth], &["a"], isa).0[..], [Seen::Malformed(_)])));
}

#[test]
fn a_fault_in_one_block_of_utf8_leaves_the_lines_around_it() {
    let mut data = "{\"text\":\"жжжжжжжжжжжжжжжжжжжж\"}\n".repeat(20_000).into_bytes();
    let width = data.len() / 20_000;
    for bad in [7_000, 12_345] {
        data[bad * width + 11] = 0xFF;
    }
    on_all(|isa| {
        let (all, lines) = seen(&data, &["text"], isa);
        let bad =
            |one: &Seen| matches!(one, Seen::Malformed(bad) if bad.reason == "invalid UTF-8 at byte 12 of the line");
        let found: Vec<usize> = (0..all.len()).filter(|&line| bad(&all[line])).collect();
        assert_eq!((found, lines), (vec![7_000, 12_345], 20_000));
    });
}

#[test]
fn the_first_error_of_the_visitor_ends_the_scan() {
    on_all(|isa| {
        let mut visits = 0;
        let ended = scan(b"{}\n[]\n{}\n", &[], isa, |line| {
            visits += 1;
            line.map(|_| ()).map_err(|malformed| malformed.line)
        });
        assert_eq!((ended, visits), (Err(1), 2));
    });
}

fn split_points(data: &[u8], pieces: usize) -> Vec<usize> {
    crate::jsonl::split_points(data.len(), pieces, |at| newline_from(data, at))
}

#[test]
fn parts_begin_after_newlines_and_cover_the_data() {
    let data = b"aaaa\nbb\n\ncccccccccccc\nd";
    for pieces in 0..30 {
        let borders = split_points(data, pieces);
        assert_eq!((borders[0], borders[borders.len() - 1]), (0, data.len()));
        assert!(borders.len() <= pieces.max(1) + 1);
        for cut in &borders[1..borders.len() - 1] {
            assert_eq!(data[cut - 1], b'\n');
        }
        assert!(borders.windows(2).all(|pair| pair[0] < pair[1]));
    }
    assert_eq!(split_points(b"", 4), [0, 0]);
    assert_eq!(split_points(b"one long line", 4), [0, 13]);
    assert_eq!(split_points(b"a\nb\nc\nd\n", 4), [0, 2, 4, 6, 8]);
}
