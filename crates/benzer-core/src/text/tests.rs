//! Every text is processed as the definition states, on every level.

use super::class::{Class, class};
use super::prepared::Prepared;
use super::recipe::{Case, Form, Recipe, Tokenizer, Unit};
use super::{Reader, Scratch, alone::Alone, lookup};
use crate::hash::mix::SplitMix64;
use crate::hash::shingle::{char_shingle, token_hash, word_shingles};
use crate::isa::{Isa, Level, Task, run_at};

pub(super) const RECIPE: Recipe = Recipe::PLAIN;
const CHARS: Recipe = Recipe { unit: Unit::Char, ..RECIPE };

/// Code points that do something to their neighbours, or might, and some that do not.
const HARD: [&str; 80] = [
    "a",
    "Z",
    "e",
    "1",
    "_",
    " ",
    "  ",
    "\n",
    "\t",
    "\0",
    "\u{1c}",
    "\u{7f}",
    ",",
    "=",
    "<",
    "'",
    "A",
    "K",
    "ß",
    "ẞ",
    "ﬁ",
    "ŉ",
    "é",
    "É",
    "Å",
    "\u{212b}",
    "\u{301}",
    "\u{323}",
    "\u{338}",
    "\u{345}",
    "\u{344}",
    "\u{321}",
    "\u{334}",
    "Σ",
    "σ",
    "ς",
    "ΐ",
    "\u{1d6ba}",
    "ᾳ",
    "İ",
    "ı",
    "\u{ad}",
    "\u{200d}",
    "\u{feff}",
    "\u{a0}",
    "\u{3000}",
    "\u{85}",
    "…",
    "—",
    "’",
    "´",
    "½",
    "²",
    "№",
    "ﷺ",
    "\u{1112}",
    "\u{1161}",
    "\u{11ab}",
    "한",
    "하",
    "か",
    "\u{3099}",
    "ｶ",
    "\u{ff9e}",
    "東",
    "กำ",
    "ลั่",
    "\u{e48}",
    "ب",
    "\u{64e}",
    "\u{651}",
    "א",
    "\u{5b8}",
    "\u{fb2c}",
    "\u{9c7}",
    "\u{9be}",
    "क्",
    "\u{93c}",
    "👩\u{200d}👧",
    "𝐀",
];

struct Prepare<'a>(&'a Recipe, &'a str);
impl Task for Prepare<'_> {
    type Output = Option<String>;
    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let mut prepared = Prepared::default();
        prepared.read::<L>(self.0, Alone::of(self.0), self.1).ok()?;
        Some(String::from_utf8(prepared.bytes().to_vec()).expect("what is prepared is UTF-8"))
    }
}

struct Read<'a>(&'a Reader, &'a str, &'a mut Scratch);
impl Task for Read<'_> {
    type Output = (Vec<u64>, usize);
    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        self.0.read::<L>(self.1, self.2);
        (self.2.shingles.clone(), self.2.units)
    }
}

pub(super) fn recipes() -> Vec<Recipe> {
    let mut all = Vec::new();
    for form in [Form::Nfkc, Form::Nfc, Form::None] {
        for case in [Case::Fold, Case::Lower, Case::Keep] {
            let words = Recipe { form, case, ..RECIPE };
            all.extend([Tokenizer::Unified, Tokenizer::Alnum].map(|tokenizer| Recipe { tokenizer, ..words }));
            for keep_punctuation in [false, true] {
                for keep_whitespace in [false, true] {
                    all.push(Recipe { unit: Unit::Char, keep_punctuation, keep_whitespace, ..words });
                }
            }
        }
    }
    all
}

/// The tokens between spaces, or the characters, by the definition.
fn defined(recipe: &Recipe, text: &str) -> String {
    let (mut normal, mut spare) = (String::new(), String::new());
    recipe.normalize(text, &mut normal);
    match recipe.unit {
        Unit::Word => {
            recipe.tokens(&normal, |token| spare.push_str(&format!("{token} ")));
            spare
        }
        Unit::Char => {
            recipe.squeeze(&mut normal, &mut spare);
            normal
        }
    }
}

