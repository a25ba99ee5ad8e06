//! Positions of tokens and characters in the original text.
//!
//! Repeats the steps of [`Recipe::normalize`] on code points that store the code points of the original that they
//! come from. A text is normalized in pieces that no composition crosses, so the origin of each piece is known.

use super::class::{Class, class, fold_case};
use super::reader::Reader;
use super::recipe::{Case, Form, Recipe, Unit};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// From here on a code point may compose with one before it, or be moved among its neighbours.
const FIRST_MARK: char = '\u{300}';

/// A stretch of the original, in code points: its start and its end.
pub type Place = [u32; 2];

/// The units of a text (tokens, or characters of shingles) and their positions in the original.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// The normalized text.
    pub text: String,
    /// The position of each unit in the normalized text, in bytes.
    pub bounds: Vec<[usize; 2]>,
    /// The position of each unit in the original. Starts and ends never decrease from one unit to the next.
    pub places: Vec<Place>,
}

impl Units {
    /// The units themselves.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().map(|&[from, to]| &self.text[from..to])
    }
}

/// A code point of the text on its way to the normal form, and the stretch that it came from.
#[derive(Clone, Copy)]
struct Traced {
    c: char,
    place: Place,
}

impl Reader {
    /// The units of a text, and their places; linear in the text.
    ///
    /// For words they are the tokens of [`Reader::tokens`]; for characters, the characters of the shingles. If
    /// several code points of the original are converted together (a letter and the accent after it), each has the
    /// position of all.
    pub fn units(&self, text: &str) -> Units {
        let recipe = self.recipe();
        let mut traced = recipe.traced(text);
        if recipe.unit == Unit::Char {
            recipe.squeeze_traced(&mut traced);
        }
        let mut units = Units { text: traced.iter().map(|one| one.c).collect(), ..Units::default() };
        match recipe.unit {
            Unit::Char => {
                units.bounds = units.text.char_indices().map(|(at, c)| [at, at + c.len_utf8()]).collect();
                units.places = traced.iter().map(|one| one.place).collect();
            }
            Unit::Word => self.place_tokens(&traced, &mut units),
        }
        units
    }

    fn place_tokens(&self, traced: &[Traced], units: &mut Units) {
        let Units { text, bounds, places } = units;
        let (mut chars, mut at) = (traced.iter(), 0);
        self.recipe().tokens(text, |token| {
            let from = token.as_ptr() as usize - text.as_ptr() as usize;
            let mut place: Option<Place> = None;
            while at < from + token.len() {
                let Some(one) = chars.next() else { break };
                if at >= from {
                    place = Some([place.map_or(one.place[0], |place| place[0]), one.place[1]]);
                }
                at += one.c.len_utf8();
            }
            if !self.stops(token) {
                bounds.push([from, from + token.len()]);
                places.extend(place);
            }
        });
    }
}

impl Recipe {
    /// [`Recipe::normalize`], with the origin of each code point.
    fn traced(&self, text: &str) -> Vec<Traced> {
        let mut chars: Vec<Traced> = text.chars().zip(0..).map(|(c, at)| Traced { c, place: [at, at + 1] }).collect();
        if text.is_ascii() {
            if self.case != Case::Keep {
                chars.iter_mut().for_each(|one| one.c.make_ascii_lowercase());
            }
            return chars;
        }
        chars = formed(chars, self.form);
        match self.case {
            Case::Fold => chars = formed(folded(&chars), self.form),
            Case::Lower => chars = formed(lowered(&chars), self.form),
            Case::Keep => {}
        }
        if self.drops_format() {
            chars.retain(|one| class(one.c) != Class::Format);
        }
        chars
    }

