//! The processing of single code points that does not depend on their context.
//!
//! Most code points are processed in the same way in every text, so the definition is evaluated once for each, and
//! the result is stored in a table. The exceptions are known: code points that may compose with the previous ones or
//! be reordered among their neighbours, and the capital sigma, whose lower case depends on its word.

use super::class::{Class, class, fold_case};
use super::offsets::starts_afresh;
use super::recipe::{Case, Form, Recipe, Tokenizer, Unit};
use std::sync::OnceLock;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Code points that are evaluated together, when the first of them occurs.
const BLOCK: usize = 128;
/// Blocks of the code space.
const BLOCKS: usize = 0x11_0000 / BLOCK;
/// The maximum number of bytes of the result of a code point; longer results are left to the definition.
const ROOM: usize = 4;

/// How a code point is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Some bytes, perhaps none: part of the word, or characters.
    Plain = 0,
    /// Separates words, or is white space.
    Blank = 1,
    /// A token of its own.
    Own = 2,
    /// A mark that is never moved; it belongs to the token before it, if there is one.
    Attached = 3,
    /// The same, if no mark of a higher combining class is before it.
    Mark = 4,
    /// May compose with the code point before it; unchanged otherwise.
    Second = 5,
    /// Only the definition knows, together with what joins it.
    Complex = 6,
    /// Only the definition knows, from the whole text.
    Context = 7,
}

/// The result of one code point: its bytes, their number, its [`Kind`], and the possible effects of its neighbours.
#[derive(Clone, Copy)]
pub struct Entry(u64);

const ATOMIC: u64 = 1 << 48;
const JOINS: u64 = 1 << 49;
const IN_PLACE: u64 = 1 << 50;

impl Entry {
    fn new(kind: Kind, text: &str, order: u8, flags: u64) -> Entry {
        let mut bytes = [0; ROOM];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        let fields = (text.len() as u64) << 32 | (kind as u64) << 36 | u64::from(order) << 40;
        Entry(u64::from(u32::from_le_bytes(bytes)) | fields | flags)
    }

    /// The bytes; the first [`Entry::used`] count.
    #[inline(always)]
    pub fn bytes(self) -> [u8; ROOM] {
        (self.0 as u32).to_le_bytes()
    }

    /// The number of bytes.
    #[inline(always)]
    pub fn used(self) -> usize {
        (self.0 >> 32) as usize & 7
    }

    /// How it is read.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.0 >> 36 & 7 {
            0 => Kind::Plain,
            1 => Kind::Blank,
            2 => Kind::Own,
            3 => Kind::Attached,
            4 => Kind::Mark,
            5 => Kind::Second,
            6 => Kind::Complex,
            _ => Kind::Context,
        }
    }

    /// The canonical combining class of its end: a mark of this or a higher one remains after it.
    #[inline(always)]
    pub fn order(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// Whether neither it nor what it is folded to has a decomposition: what follows can compose with all of it only.
    #[inline(always)]
    pub fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// Whether it is read as as many bytes as it has: those of [`Entry::bytes`], spaces if it is blank.
    #[inline(always)]
    pub fn is_in_place(self) -> bool {
        self.0 & IN_PLACE != 0
    }

    /// Whether it must be normalized together with the previous code points.
    #[inline(always)]
    pub fn joins(self) -> bool {
        self.0 & JOINS != 0
    }
}

/// The result of each code point by one recipe.
pub struct Alone {
    recipe: Recipe,
    /// The result of each ASCII character: one byte, a space if it is blank.
    pub ascii: [u8; 128],
    blocks: Box<[OnceLock<Box<[Entry; BLOCK]>>]>,
}

