//! Decoding of strings with escapes.

use super::{Random, on_all};
use crate::jsonl::unescape;

fn unescaped(raw: &[u8], isa: crate::isa::Isa) -> Vec<u8> {
    let mut out = b"left over".to_vec();
    unescape(raw, &mut out, isa);
    assert!(out.capacity() - out.len() >= 64);
    out
}

#[test]
fn escapes_stand_for_their_characters() {
    let cases: &[(&str, &str)] = &[
        ("", ""),
        ("plain жук", "plain жук"),
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r"\u0041\u00e9\u20AC", "Aé€"),
        (r"\u0000", "\0"),
        (r"\ud83d\udc0c", "🐌"),
        (r"\ud83d", "\u{FFFD}"),
        (r"\udc0c\ud83d", "\u{FFFD}\u{FFFD}"),
        (r"\ud83d\ud83d\udc0c", "\u{FFFD}🐌"),
        (r"\ud83dx\udc0c", "\u{FFFD}x\u{FFFD}"),
        (r"\ud83d\n", "\u{FFFD}\n"),
        (r"\\u0041", r"\u0041"),
        (r"\\\u0041", r"\A"),
        // Not accepted by scan: the backslash goes.
        (r"\x\u12", "xu12"),
        (r"a\", "a"),
        (r"\é\", "é"),
    ];
    // Plain text before and behind moves the case across all places in a vector.
    for (raw, text) in cases {
        for before in 0..130 {
            let (before, behind) = ("b".repeat(before), ".".repeat(before % 67));
            if raw.ends_with('\\') && !behind.is_empty() {
                continue;
            }
            let (raw, text) = ([&before, *raw, &behind].concat(), [&before, *text, &behind].concat());
            on_all(|isa| assert_eq!(unescaped(raw.as_bytes(), isa), text.as_bytes(), "{raw} on {isa:?}"));
        }
    }
}

#[test]
fn any_mix_of_escapes_decodes_as_its_parts() {
    let parts = [
        ("\\n", "\n"),
        ("\\\\", "\\"),
        ("\\\"", "\""),
        ("\\u00e9", "é"),
        ("\\ud83d\\udc0c", "🐌"),
        ("abc", "abc"),
        ("ж", "ж"),
    ];
    let mut random = Random(7);
    for _ in 0..3_000 {
        let chosen: Vec<_> = (0..random.below(80)).map(|_| random.pick(&parts)).collect();
        let raw: String = chosen.iter().map(|part| part.0).collect();
        let text: String = chosen.iter().map(|part| part.1).collect();
        on_all(|isa| assert_eq!(unescaped(raw.as_bytes(), isa), text.as_bytes(), "{raw} on {isa:?}"));
    }
}

#[test]
fn any_bytes_at_all_decode_alike_everywhere() {
    let mut random = Random(11);
    for _ in 0..5_000 {
        let size = random.below(200);
        let raw: Vec<u8> = (0..size).map(|_| random.pick(b"\\\\\\uunD8dcC0x\xd0\xb6\xff\"")).collect();
        let expected = unescaped(&raw, crate::isa::Isa::Portable);
        assert!(expected.len() <= raw.len());
        on_all(|isa| assert_eq!(unescaped(&raw, isa), expected, "{raw:?} on {isa:?}"));
    }
}
