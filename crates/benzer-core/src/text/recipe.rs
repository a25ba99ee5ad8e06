//! The settings of a text, and their definition on a whole text.

use super::class::{Class, class, fold_case};
use crate::hash::strings::StringHash;
use unicode_normalization::UnicodeNormalization;

/// The elements of a shingle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Tokens.
    Word,
    /// Code points.
    Char,
}

/// The definition of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    /// Runs of letters, numbers and marks; each character of an unspaced script by itself.
    Unified,
    /// Runs of letters and numbers.
    Alnum,
}

/// The Unicode normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Compatibility composition.
    Nfkc,
    /// Canonical composition.
    Nfc,
    /// As it came.
    None,
}

/// The case normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Full case folding.
    Fold,
    /// Lower case.
    Lower,
    /// As it came.
    Keep,
}

/// All choices of reading a text.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Shingles of words or of characters.
    pub unit: Unit,
    /// Units in a shingle, 1 to 64.
    pub shingle_size: usize,
    /// The definition of a token.
    pub tokenizer: Tokenizer,
    /// The normal form.
    pub form: Form,
    /// The case normalization.
    pub case: Case,
    /// Whether punctuation and symbols count.
    pub keep_punctuation: bool,
    /// Whether white space stays as it is (character shingles).
    pub keep_whitespace: bool,
    /// The hash of a shingle. `Benzer` is the rule of [`hash::shingle`](crate::hash::shingle); any other hashes the
    /// shingle as a string, words joined by a space.
    pub shingle_hash: StringHash,
    /// Whether only the low 4 bytes of a hash are kept.
    pub four_bytes: bool,
    /// Whether each further occurrence of a shingle is an element of its own.
    pub frequencies: bool,
}

impl Recipe {
    /// Shingles of two words, by the default rules.
    pub const PLAIN: Recipe = Recipe {
        unit: Unit::Word,
        shingle_size: 2,
        tokenizer: Tokenizer::Unified,
        form: Form::Nfkc,
        case: Case::Fold,
        keep_punctuation: false,
        keep_whitespace: false,
        shingle_hash: StringHash::Benzer,
        four_bytes: false,
        frequencies: false,
    };
}

impl Recipe {
    /// Applies form and case to a text, and drops format characters where the recipe does.
    pub fn normalize(&self, text: &str, out: &mut String) {
        out.clear();
        if text.is_ascii() {
            out.push_str(text);
            if self.case != Case::Keep {
                out.make_ascii_lowercase();
            }
            return;
        }
        let mut cased = String::with_capacity(text.len());
        let formed = self.formed(text);
        match self.case {
            Case::Fold => fold_case(formed.as_deref().unwrap_or(text), &mut cased),
            Case::Lower => cased.push_str(&formed.as_deref().unwrap_or(text).to_lowercase()),
            Case::Keep => cased.push_str(formed.as_deref().unwrap_or(text)),
        }
        let again = if self.case == Case::Keep { None } else { self.formed(&cased) };
        let result = again.as_deref().unwrap_or(&cased);
        if self.drops_format() {
            out.extend(result.chars().filter(|&c| class(c) != Class::Format));
        } else {
            out.push_str(result);
        }
    }

    pub(super) fn formed(&self, text: &str) -> Option<String> {
        match self.form {
            Form::Nfkc => Some(text.nfkc().collect()),
            Form::Nfc => Some(text.nfc().collect()),
            Form::None => None,
        }
    }

    pub(super) fn drops_format(&self) -> bool {
        match self.unit {
            Unit::Word => self.tokenizer == Tokenizer::Unified,
            Unit::Char => self.form != Form::None,
        }
    }

    /// Passes each token of a normalized text to `emit`, in order.
    pub fn tokens<'a>(&self, text: &'a str, mut emit: impl FnMut(&'a str)) {
        let mut start = None;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let class = class(c);
            match class {
                Class::Word => {
                    start.get_or_insert(at);
                    continue;
                }
                Class::Unspaced if self.tokenizer == Tokenizer::Alnum => {
                    start.get_or_insert(at);
                    continue;
                }
                Class::Mark if self.tokenizer == Tokenizer::Unified && start.is_some() => continue,
                _ => {}
            }
            if let Some(from) = start.take() {
                emit(&text[from..at]);
            }
            match class {
                Class::Unspaced => {
                    let mut end = at + c.len_utf8();
                    while let Some((next, mark)) = chars.next_if(|&(_, next)| self::class(next) == Class::Mark) {
                        end = next + mark.len_utf8();
                    }
                    emit(&text[at..end]);
                }
                Class::Symbol if self.keep_punctuation => emit(&text[at..at + c.len_utf8()]),
                _ => {}
            }
        }
        if let Some(from) = start {
            emit(&text[from..]);
        }
    }

    /// Punctuation and white space of a normalized text, as the recipe defines for character shingles.
    pub fn squeeze(&self, text: &mut String, spare: &mut String) {
        if self.keep_punctuation && self.keep_whitespace {
            return;
        }
        if text.is_ascii() {
            self.squeeze_ascii(text, spare);
            return;
        }
        spare.clear();
        spare.reserve(text.len());
        let mut space = !self.keep_whitespace;
        for c in text.chars() {
            let class = class(c);
            let c = if class == Class::Symbol && !self.keep_punctuation { ' ' } else { c };
            let blank = !self.keep_whitespace && (c == ' ' || class == Class::Space);
            if !blank || !space {
                spare.push(if blank { ' ' } else { c });
            }
            space = blank;
        }
        if !self.keep_whitespace && spare.ends_with(' ') {
            spare.pop();
        }
        std::mem::swap(text, spare);
    }

    /// [`Recipe::squeeze`] of an ASCII text, byte by byte and without a branch: character shingles are sketched in a fifth
    /// less time.
    fn squeeze_ascii(&self, text: &mut String, spare: &mut String) {
        let mut out = std::mem::take(spare).into_bytes();
        out.resize(text.len(), 0);
        let mut len = 0;
        let mut space = !self.keep_whitespace;
        for &byte in text.as_bytes() {
            let dropped = !self.keep_punctuation && byte.is_ascii_punctuation();
            let blank = !self.keep_whitespace && (dropped || is_ascii_space(byte));
            out[len] = if dropped || blank { b' ' } else { byte };
            len += usize::from(!(blank && space));
            space = blank;
        }
        len -= usize::from(!self.keep_whitespace && len > 0 && space);
        out.truncate(len);
        *spare = std::mem::replace(text, String::from_utf8(out).unwrap_or_default());
    }
}

/// Whether an ASCII byte is white space by `str.isspace`.
#[inline(always)]
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0x1C..=0x1F)
}