impl Alone {
    /// The table of a recipe; made once.
    pub fn of(recipe: &Recipe) -> &'static Alone {
        static TABLES: [OnceLock<Alone>; 3 * 3 * 8] = [const { OnceLock::new() }; 72];
        let way = match (recipe.unit, recipe.tokenizer) {
            (Unit::Char, _) => usize::from(recipe.keep_punctuation) + 2 * usize::from(recipe.keep_whitespace),
            (Unit::Word, Tokenizer::Unified) => 4,
            (Unit::Word, Tokenizer::Alnum) => 5,
        };
        let at = (recipe.form as usize * 3 + recipe.case as usize) * 8 + way;
        TABLES[at].get_or_init(|| {
            let blocks = std::iter::repeat_with(OnceLock::new).take(BLOCKS).collect();
            let mut table = Alone { recipe: *recipe, ascii: [b' '; 128], blocks };
            for code in 0..128 {
                let entry = table.entry(code);
                if entry.kind() == Kind::Plain {
                    table.ascii[code as usize] = entry.bytes()[0];
                }
            }
            table
        })
    }

    /// The result of a code point.
    #[inline(always)]
    pub fn entry(&self, code: u32) -> Entry {
        let block = &self.blocks[code as usize / BLOCK];
        match block.get() {
            Some(block) => block[code as usize % BLOCK],
            None => self.make_block(code)[code as usize % BLOCK],
        }
    }

    #[cold]
    fn make_block(&self, code: u32) -> &[Entry; BLOCK] {
        let first = code - code % BLOCK as u32;
        let make = |i: usize| match char::from_u32(first + i as u32) {
            Some(c) => self.ask_place(c),
            None => Entry::new(Kind::Complex, "", 0, JOINS),
        };
        self.blocks[code as usize / BLOCK].get_or_init(|| Box::new(std::array::from_fn(make)))
    }

    fn decomposed(&self, text: &str) -> String {
        match self.recipe.form {
            Form::Nfkc => text.nfkd().collect(),
            Form::Nfc => text.nfd().collect(),
            Form::None => text.to_owned(),
        }
    }

    /// The result of a code point by the definition, and whether it can replace the code point.
    fn ask_place(&self, c: char) -> Entry {
        let entry = self.ask(c);
        match entry.kind() {
            Kind::Plain if entry.used() == c.len_utf8() => Entry(entry.0 | IN_PLACE),
            Kind::Blank => Entry(entry.0 | u64::from(u32::from_le_bytes([b' '; 4])) | IN_PLACE),
            _ => entry,
        }
    }

    /// The result of a code point by the definition.
    fn ask(&self, c: char) -> Entry {
        let form = self.recipe.form;
        let text = c.to_string();
        let formed = self.recipe.formed(&text).unwrap_or_else(|| text.clone());
        if self.recipe.case == Case::Lower && formed.contains('Σ') {
            return Entry::new(Kind::Context, "", 0, JOINS);
        }
        let mut cased = String::new();
        match self.recipe.case {
            Case::Fold => fold_case(&formed, &mut cased),
            Case::Lower => cased = formed.to_lowercase(),
            Case::Keep => cased.clone_from(&formed),
        }
        let mut result = String::new();
        self.recipe.normalize(&text, &mut result);
        if form == Form::None {
            return self.alone(&result, 0, 0);
        }
        let ends = [Some(&formed), Some(&cased), self.recipe.formed(&cased).as_ref()]
            .map(|part| part.and_then(|part| part.chars().next_back()).map_or(0, canonical_combining_class));
        let order = ends.into_iter().max().unwrap_or(0);
        if starts_afresh(c, form) && cased.chars().next().is_none_or(|first| starts_afresh(first, form)) {
            let whole = |part: &str| part.chars().count() == 1 && self.decomposed(part) == part;
            let blank = self.alone(&result, 0, 0).kind() == Kind::Blank;
            let atomic = whole(&text) && whole(&cased) && (!blank || cased == text);
            return self.alone(&result, order, if atomic && !result.is_empty() { ATOMIC } else { 0 });
        }
        let unchanged = formed == text && cased == text && result == text;
        match is_nfc_quick(std::iter::once(c)) {
            _ if !unchanged => Entry::new(Kind::Complex, "", order, JOINS),
            IsNormalized::Yes if order > 0 && class(c) == Class::Mark => match self.alone(&result, 0, 0).kind() {
                Kind::Blank => Entry::new(Kind::Mark, " ", order, JOINS),
                _ => Entry::new(Kind::Mark, &result, order, JOINS),
            },
            _ => Entry::new(Kind::Second, &result, order, JOINS),
        }
    }

    /// The entry of a code point that becomes `result` and is not touched by what stands before it.
    fn alone(&self, result: &str, order: u8, flags: u64) -> Entry {
        let kind = match self.recipe.unit {
            Unit::Word => self.word_kind(result),
            Unit::Char => return self.characters(result, order, flags),
        };
        match kind {
            Kind::Blank => Entry::new(kind, " ", order, flags),
            Kind::Complex => Entry::new(kind, "", order, flags),
            _ if result.len() > ROOM => Entry::new(Kind::Complex, "", order, flags),
            _ => Entry::new(kind, result, order, flags),
        }
    }

    fn word_kind(&self, result: &str) -> Kind {
        let parts: Vec<Kind> = result.chars().map(|c| word_part(&self.recipe, c)).collect();
        match parts.as_slice() {
            [] => Kind::Plain,
            [Kind::Attached] => Kind::Attached,
            [Kind::Own, marks @ ..] if marks.iter().all(|&part| part == Kind::Attached) => Kind::Own,
            parts if parts.iter().all(|&part| part == Kind::Blank) => Kind::Blank,
            [Kind::Plain, rest @ ..] if rest.iter().all(|&part| matches!(part, Kind::Plain | Kind::Attached)) => {
                Kind::Plain
            }
            _ => Kind::Complex,
        }
    }

    fn characters(&self, result: &str, order: u8, flags: u64) -> Entry {
        let parts: Vec<Option<char>> = result.chars().map(|c| character(&self.recipe, c)).collect();
        if !parts.is_empty() && parts.iter().all(Option::is_none) {
            return Entry::new(Kind::Blank, " ", order, flags);
        }
        match parts.into_iter().collect::<Option<String>>() {
            Some(text) if text.len() <= ROOM => Entry::new(Kind::Plain, &text, order, flags),
            _ => Entry::new(Kind::Complex, "", order, flags),
        }
    }
}

/// The kind of a code point of the normalized text for the tokenizer: part of a word, a token of its own, a mark of
/// the one before it, or blank.
pub fn word_part(recipe: &Recipe, c: char) -> Kind {
    let unified = recipe.tokenizer == Tokenizer::Unified;
    match class(c) {
        Class::Word => Kind::Plain,
        Class::Unspaced if unified => Kind::Own,
        Class::Unspaced => Kind::Plain,
        Class::Mark if unified => Kind::Attached,
        _ => Kind::Blank,
    }
}

/// The character for a code point of the normalized text; none if it is blank, to be squeezed with others.
pub fn character(recipe: &Recipe, c: char) -> Option<char> {
    let class = class(c);
    let c = if class == Class::Symbol && !recipe.keep_punctuation { ' ' } else { c };
    let blank = !recipe.keep_whitespace && (c == ' ' || class == Class::Space);
    (!blank).then_some(c)
}
