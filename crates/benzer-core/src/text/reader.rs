//! The shingle hashes of a text.

use super::class::{Class, class, simple};
use super::recipe::{Case, Form, Recipe, Tokenizer, Unit};
use super::runs::Runs;
use crate::hash::shingle::{
    PADDING, ascii_char_shingles, char_shingle, load_token, short_token_hash, token_hash, word_shingles,
};
use crate::hash::strings::StringHash;
use crate::isa::Level;
use std::collections::HashSet;
use std::sync::LazyLock;

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Reads texts by one recipe. Immutable; one [`Scratch`] for each thread.
pub struct Reader {
    recipe: Recipe,
    stop_words: HashSet<u64>,
}

/// Buffers, and the shingle hashes of the text read last.
#[derive(Default)]
pub struct Scratch {
    runs: Runs,
    tokens: Vec<u64>,
    /// Runs that are long or hold more than ASCII.
    odd: Vec<u32>,
    /// Of those the ones that are not one token each, and where their tokens end in `extra`.
    several: Vec<(u32, usize)>,
    extra: Vec<u64>,
    spliced: Vec<u64>,
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

impl Scratch {
    /// Puts the tokens in `extra` in the places of their runs.
    fn splice(&mut self) {
        let (mut done, mut taken) = (0, 0);
        self.spliced.clear();
        for &(run, end) in &self.several {
            self.spliced.extend_from_slice(&self.tokens[done..run as usize]);
            self.spliced.extend_from_slice(&self.extra[taken..end]);
            (done, taken) = (run as usize + 1, end);
        }
        self.spliced.extend_from_slice(&self.tokens[done..]);
        std::mem::swap(&mut self.tokens, &mut self.spliced);
    }
}

/// A run whose lower-casing depends on what stands around it: the whole text must be read at once.
struct NeedsContext;

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
        Reader { recipe, stop_words: hashes }
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

    /// Reads `text`: afterwards its shingle hashes stand in `scratch`.
    #[inline(always)]
    pub fn read<L: Level>(&self, text: &str, scratch: &mut Scratch) {
        scratch.shingles.clear();
        match self.recipe.unit {
            _ if self.recipe.shingle_hash != StringHash::Benzer => {
                self.read_named(self.recipe.shingle_hash, text, scratch);
            }
            Unit::Word => {
                self.token_hashes::<L>(text, scratch);
                if !self.stop_words.is_empty() {
                    scratch.tokens.retain(|hash| !self.stop_words.contains(hash));
                }
                scratch.units = scratch.tokens.len();
                word_shingles(&scratch.tokens, self.recipe.shingle_size, &mut scratch.shingles);
            }
            Unit::Char => self.char_shingles(text, scratch),
        }
        if self.recipe.derives() {
            self.derive(scratch);
        }
    }

    #[inline(always)]
    fn token_hashes<L: Level>(&self, text: &str, scratch: &mut Scratch) {
        if self.recipe.keep_punctuation || self.run_hashes::<L>(text, scratch).is_err() {
            self.whole_hashes(text, scratch);
        }
    }

    fn whole_hashes(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { tokens, normal, .. } = scratch;
        tokens.clear();
        self.recipe.normalize(text, normal);
        self.recipe.tokens(normal, |token| tokens.push(token_hash(token.as_bytes())));
    }

    #[inline(always)]
    fn run_hashes<L: Level>(&self, text: &str, scratch: &mut Scratch) -> Result<(), NeedsContext> {
        let Scratch { runs, tokens, odd, .. } = scratch;
        runs.find::<L>(text, self.recipe.case != Case::Keep);
        tokens.resize(runs.bounds().len(), 0);
        odd.resize(odd.len().max(runs.bounds().len() + 1), 0);
        match hash_as_short(runs, tokens, odd) {
            0 => Ok(()),
            odd_count => self.hash_odd_runs(text, odd_count, scratch),
        }
    }

    /// Replaces the tokens of runs that are long or hold more than ASCII.
    #[inline(never)]
    fn hash_odd_runs(&self, text: &str, odd_count: usize, scratch: &mut Scratch) -> Result<(), NeedsContext> {
        let Scratch { runs, tokens, odd, several, extra, normal, spare, .. } = scratch;
        several.clear();
        extra.clear();
        for &run in &odd[..odd_count] {
            let [start, end] = runs.bounds()[run as usize].map(|edge| edge as usize);
            // SAFETY: the run lies in the copy.
            let lowered = unsafe { std::slice::from_raw_parts(runs.copy().add(start), end - start) };
            if lowered.is_ascii() {
                tokens[run as usize] = token_hash(lowered);
                continue;
            }
            let before = extra.len();
            self.mixed_run(&text[start..end], extra, normal, spare)?;
            if extra.len() == before + 1 {
                tokens[run as usize] = extra.pop().unwrap_or_default();
            } else {
                several.push((run, extra.len()));
            }
        }
        if !several.is_empty() {
            scratch.splice();
        }
        Ok(())
    }

