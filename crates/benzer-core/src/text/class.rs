//! Classes of code points for the tokenizer.

use super::tables::{ENTRIES, FOLDS, INDEX};

/// The class of a code point of a normalized text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Anything that only separates: controls, unassigned code points.
    Other = 0,
    /// A letter or number of a script that puts spaces between words.
    Word = 1,
    /// A letter or number of a script that does not: a token of its own.
    Unspaced = 2,
    /// A mark; it belongs to the letter before it.
    Mark = 3,
    /// A format character such as a soft hyphen.
    Format = 4,
    /// Punctuation or a symbol.
    Symbol = 5,
    /// White space.
    Space = 6,
}

/// The properties of a code point in the tables.
#[inline(always)]
fn entry(code: u32) -> i32 {
    ENTRIES[usize::from(INDEX[(code >> 7) as usize]) * 128 + (code & 127) as usize]
}

/// The class of a code point.
#[inline(always)]
pub fn class(c: char) -> Class {
    match entry(c as u32) & 7 {
        1 => Class::Word,
        2 => Class::Unspaced,
        3 => Class::Mark,
        4 => Class::Format,
        5 => Class::Symbol,
        6 => Class::Space,
        _ => Class::Other,
    }
}

/// The case folding to one code point.
#[inline(always)]
fn simple_fold(c: char) -> char {
    char::from_u32((c as i32 + (entry(c as u32) >> 5)) as u32).unwrap_or(c)
}

/// Appends the full case folding of `text`.
pub fn fold_case(text: &str, out: &mut String) {
    for c in text.chars() {
        match FOLDS.binary_search_by_key(&(c as u32), |fold| fold.0) {
            Ok(at) if !c.is_ascii() => out.push_str(FOLDS[at].1),
            _ => out.push(simple_fold(c)),
        }
    }
}