/// The same of what was prepared.
fn found(recipe: &Recipe, prepared: String) -> String {
    match recipe.unit {
        Unit::Word => prepared.split(' ').filter(|token| !token.is_empty()).map(|token| format!("{token} ")).collect(),
        Unit::Char => prepared,
    }
}

fn assert_prepared(recipe: &Recipe, isa: Isa, text: &str) {
    if let Some(prepared) = run_at(isa, Prepare(recipe, text)) {
        assert_eq!(found(recipe, prepared), defined(recipe, text), "{text:?} ({isa:?}, {recipe:?})");
    } else {
        assert_eq!(recipe.case, Case::Lower, "only a lower case depends on the whole text: {text:?}, {recipe:?}");
    }
}

/// The shingle hashes and the number of units, by the definition.
fn defined_hashes(reader: &Reader, text: &str) -> (Vec<u64>, usize) {
    let (recipe, mut hashes) = (reader.recipe(), Vec::new());
    if recipe.unit == Unit::Word {
        let tokens: Vec<u64> = reader.tokens(text).iter().map(|token| token_hash(token.as_bytes())).collect();
        word_shingles(&tokens, recipe.shingle_size, &mut hashes);
        return (hashes, tokens.len());
    }
    let chars: Vec<char> = defined(recipe, text).chars().collect();
    let size = recipe.shingle_size.min(chars.len()).max(1);
    hashes.extend(chars.windows(size).map(|window| char_shingle(window.iter().collect::<String>().as_bytes())));
    (hashes, chars.len())
}

fn pick<'a, T: ?Sized>(random: &mut SplitMix64, from: &[&'a T]) -> &'a T {
    from[random.next_u64() as usize % from.len()]
}

/// A text of hard pieces, of stretches of ASCII, or of both.
pub(super) fn hard_text(random: &mut SplitMix64) -> String {
    let ascii = "The quick, brown fox; jumps  over 13 lazy dogs -- and \"then\" again. ".repeat(4);
    let (pieces, often) = (random.next_u64() % 40, random.next_u64() % 4);
    let mut text = String::new();
    for _ in 0..pieces {
        text.push_str(pick(random, &HARD));
        if random.next_u64() % 4 < often {
            let from = random.next_u64() as usize % 80;
            text.push_str(&ascii[from..from + random.next_u64() as usize % 150]);
        }
    }
    text
}

#[test]
fn hard_texts_are_read_as_the_definition_says_by_every_recipe_on_every_level() {
    let mut random = SplitMix64::new(5);
    let recipes = recipes();
    let mut scratch = Scratch::default();
    for _ in 0..300 {
        let text = hard_text(&mut random);
        for recipe in &recipes {
            let size = 1 + random.next_u64() as usize % 10;
            let reader = Reader::new(Recipe { shingle_size: size, ..*recipe }, &[]);
            let want = defined_hashes(&reader, &text);
            for isa in Isa::available() {
                assert_prepared(recipe, isa, &text);
                assert_eq!(run_at(isa, Read(&reader, &text, &mut scratch)), want, "{text:?} ({isa:?}, {recipe:?})");
            }
        }
    }
}

#[test]
fn any_two_hard_pieces_are_read_together_as_the_definition_says() {
    for recipe in recipes() {
        for first in HARD {
            for second in HARD {
                for text in [format!("{first}{second}"), format!("a{first}{second}\u{301}b")] {
                    assert_prepared(&recipe, Isa::detect(), &text);
                }
            }
        }
    }
}

