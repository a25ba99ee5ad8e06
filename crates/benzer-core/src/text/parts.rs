//! Reads long texts in parts, so that the memory for a text does not grow with the number of its shingles.
//!
//! A text is only divided at positions where reading both sides separately gives the same result as reading them
//! together. The shingles across a cut are computed from the last units before it and the first ones after it.

use super::reader::{Reader, Scratch};
use super::recipe::{Recipe, Tokenizer, Unit};
use crate::hash::shingle::{char_shingle, word_shingle};
use crate::hash::strings::StringHash;
use crate::isa::Level;

/// The length in bytes of a part; shorter texts are read at once.
const PART: usize = 1 << 20;

/// The size of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Shingles, with repeats.
    pub shingles: usize,
    /// Tokens or characters.
    pub units: usize,
}

impl Reader {
    /// Reads `text` and passes its shingle hashes to `each`: in one call, or in several if the text is long. Their order
    /// is that of the text except around cuts.
    ///
    /// Texts that are read with a shingle hash of another name, and those whose occurrences are counted, are not cut.
    #[inline(always)]
    pub fn read_parts<L: Level>(&self, text: &str, scratch: &mut Scratch, each: impl FnMut(&[u64])) -> Size {
        self.read_parts_of::<L>(PART, text, scratch, each)
    }

    /// [`Reader::read_parts`] in parts of about `length` bytes.
    #[inline(always)]
    fn read_parts_of<L: Level>(
        &self, length: usize, text: &str, scratch: &mut Scratch, mut each: impl FnMut(&[u64]),
    ) -> Size {
        let recipe = self.recipe();
        let (mut rest, mut size, mut seam) = (text, Size::default(), Seam::default());
        loop {
            let cut = find_cut(recipe, rest, length);
            let end = cut.map_or(rest.len(), |cut| cut.at);
            self.read::<L>(&rest[..end], scratch);
            size.units += scratch.units;
            if end < text.len() {
                size.units += seam.join(recipe, cut, size.units, scratch);
            }
            size.shingles += scratch.shingles.len();
            each(&scratch.shingles);
            if cut.is_none() {
                return size;
            }
            rest = &rest[end..];
        }
    }
}

/// A place between two parts.
#[derive(Clone, Copy)]
struct Cut {
    /// The offset of the first byte of the second part.
    at: usize,
    /// Whether there is white space.
    blank: bool,
}

/// The first place from `length` on at which `text` can be cut, if it is longer.
///
/// White space, ideographs, and ASCII letters and digits neither compose with their neighbours nor move, and a sigma on
/// one side of them does not depend on letters on the other side.
#[inline(always)]
fn find_cut(recipe: &Recipe, text: &str, length: usize) -> Option<Cut> {
    if text.len() <= length { None } else { find_long_cut(recipe, text.as_bytes(), length) }
}

#[inline(never)]
fn find_long_cut(recipe: &Recipe, text: &[u8], length: usize) -> Option<Cut> {
    if recipe.shingle_hash != StringHash::Benzer || recipe.derives() {
        return None;
    }
    let chars = recipe.unit == Unit::Char;
    let between_ideographs = chars || recipe.tokenizer == Tokenizer::Unified;
    for at in length.max(1)..text.len() {
        let blank = matches!(text[at], b' ' | b'\n');
        let alphanumeric = chars && text[at].is_ascii_alphanumeric() && text[at - 1].is_ascii_alphanumeric();
        if blank
            || alphanumeric
            || (between_ideographs && at >= 3 && ideograph(&text[at..]) && ideograph(&text[at - 3..]))
        {
            return Some(Cut { at, blank });
        }
    }
    None
}

/// Whether `bytes` begin with one of the unified ideographs that Unicode has had from its first versions on.
fn ideograph(bytes: &[u8]) -> bool {
    matches!(bytes, [lead @ 0xE4..=0xE9, second @ 0x80..=0xBF, third @ 0x80..=0xBF, ..]
        if (0x4E00..=0x9FA5).contains(
            &((u32::from(lead & 0xF) << 12) | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F))))
}

/// The units before a cut.
#[derive(Default)]
struct Seam {
    /// The hashes of the last tokens: one less than a shingle has, or all there are.
    tokens: Vec<u64>,
    /// The last characters likewise.
    chars: Vec<char>,
    /// Whether a blank stands between these characters and the next.
    gap: bool,
}

