//! Other elements of a text: shingles with another hash, hashes of 4 bytes, and separate occurrences.

use super::reader::{Reader, Scratch};
use super::recipe::{Recipe, Unit};
use crate::hash::mix::{K1, finish};
use crate::hash::strings::StringHash;

const LOW_FOUR_BYTES: u64 = 0xFFFF_FFFF;

/// The element that stands for the occurrence number `nth` of a shingle, from 0: the first is the hash itself. For each
/// `nth` a bijection of 64 bits, so two shingles that occur equally often meet only where their hashes do.
#[inline(always)]
pub fn occurrence(hash: u64, nth: u64) -> u64 {
    if nth == 0 { hash } else { finish(hash.wrapping_add(nth.wrapping_mul(K1))) }
}

impl Recipe {
    /// Whether the elements are anything but the default hashes of the shingles.
    pub(super) fn derives(&self) -> bool {
        self.four_bytes || self.frequencies
    }
}

impl Reader {
    /// Calls `take` with each shingle as a string, in order, with repeats: the tokens of one joined by a space. Returns
    /// how many units the text has.
    pub(super) fn each_shingle(&self, text: &str, scratch: &mut Scratch, mut take: impl FnMut(&str)) -> usize {
        let Scratch { normal, spare, spans, .. } = scratch;
        let recipe = self.recipe();
        recipe.normalize(text, normal);
        spans.clear();
        let whole = if recipe.unit == Unit::Word {
            spare.clear();
            recipe.tokens(normal, |token| {
                if !self.stops(token) {
                    let space = usize::from(!spare.is_empty());
                    spare.push_str(&" "[..space]);
                    spans.push([spare.len(), spare.len() + token.len()]);
                    spare.push_str(token);
                }
            });
            spare
        } else {
            recipe.squeeze(normal, spare);
            spans.extend(normal.char_indices().map(|(at, c)| [at, at + c.len_utf8()]));
            normal
        };
        let size = recipe.shingle_size.min(spans.len()).max(1);
        for run in spans.windows(size) {
            take(&whole[run[0][0]..run[size - 1][1]]);
        }
        spans.len()
    }

    /// Reads `text` with another hash than the default: afterwards its shingle hashes are in `scratch`.
    #[inline(never)]
    pub(super) fn read_named(&self, hash: StringHash, text: &str, scratch: &mut Scratch) {
        let mut hashes = std::mem::take(&mut scratch.shingles);
        scratch.units = self.each_shingle(text, scratch, |shingle| hashes.push(hash.hash(shingle.as_bytes(), 0)));
        scratch.shingles = hashes;
    }

    /// Turns the shingle hashes in `scratch` into the elements that the recipe asks for.
    #[inline(never)]
    pub(super) fn derive(&self, scratch: &mut Scratch) {
        let mask = if self.recipe().four_bytes { LOW_FOUR_BYTES } else { u64::MAX };
        scratch.shingles.iter_mut().for_each(|hash| *hash &= mask);
        if self.recipe().frequencies {
            number_occurrences(&mut scratch.shingles, &mut scratch.ranked, mask);
        }
    }
}

/// Replaces each repeated hash by the element of that occurrence, masked by `mask`.
///
/// By sorting, which no text can slow down, as one made to collide could slow down a table.
fn number_occurrences(hashes: &mut [u64], ranked: &mut Vec<(u64, usize)>, mask: u64) {
    ranked.clear();
    ranked.extend(hashes.iter().copied().zip(0..));
    ranked.sort_unstable();
    for same in ranked.chunk_by(|a, b| a.0 == b.0) {
        for (nth, &(hash, at)) in same.iter().enumerate().skip(1) {
            hashes[at] = occurrence(hash, nth as u64) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::shingle::char_shingle;
    use crate::isa::Portable;

    const RECIPE: Recipe = Recipe::PLAIN;

    fn elements(recipe: Recipe, text: &str) -> Vec<u64> {
        let mut scratch = Scratch::default();
        let reader = Reader::new(recipe, &["the".to_owned()][..usize::from(recipe.unit == Unit::Word)]);
        reader.read::<Portable>(text, &mut scratch);
        scratch.shingles
    }

    #[test]
    fn a_named_hash_reads_the_shingle_as_a_string() {
        for hash in StringHash::ALL.into_iter().filter(|&hash| hash != StringHash::Benzer) {
            let recipe = Recipe { shingle_hash: hash, ..RECIPE };
            let want = ["to ba", "ba é"].map(|shingle| hash.hash(shingle.as_bytes(), 0));
            assert_eq!(elements(recipe, "To THE ba, É"), want, "{hash:?}");
            let chars = Recipe { unit: Unit::Char, ..recipe };
            assert_eq!(elements(chars, "aé "), [hash.hash("aé".as_bytes(), 0)], "{hash:?}");
        }
    }

    #[test]
    fn occurrences_are_numbered_from_the_first() {
        let recipe = Recipe { unit: Unit::Char, shingle_size: 1, frequencies: true, ..RECIPE };
        let [a, b] = [b"a", b"b"].map(|bytes| char_shingle(bytes));
        let want = [a, b, occurrence(a, 1), occurrence(a, 2), occurrence(b, 1)];
        assert_eq!(elements(recipe, "abaab"), want);
        let four = Recipe { four_bytes: true, ..recipe };
        let low = |hash: u64| hash & LOW_FOUR_BYTES;
        assert_eq!(elements(four, "aab"), [low(a), low(occurrence(low(a), 1)), low(b)]);
    }

    #[test]
    fn nothing_has_no_elements() {
        for text in ["", " ", "the", "…"] {
            assert!(elements(Recipe { shingle_hash: StringHash::Xxh3, frequencies: true, ..RECIPE }, text).is_empty());
        }
    }
}