/// Every code point that means anything, and some that do not, each among neighbours of all kinds.
fn assert_every_code_point(recipe: &Recipe, step: usize) {
    let around = [
        ("", ""),
        ("a", "b"),
        ("A", "\u{301}"),
        ("e\u{323}", "\u{301}"),
        ("=", "\u{338}"),
        ("\u{1112}", "\u{1161}"),
        ("か", "\u{3099}"),
        ("東", "\u{5b8}"),
        ("é", "\u{200d}\u{301}"),
        ("\u{ad}", "\u{11ab}"),
        (" ", "\u{345} "),
        ("\u{301}", "\u{e38}"),
    ];
    for c in ('\u{80}'..=char::MAX).step_by(step) {
        if class(c) == Class::Other && !(c as usize / step).is_multiple_of(61) {
            continue;
        }
        let mut text = format!("{c}{c}");
        for (before, after) in around {
            text.push_str(&format!("\n{before}{c}{after}"));
        }
        if defined(recipe, &text)
            == run_at(Isa::detect(), Prepare(recipe, &text)).map_or(String::new(), |it| found(recipe, it))
        {
            continue;
        }
        for part in text.split('\n').chain([text.as_str()]) {
            assert_prepared(recipe, Isa::detect(), part);
        }
    }
}

#[test]
fn every_code_point_is_read_as_the_definition_says_by_the_default_recipes() {
    assert_every_code_point(&RECIPE, 1);
    assert_every_code_point(&CHARS, 1);
}

#[test]
fn code_points_are_read_as_the_definition_says_by_every_recipe() {
    recipes().iter().for_each(|recipe| assert_every_code_point(recipe, 97));
}

#[test]
fn a_text_that_needs_its_whole_context_is_read_by_the_definition() {
    let text = "ΟΔΥΣΣΕΥΣ Σ ΑΣ. ".repeat(9);
    let lower = Recipe { case: Case::Lower, ..RECIPE };
    assert!(run_at(Isa::detect(), Prepare(&lower, &text)).is_none());
    for recipe in [lower, Recipe { unit: Unit::Char, ..lower }] {
        let reader = Reader::new(recipe, &[]);
        for isa in Isa::available() {
            let read = run_at(isa, Read(&reader, &text, &mut Scratch::default()));
            assert_eq!(read, defined_hashes(&reader, &text), "{isa:?}");
        }
    }
}

#[test]
fn a_text_that_grows_has_room() {
    for piece in ["ﷺ", "\u{390}", "東", "ŉ", "\u{fb2c}"] {
        for count in [1, 7, 50, 1000, 5000] {
            let text = piece.repeat(count);
            recipes().iter().for_each(|recipe| assert_prepared(recipe, Isa::detect(), &text));
        }
    }
}

struct Squeeze<'a>(&'a [u8], &'a [u8; 128], u8);
impl Task for Squeeze<'_> {
    type Output = Vec<u8>;
    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let mut out = vec![self.2; self.0.len() + 65];
        // SAFETY: a byte is before it, and there is space for the text and 64 bytes.
        let written = unsafe { lookup::squeeze::<L>(self.0, self.1, out.as_mut_ptr().add(1)) };
        out[1..=written].to_vec()
    }
}

#[test]
fn spaces_are_squeezed_byte_by_byte_on_every_level() {
    let mut random = SplitMix64::new(1);
    let table: [u8; 128] = std::array::from_fn(|i| if i % 3 == 0 { b' ' } else { i as u8 ^ 1 });
    for round in 0..3000 {
        let len = random.next_u64() as usize % 200;
        let rare = [3, 40, 10_000][round % 3];
        let mut byte = || random.next_u64() as u8 & if random.next_u64().is_multiple_of(rare) { 255 } else { 127 };
        let text: Vec<u8> = (0..len).map(|_| byte()).collect();
        for before in [b' ', b'x'] {
            let (mut want, mut last) = (Vec::new(), before);
            for &byte in &text {
                let byte = table.get(usize::from(byte)).copied().unwrap_or(byte);
                if (last, byte) != (b' ', b' ') {
                    want.push(byte);
                }
                last = byte;
            }
            for isa in Isa::available() {
                assert_eq!(run_at(isa, Squeeze(&text, &table, before)), want, "{isa:?}");
            }
        }
    }
}
