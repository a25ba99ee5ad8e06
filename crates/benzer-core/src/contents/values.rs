//! The values of a stored value set, which is a JSON array of strings and integers.

use crate::hash::shingle::value_hash;
use crate::isa;
use crate::jsonl::unescape;

/// Buffers to read values with.
#[derive(Default)]
pub struct Scratch {
    copy: Vec<u8>,
    decoded: Vec<u8>,
    canonical: Vec<u8>,
}

/// Replaces the content of `out` by the hashes of the values in `data`, in order, with repeats; none if the data is not
/// such an array.
///
/// The byte in front of a value, a quote or what separates it from the last, is overwritten by the letter of its kind:
/// then it is in its canonical form where it is.
pub fn read(data: &[u8], scratch: &mut Scratch, out: &mut Vec<u64>) -> Option<()> {
    let Scratch { copy, decoded, canonical } = scratch;
    out.clear();
    copy.clear();
    copy.extend_from_slice(simdutf8::basic::from_utf8(data).ok()?.as_bytes());
    if copy == b"[]" {
        return Some(());
    }
    let (mut at, mut before) = (0, b'[');
    while copy.get(at) == Some(&before) {
        let end;
        if copy.get(at + 1) == Some(&b'"') {
            at += 1;
            let (length, escaped) = string(&copy[at + 1..])?;
            end = at + 1 + length;
            copy[at] = b's';
            if escaped {
                unescape(&copy[at + 1..end], decoded, isa::current());
                canonical.clear();
                canonical.push(b's');
                canonical.extend_from_slice(decoded);
                out.push(value_hash(canonical));
            } else {
                out.push(value_hash(&copy[at..end]));
            }
            at = end + 1;
        } else {
            end = at + 1 + integer(&copy[at + 1..])?;
            copy[at] = b'i';
            out.push(value_hash(&copy[at..end]));
            at = end;
        }
        before = b',';
    }
    (copy[at..] == *b"]" && before == b',').then_some(())
}

/// The length of the integer at the start.
fn integer(data: &[u8]) -> Option<usize> {
    let sign = usize::from(data.starts_with(b"-"));
    let digits = data[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then_some(sign + digits)
}

/// The length of the string up to its closing quote, and whether there are escapes in it.
fn string(data: &[u8]) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (0, false);
    loop {
        at += data.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if data[at] == b'"' {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(data: &str) -> Option<Vec<u64>> {
        let mut out = vec![7];
        read(data.as_bytes(), &mut Scratch::default(), &mut out).map(|()| out)
    }

    #[test]
    fn strings_and_integers_are_hashed_by_their_canonical_bytes() {
        let found = hashes(r#"["red","a\"b\\",-7,"7",12345678901234567890123,"\u00fc\ud83d\ude00","\ud800"]"#).unwrap();
        let canonical =
            ["sred", "sa\"b\\", "i-7", "s7", "i12345678901234567890123", "sü😀", "s\u{FFFD}"].map(str::as_bytes);
        assert_eq!(found, canonical.map(value_hash));
        assert_eq!(hashes("[]"), Some(Vec::new()));
        assert_eq!(hashes("[1,1]").unwrap().len(), 2);
    }

    #[test]
    fn anything_else_is_refused() {
        for data in [
            "",
            "[",
            "]",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[-]",
            "[\"a]",
            "[\"a\\\"]",
            "[\"a\\",
            "[true]",
            "[1]x",
            "1",
        ] {
            assert_eq!(hashes(data), None, "{data}");
        }
        assert!(read(b"[\"\xff\"]", &mut Scratch::default(), &mut Vec::new()).is_none());
    }
}