    /// Tokens of a run that holds more than ASCII.
    #[inline(never)]
    fn mixed_run(
        &self, run: &str, tokens: &mut Vec<u64>, normal: &mut String, spare: &mut String,
    ) -> Result<(), NeedsContext> {
        if self.recipe.case == Case::Lower && run.contains('Σ') {
            return Err(NeedsContext);
        }
        if self.folds_simply() && simple_tokens(run, tokens, spare) {
            return Ok(());
        }
        if self.lowers_simply() && lower_token(run, tokens, spare) {
            return Ok(());
        }
        self.recipe.normalize(run, normal);
        self.recipe.tokens(normal, |token| tokens.push(token_hash(token.as_bytes())));
        Ok(())
    }

    /// Whether simple characters may be folded one by one.
    fn folds_simply(&self) -> bool {
        self.recipe.tokenizer == Tokenizer::Unified && self.recipe.case == Case::Fold && self.recipe.form == Form::Nfkc
    }

    /// Whether a run of letters and digits is one token, its characters lowered one by one.
    fn lowers_simply(&self) -> bool {
        self.recipe.tokenizer == Tokenizer::Alnum && self.recipe.case == Case::Lower && self.recipe.form == Form::None
    }

    fn char_shingles(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { normal, spare, shingles, units, .. } = scratch;
        let raw = self.recipe.form == Form::None && self.recipe.case == Case::Keep;
        let text = if raw && self.recipe.keep_whitespace && self.recipe.keep_punctuation {
            text
        } else {
            self.recipe.normalize(text, normal);
            self.recipe.squeeze(normal, spare);
            normal.as_str()
        };
        let size = self.recipe.shingle_size;
        if text.is_ascii() && text.len() >= size {
            *units = text.len();
            ascii_char_shingles(text.as_bytes(), size, shingles);
            return;
        }
        let ends = char_ends(text);
        *units = ends.len() - 1;
        let size = size.min(*units);
        if size > 0 {
            let spans = ends.iter().zip(&ends[size..]);
            shingles.extend(spans.map(|(&from, &to)| char_shingle(&text.as_bytes()[from..to])));
        }
    }
}

/// End of the scripts with case that are common: Latin, Greek, Cyrillic, Armenian.
const CASED_END: usize = 0x590;

/// The lower case of each code point below [`CASED_END`] that is a letter or number and has one of one character.
static LOWER: LazyLock<[Option<char>; CASED_END]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        let c = char::from_u32(code as u32).filter(|&c| class(c) == Class::Word)?;
        let mut lower = c.to_lowercase();
        lower.next().filter(|_| lower.next().is_none())
    })
});

/// Token hash of a run of letters and digits of common scripts; false, and nothing pushed, if it holds anything else.
///
/// Without it the mixed words of a corpus with 4 % of non-ASCII bytes took 13 % of the whole time.
fn lower_token(run: &str, tokens: &mut Vec<u64>, lowered: &mut String) -> bool {
    lowered.clear();
    for c in run.chars() {
        match LOWER.get(c as usize) {
            Some(Some(lower)) => lowered.push(*lower),
            None if class(c) == Class::Unspaced => lowered.push(c),
            _ => return false,
        }
    }
    tokens.push(token_hash(lowered.as_bytes()));
    true
}

/// Hashes all runs as if they were short and ASCII, without a branch; notes the odd ones, which are not, to be done again,
/// and returns how many they are. With the branches in the loop they were often mispredicted; inlined into the kernel
/// the loop ran out of registers: either took a tenth of the time of sketching.
#[inline(never)]
fn hash_as_short(runs: &Runs, tokens: &mut [u64], odd: &mut [u32]) -> usize {
    let bounds = runs.bounds();
    assert!(odd.len() > bounds.len() && tokens.len() == bounds.len());
    let copy = runs.copy();
    let mut odd_count = 0;
    for (i, (&[start, end], token)) in bounds.iter().zip(tokens).enumerate() {
        let len = (end - start) as usize;
        // SAFETY: the run lies in the copy, after which SLACK bytes may be read; `odd_count` is at most `i`.
        let loaded = unsafe {
            *odd.get_unchecked_mut(odd_count) = i as u32;
            load_token(copy.add(start as usize), len)
        };
        *token = short_token_hash(loaded, len);
        odd_count += usize::from((len > PADDING) | ((loaded.0 | loaded.1) & HIGH_BITS != 0));
    }
    odd_count
}

/// Byte offsets at which characters start, and the length of the text.
fn char_ends(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

/// Token hashes of a run all of whose characters are simple; false, and nothing pushed, if one is not.
fn simple_tokens(run: &str, tokens: &mut Vec<u64>, folded: &mut String) -> bool {
    let before = tokens.len();
    folded.clear();
    for c in run.chars() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
            continue;
        }
        let Some((fold, alone)) = simple(c) else {
            tokens.truncate(before);
            return false;
        };
        if alone {
            push_token(folded, tokens);
        }
        folded.push(fold);
        if alone {
            push_token(folded, tokens);
        }
    }
    push_token(folded, tokens);
    true
}

/// Ends a token, unless there is none.
#[inline(always)]
fn push_token(token: &mut String, tokens: &mut Vec<u64>) {
    if !token.is_empty() {
        tokens.push(token_hash(token.as_bytes()));
        token.clear();
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
        Recipe {
            unit,
            shingle_size: 2,
            tokenizer: Tokenizer::Unified,
            form: Form::Nfkc,
            case: Case::Fold,
            keep_punctuation: false,
            keep_whitespace: false,
            shingle_hash: StringHash::Benzer,
            four_bytes: false,
            frequencies: false,
        }
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
