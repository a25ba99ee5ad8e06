//! The shingle hashes of a text.

use super::alone::Alone;
use super::prepared::{NeedsContext, Prepared};
use super::recipe::{Recipe, Unit};
use super::runs::Runs;
use crate::hash::padded::Padded;
use crate::hash::shingle::{PADDING, load_token, short_token_hash, token_hash, word_shingles};
use crate::hash::strings::StringHash;
use crate::hash::windows::{Places, char_shingles};
use crate::isa::Level;
use std::collections::HashSet;

/// Bytes of a prepared text from which on it is read by the definition: places of tokens have 32 bits.
const LONGEST: usize = u32::MAX as usize - 1024;

/// Reads texts by one recipe. Immutable; one [`Scratch`] for each thread.
pub struct Reader {
    recipe: Recipe,
    alone: &'static Alone,
    stop_words: HashSet<u64>,
}

/// Buffers, and the shingle hashes of the text read last.
#[derive(Default)]
pub struct Scratch {
    pub(super) prepared: Prepared,
    runs: Runs,
    pub(super) tokens: Vec<u64>,
    /// Tokens that are long.
    long: Vec<u32>,
    places: Places,
    pub(super) normal: String,
    pub(super) spare: String,
    /// Where the units of a text stand that is read as strings.
    pub(super) spans: Vec<[usize; 2]>,
    /// Hashes and their places, to count occurrences.
    pub(super) ranked: Vec<(u64, usize)>,
    /// Shingle hashes in order, with repeats.
    pub shingles: Vec<u64>,
    /// Tokens or characters in the text.
    pub units: usize,
}

impl Reader {
    /// A reader by `recipe` that leaves out `stop_words`, which are read by the same recipe.
    pub fn new(recipe: Recipe, stop_words: &[String]) -> Self {
        let mut hashes = HashSet::new();
        let mut normal = String::new();
        for word in stop_words {
            recipe.normalize(word, &mut normal);
            recipe.tokens(&normal, |token| {
                hashes.insert(token_hash(token.as_bytes()));
            });
        }
        Reader { recipe, alone: Alone::of(&recipe), stop_words: hashes }
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Whether a token is a stop word.
    pub(super) fn stops(&self, token: &str) -> bool {
        !self.stop_words.is_empty() && self.stop_words.contains(&token_hash(token.as_bytes()))
    }

    /// The tokens of a text, by the definition.
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let (mut normal, mut tokens) = (String::new(), Vec::new());
        self.recipe.normalize(text, &mut normal);
        self.recipe.tokens(&normal, |token| {
            if !self.stops(token) {
                tokens.push(token.to_owned());
            }
        });
        tokens
    }

    /// The shingles of a text as strings, in order, with repeats; the tokens of a shingle joined by a space.
    pub fn shingles(&self, text: &str) -> Vec<String> {
        let mut shingles = Vec::new();
        self.each_shingle(text, &mut Scratch::default(), |shingle| shingles.push(shingle.to_owned()));
        shingles
    }

    /// Reads `text`: afterwards its shingle hashes are in `scratch`.
    #[inline(always)]
    pub fn read<L: Level>(&self, text: &str, scratch: &mut Scratch) {
        scratch.shingles.clear();
        match self.recipe.unit {
            _ if self.recipe.shingle_hash != StringHash::Benzer => {
                self.read_named(self.recipe.shingle_hash, text, scratch);
            }
            Unit::Word => {
                if self.recipe.keep_punctuation || self.token_hashes::<L>(text, scratch).is_err() {
                    self.whole_hashes(text, scratch);
                }
                if !self.stop_words.is_empty() {
                    scratch.tokens.retain(|hash| !self.stop_words.contains(hash));
                }
                scratch.units = scratch.tokens.len();
                word_shingles(&scratch.tokens, self.recipe.shingle_size, &mut scratch.shingles);
            }
            Unit::Char => self.char_hashes::<L>(text, scratch),
        }
        if self.recipe.derives() {
            self.derive(scratch);
        }
    }

    #[inline(always)]
    fn token_hashes<L: Level>(&self, text: &str, scratch: &mut Scratch) -> Result<(), NeedsContext> {
        let Scratch { prepared, runs, tokens, long, .. } = scratch;
        prepared.read::<L>(&self.recipe, self.alone, text)?;
        if prepared.bytes().len() > LONGEST {
            return Err(NeedsContext);
        }
        runs.find::<L>(prepared.padded());
        // SAFETY: the runs are those of this text.
        unsafe { hash_tokens(prepared.padded(), runs.bounds(), tokens, long) };
        Ok(())
    }