    /// [`Recipe::squeeze`]; the one space of a run has the place of the whole run.
    fn squeeze_traced(&self, chars: &mut Vec<Traced>) {
        let mut space = !self.keep_whitespace;
        let mut squeezed: Vec<Traced> = Vec::with_capacity(chars.len());
        for &one in chars.iter() {
            let class = class(one.c);
            let c = if class == Class::Symbol && !self.keep_punctuation { ' ' } else { one.c };
            let blank = !self.keep_whitespace && (c == ' ' || class == Class::Space);
            if !blank || !space {
                squeezed.push(Traced { c: if blank { ' ' } else { c }, ..one });
            } else if let Some(run) = squeezed.last_mut() {
                run.place[1] = one.place[1];
            }
            space = blank;
        }
        if !self.keep_whitespace && squeezed.last().is_some_and(|last| last.c == ' ') {
            squeezed.pop();
        }
        *chars = squeezed;
    }
}

/// The full case folding of each code point.
fn folded(chars: &[Traced]) -> Vec<Traced> {
    let (mut out, mut spare) = (Vec::with_capacity(chars.len()), String::new());
    for &one in chars {
        spare.clear();
        fold_case(one.c.encode_utf8(&mut [0; 4]), &mut spare);
        out.extend(spare.chars().map(|c| Traced { c, ..one }));
    }
    out
}

/// The lower case of the whole, for a final sigma is known by its neighbours; each code point becomes as many as alone.
fn lowered(chars: &[Traced]) -> Vec<Traced> {
    let whole = chars.iter().map(|one| one.c).collect::<String>().to_lowercase();
    let alone = chars.iter().flat_map(|&one| one.c.to_lowercase().map(move |_| one));
    alone.zip(whole.chars()).map(|(one, c)| Traced { c, ..one }).collect()
}

/// The normal form of the whole.
fn formed(chars: Vec<Traced>, form: Form) -> Vec<Traced> {
    if form == Form::None {
        return chars;
    }
    let mut out = Vec::with_capacity(chars.len());
    for stretch in chars.chunk_by(|_, next| !starts_afresh(next.c, form)) {
        form_stretch(stretch, form, &mut out);
    }
    out
}

/// Appends the normal form of a stretch: each with its own position if nothing changes, otherwise all with the
/// position of the whole stretch.
fn form_stretch(stretch: &[Traced], form: Form, out: &mut Vec<Traced>) {
    if let [one] = stretch
        && one.c.is_ascii()
    {
        out.push(*one);
        return;
    }
    let (before, place) = (out.len(), [stretch[0].place[0], stretch[stretch.len() - 1].place[1]]);
    let chars = stretch.iter().map(|one| one.c);
    match form {
        Form::Nfkc => out.extend(chars.clone().nfkc().map(|c| Traced { c, place })),
        _ => out.extend(chars.clone().nfc().map(|c| Traced { c, place })),
    }
    if chars.eq(out[before..].iter().map(|one| one.c)) {
        out[before..].copy_from_slice(stretch);
    }
}