impl Seam {
    /// Adds the shingles across the cut before the part that was read last, and remembers the end of this part, which
    /// `cut` follows. `units` are those of the text so far. Returns how many units the cut itself adds: one for a blank
    /// between two characters.
    #[inline(never)]
    fn join(&mut self, recipe: &Recipe, cut: Option<Cut>, units: usize, scratch: &mut Scratch) -> usize {
        let size = recipe.shingle_size;
        if scratch.units < size {
            scratch.shingles.clear(); // only a whole text has a shingle of fewer units
        }
        let Scratch { prepared, tokens, shingles, .. } = scratch;
        if recipe.unit == Unit::Word {
            let short = cut.is_none() && units < size;
            let head = tokens.iter().copied().take(size - 1);
            across(&mut self.tokens, head, size, short, |run| shingles.push(word_shingle(run)));
            if tokens.len() >= size {
                self.tokens.clear();
                self.tokens.extend(&tokens[tokens.len() + 1 - size..]);
            }
            return 0;
        }
        let text = std::str::from_utf8(prepared.bytes()).expect("what is prepared is UTF-8");
        let gap = self.gap && units > scratch.units && !text.is_empty();
        let short = cut.is_none() && units + usize::from(gap) < size;
        let head = gap.then_some(' ').into_iter().chain(text.chars().take(size - 1));
        let mut shingle = String::new();
        across(&mut self.chars, head, size, short, |run| {
            shingle.clear();
            shingle.extend(run);
            shingles.push(char_shingle(shingle.as_bytes()));
        });
        if scratch.units >= size {
            self.chars.clear();
            self.chars.extend(text.chars().rev().take(size - 1));
            self.chars.reverse();
        }
        let blank = cut.is_some_and(|cut| cut.blank) && !recipe.keep_whitespace;
        self.gap = blank || (self.gap && text.is_empty());
        usize::from(gap)
    }
}

/// Passes each run of `size` units of `tail` and `head` to `emit`, or all of them if the text is as `short` as that;
/// leaves the last `size - 1` of them in `tail`.
fn across<T>(tail: &mut Vec<T>, head: impl Iterator<Item = T>, size: usize, short: bool, mut emit: impl FnMut(&[T])) {
    tail.extend(head);
    if short && !tail.is_empty() {
        emit(tail);
    }
    tail.windows(size).for_each(emit);
    tail.drain(..tail.len().saturating_sub(size - 1));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{hard_text, recipes};
    use super::*;
    use crate::hash::mix::SplitMix64;
    use crate::isa::{Isa, Task, run_at};

    /// The shingle hashes in order of their values, and the size; in parts of a length.
    struct Parts<'a>(&'a Reader, &'a str, usize);
    impl Task for Parts<'_> {
        type Output = (Vec<u64>, Size, usize);
        #[inline(always)]
        fn run<L: Level>(self) -> Self::Output {
            let (mut all, mut calls) = (Vec::new(), 0);
            let size = self.0.read_parts_of::<L>(self.2, self.1, &mut Scratch::default(), |hashes| {
                all.extend(hashes);
                calls += 1;
            });
            all.sort_unstable();
            (all, size, calls)
        }
    }

    #[test]
    fn parts_give_the_shingles_of_the_whole() {
        let mut random = SplitMix64::new(17);
        let mut cuts = 0;
        for round in 0..24 {
            let text = match round % 8 {
                0 => " \n".repeat(40) + &hard_text(&mut random),
                1 => "漢字かな交じり文".repeat(random.next_u64() as usize % 20),
                2 => "ab ".repeat(random.next_u64() as usize % 4),
                _ => hard_text(&mut random),
            };
            for recipe in recipes() {
                for shingle_size in [1, 3, 40] {
                    let reader = Reader::new(Recipe { shingle_size, ..recipe }, &["fox".to_owned()]);
                    let (want, size, _) = run_at(Isa::Portable, Parts(&reader, &text, usize::MAX));
                    for length in [1, 50] {
                        let (all, found, calls) = run_at(Isa::detect(), Parts(&reader, &text, length));
                        let same = all == want && found == size;
                        assert!(same, "{text:?} by {length} ({:?}): {found:?}, not {size:?}", reader.recipe());
                        cuts += calls - 1;
                    }
                }
            }
        }
        assert!(cuts > 50_000, "{cuts} cuts");
    }

    #[test]
    fn a_long_text_is_cut() {
        for text in ["some words ", "漢字", "ab, c. "] {
            let text = text.repeat(4 * PART / text.len());
            let reader = Reader::new(Recipe::PLAIN, &[]);
            let (mut most, mut scratch) = (0, Scratch::default());
            let size =
                reader.read_parts::<crate::isa::Portable>(&text, &mut scratch, |hashes| most = most.max(hashes.len()));
            assert!(most < size.shingles / 3, "{most} of {}", size.shingles);
        }
    }
}