    fn whole_hashes(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { tokens, normal, .. } = scratch;
        tokens.clear();
        self.recipe.normalize(text, normal);
        self.recipe.tokens(normal, |token| tokens.push(token_hash(token.as_bytes())));
    }

    #[inline(always)]
    fn char_hashes<L: Level>(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { prepared, places, normal, spare, shingles, .. } = scratch;
        if prepared.read::<L>(&self.recipe, self.alone, text).is_err() {
            self.recipe.normalize(text, normal);
            self.recipe.squeeze(normal, spare);
            prepared.take(normal);
        }
        // SAFETY: what was prepared is UTF-8.
        scratch.units = unsafe { char_shingles::<L>(prepared.padded(), self.recipe.shingle_size, places, shingles) };
    }
}

/// Hashes all tokens as if they were short, without a branch; then the long ones among them again. With the branches in
/// the loop they were often mispredicted; inlined into the kernel the loop ran out of registers: either took a tenth of
/// the time of sketching.
///
/// # Safety
/// `bounds` must be in `text`.
#[inline(never)]
unsafe fn hash_tokens(text: Padded<'_>, bounds: &[[u32; 2]], tokens: &mut Vec<u64>, long: &mut Vec<u32>) {
    tokens.clear();
    tokens.reserve(bounds.len());
    long.clear();
    long.reserve(bounds.len() + 1);
    let (start, room) = (text.as_ptr(), long.spare_capacity_mut());
    let mut longer = 0;
    for (i, (&[from, to], token)) in bounds.iter().zip(tokens.spare_capacity_mut()).enumerate() {
        let len = (to - from) as usize;
        // SAFETY: the token is in the text, after which PADDING may be read; `longer` is at most `i`.
        let loaded = unsafe {
            room.get_unchecked_mut(longer).write(i as u32);
            load_token(start.add(from as usize), len)
        };
        token.write(short_token_hash(loaded, len));
        longer += usize::from(len > PADDING);
    }
    // SAFETY: so many were written.
    unsafe {
        tokens.set_len(bounds.len());
        long.set_len(longer);
    }
    for &i in long.iter() {
        let [from, to] = bounds[i as usize].map(|edge| edge as usize);
        tokens[i as usize] = token_hash(text.get(from..to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, Task, run_at};

    struct Read<'a>(&'a Reader, &'a str);
    impl Task for Read<'_> {
        type Output = Vec<u64>;
        #[inline(always)]
        fn run<L: Level>(self) -> Vec<u64> {
            let mut scratch = Scratch::default();
            self.0.read::<L>(self.1, &mut scratch);
            scratch.shingles
        }
    }

    fn recipe(unit: Unit) -> Recipe {
        Recipe { unit, ..Recipe::PLAIN }
    }

    #[test]
    fn fast_path_equals_the_definition_on_every_level() {
        let text =
            "Naïve CAFÉ straße ﬁne 東京都 ｶﾞｷﾞ กำลัง ab\u{ad}cd e\u{301}x ㎏ ½ ΑΣ 1st—2nd don't ½x A\u{30a} ≠ =\u{338}z";
        let reader = Reader::new(recipe(Unit::Word), &["café".to_owned()]);
        let want: Vec<u64> = reader
            .tokens(text)
            .windows(2)
            .map(|pair| {
                crate::hash::shingle::word_shingle(&[token_hash(pair[0].as_bytes()), token_hash(pair[1].as_bytes())])
            })
            .collect();
        for isa in Isa::available() {
            assert_eq!(run_at(isa, Read(&reader, text)), want, "{isa:?}");
        }
        assert_eq!(reader.tokens("CAFÉ au lait"), ["au", "lait"]);
    }

    #[test]
    fn characters_are_windows_of_the_squeezed_text() {
        let reader = Reader::new(recipe(Unit::Char), &[]);
        assert_eq!(reader.shingles("  A—b  c "), ["a ", " b", "b ", " c"]);
        assert_eq!(reader.shingles("é"), ["é"]);
        assert!(reader.shingles(" … ").is_empty());
    }
}