/// Whether the normal form of a text is that of what stands before this code point, and that of the rest.
///
/// So it is if its decomposition begins with a starter that composes with nothing before it (UAX #15, section 9).
pub(super) fn starts_afresh(c: char, form: Form) -> bool {
    if c < FIRST_MARK {
        return true;
    }
    let mut first = None;
    let note = |part| _ = first.get_or_insert(part);
    if form == Form::Nfkc {
        decompose_compatible(c, note)
    } else {
        decompose_canonical(c, note)
    }
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokenizer;

    const RECIPE: Recipe = Recipe { shingle_size: 3, ..Recipe::PLAIN };

    fn recipes() -> Vec<Recipe> {
        let mut all = Vec::new();
        for unit in [Unit::Word, Unit::Char] {
            for tokenizer in [Tokenizer::Unified, Tokenizer::Alnum] {
                for form in [Form::Nfkc, Form::Nfc, Form::None] {
                    for case in [Case::Fold, Case::Lower, Case::Keep] {
                        for keep in [0, 1, 2, 3] {
                            let (keep_punctuation, keep_whitespace) = (keep & 1 > 0, keep & 2 > 0);
                            let recipe = Recipe { unit, tokenizer, form, case, ..RECIPE };
                            all.push(Recipe { keep_punctuation, keep_whitespace, ..recipe });
                        }
                    }
                }
            }
        }
        all
    }

    fn assert_read(reader: &Reader, text: &str) {
        let units = reader.units(text);
        let found: Vec<&str> = units.iter().collect();
        if reader.recipe().unit == Unit::Word {
            assert_eq!(found, reader.tokens(text), "{text:?} by {:?}", reader.recipe());
        } else {
            let (mut normal, mut spare) = (String::new(), String::new());
            reader.recipe().normalize(text, &mut normal);
            reader.recipe().squeeze(&mut normal, &mut spare);
            assert_eq!(found.concat(), normal, "{text:?} by {:?}", reader.recipe());
        }
        assert_eq!(units.places.len(), units.bounds.len());
        let mut before = [0, 0];
        for &[start, end] in &units.places {
            assert!(before[0] <= start && before[1] <= end && start < end, "{text:?}: {:?}", units.places);
            before = [start, end];
        }
        assert!(before[1] as usize <= text.chars().count());
    }

    #[test]
    fn the_units_are_those_of_the_definition_for_every_code_point_among_others() {
        let neighbours = ["", "a", "\u{301}", "\u{1161}", "\u{11A8}", "\u{5d0}", " ", "\u{ad}"];
        for recipe in recipes().into_iter().step_by(5) {
            let reader = Reader::new(recipe, &[]);
            let mut text = String::new();
            for (i, c) in ('\0'..=char::MAX).enumerate() {
                if class(c) == Class::Other && i % 64 > 0 {
                    continue;
                }
                text.push(c);
                text.push_str(neighbours[i % 7]);
                text.push(c);
                if i % 61 == 0 {
                    assert_read(&reader, &text);
                    text.clear();
                }
            }
            assert_read(&reader, &text);
        }
    }

    #[test]
    fn the_units_are_those_of_the_definition_for_hard_texts() {
        let texts = [
            "Naïve CAFÉ straße ﬁne 東京都 ｶﾞｷﾞ กำลัง ab\u{ad}cd e\u{301}x ㎏ ½ ΑΣ 1st—2nd ½x A\u{30a} ≠ =\u{338}z",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} İstanbul ὈΔΥΣΣΕΎΣ. Σ ΣΣ \u{345}\u{399} ΐ",
            "a\u{5d0}\u{5b8}\u{5d0}\u{323}\u{301} \u{0344} \u{fb2c} \u{1e9b}\u{323} ﷺ \u{110} \u{1f82}",
            "",
            " … ",
            "\u{301}\u{301}",
        ];
        for recipe in recipes() {
            let stop_words = if recipe.unit == Unit::Word { vec!["café".to_owned()] } else { vec![] };
            let reader = Reader::new(recipe, &stop_words);
            texts.iter().for_each(|text| assert_read(&reader, text));
        }
    }

    #[test]
    fn places_are_those_of_the_original() {
        let places = |recipe, text: &str| {
            let units = Reader::new(recipe, &["the".to_owned()][..usize::from(recipe.unit == Unit::Word)]).units(text);
            let found: Vec<(String, Place)> = units.iter().map(str::to_owned).zip(units.places.clone()).collect();
            found
        };
        let want =
            |pairs: &[(&str, Place)]| pairs.iter().map(|&(unit, place)| (unit.to_owned(), place)).collect::<Vec<_>>();
        assert_eq!(
            places(RECIPE, "The ﬁne ½ co\u{ad}op"),
            want(&[("fine", [4, 7]), ("1", [8, 9]), ("2", [8, 9]), ("coop", [10, 15])])
        );
        assert_eq!(places(RECIPE, "e\u{301}A 東京"), want(&[("éa", [0, 3]), ("東", [4, 5]), ("京", [5, 6])]));
        let chars = Recipe { unit: Unit::Char, ..RECIPE };
        assert_eq!(
            places(Recipe { keep_punctuation: true, ..chars }, "  ß \t x\u{301} "),
            want(&[("s", [2, 3]), ("s", [2, 3]), (" ", [3, 6]), ("x", [6, 7]), ("\u{301}", [7, 8])])
        );
    }
}
