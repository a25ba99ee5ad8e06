//! Passages that two texts share, and the differences inside each passage.
//!
//! [`grams`] finds the short runs of tokens that both texts contain, [`chains`] combines them, [`align`] aligns the
//! tokens of a chain, and this module selects among the chains and converts tokens to positions in the originals.
//!
//! Every step is linear in the two texts, including texts with many repetitions: [`Found::work`] counts the steps.

pub mod align;
pub mod chains;
pub mod grams;

use crate::hash::shingle::token_hash;
use crate::text::offsets::{Place, Units};
use crate::text::{Reader, Unit};
use align::align;
use chains::{Run, chains};
use grams::Grams;
use std::borrow::Cow;

/// Passages that are listed of two texts. One word of a text may occur a million times in the other.
pub const LISTED: usize = 1000;

/// The most tokens in a row that may differ inside a passage: a gap costs its square.
pub const LARGEST_GAP: usize = 64;

/// The definition of a passage.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Consecutive tokens that must be equal somewhere in a passage.
    pub seed: usize,
    /// Tokens that a passage must share.
    pub least: usize,
    /// Consecutive tokens that may differ inside a passage.
    pub gap: usize,
}

/// A passage that two texts share: places in both originals.
#[derive(Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its position in the first text.
    pub a: Place,
    /// Its position in the second text.
    pub b: Place,
    /// Its tokens in the first text.
    pub tokens: usize,
    /// The number of these that are also in the second text, in the same order.
    pub shared: usize,
    /// The differing parts of both; one of the two may be empty.
    pub differences: Vec<(Place, Place)>,
}

/// The passages that two texts share.
#[derive(Debug, Default)]
pub struct Found {
    /// The passages, that which shares most tokens first, at most [`LISTED`].
    pub passages: Vec<Passage>,
    /// How many more there are: counted in what is covered, not listed.
    pub more: usize,
    /// Tokens of the first text, and how many of them a passage shares.
    pub a: [usize; 2],
    /// The same of the second text.
    pub b: [usize; 2],
    /// Of each token of the first text whether a passage shares it, listed or not.
    pub shared: Vec<bool>,
    /// Steps taken: comparisons of tokens and look-ups.
    pub work: u64,
}

/// A text that others are compared with one after the other: read once, its grams sorted once.
pub struct Known {
    units: Units,
    tokens: Vec<u64>,
    grams: Grams,
}

impl Known {
    /// Reads a text by the rules of `reader`; linear in the text.
    pub fn new(reader: &Reader, text: &str) -> Known {
        let units = reader.units(text);
        let tokens = hashes(&units);
        let size = seed(reader.recipe().unit).min(tokens.len()).max(1);
        Known { grams: Grams::new(&tokens, size), units, tokens }
    }

    /// Its grams of a size: the stored ones, or others for a text with fewer tokens.
    fn grams_of(&self, size: usize) -> Cow<'_, Grams> {
        if self.grams.size == size { Cow::Borrowed(&self.grams) } else { Cow::Owned(Grams::new(&self.tokens, size)) }
    }
}

/// The passages of two texts, and how much of each they cover.
///
/// `least` is how many tokens a passage must share: none means what [`usual_least`] says.
pub fn find(reader: &Reader, a: &str, b: &str, least: Option<usize>, gap: usize) -> Found {
    find_in(reader, &Known::new(reader, a), &Known::new(reader, b), least, gap)
}

/// [`find`] in texts that were read before, by the same reader.
pub fn find_in(reader: &Reader, a: &Known, b: &Known, least: Option<usize>, gap: usize) -> Found {
    let (left, right) = (&a.units, &b.units);
    let tokens = [&a.tokens[..], &b.tokens[..]];
    let shorter = tokens[0].len().min(tokens[1].len());
    let least = least.unwrap_or_else(|| usual_least(reader.recipe().unit, shorter));
    let rules = Rules { seed: seed(reader.recipe().unit).min(shorter), least, gap: gap.min(LARGEST_GAP) };
    let mut work = 0;
    let aligned = match shorter {
        0 => Vec::new(),
        _ => passages_by(tokens, [&*a.grams_of(rules.seed), &*b.grams_of(rules.seed)], rules, &mut work),
    };
    let mut equal = [vec![false; tokens[0].len()], vec![false; tokens[1].len()]];
    for runs in &aligned {
        for run in runs {
            equal[0][run.a..run.a + run.len].fill(true);
            equal[1][run.b..run.b + run.len].fill(true);
        }
    }
    let [in_a, in_b] = [0, 1].map(|side| equal[side].iter().filter(|&&one| one).count());
    let [shared, _] = equal;
    let passages = aligned.iter().take(LISTED).map(|runs| placed(runs, left, right)).collect();
    Found {
        passages,
        more: aligned.len().saturating_sub(LISTED),
        a: [tokens[0].len(), in_a],
        b: [tokens[1].len(), in_b],
        shared,
        work,
    }
}

fn hashes(units: &Units) -> Vec<u64> {
    units.iter().map(|unit| token_hash(unit.as_bytes())).collect()
}

/// The tokens in a row that passages are found by: 3 words, or 8 characters, which any two texts share less often than 5.
pub fn seed(unit: Unit) -> usize {
    if unit == Unit::Word { 3 } else { 8 }
}

/// The tokens that a passage must share: 8 words or 40 characters; in short texts half of the shorter, at least a seed.
pub fn usual_least(unit: Unit, shorter: usize) -> usize {
    let usual = if unit == Unit::Word { 8 } else { 40 };
    usual.min((shorter / 2).max(seed(unit)).min(shorter))
}

/// The passages of two sequences of tokens, each the runs of tokens that it shares, in order.
pub fn passages(a: &[u64], b: &[u64], rules: Rules, work: &mut u64) -> Vec<Vec<Run>> {
    let rules = Rules { seed: rules.seed.min(a.len()).min(b.len()), ..rules };
    if rules.seed == 0 {
        return Vec::new();
    }
    passages_by([a, b], [&Grams::new(a, rules.seed), &Grams::new(b, rules.seed)], rules, work)
}

/// [`passages`] where the grams of the seed are known, which neither sequence is shorter than.
fn passages_by([a, b]: [&[u64]; 2], [left, right]: [&Grams; 2], rules: Rules, work: &mut u64) -> Vec<Vec<Run>> {
    let mut found = chains(a, b, left, right, rules, work);
    // Repetitions in b are found by a second pass from its side.
    found.extend(chains(b, a, right, left, rules, work).into_iter().map(|chain| {
        let swap = |run: Run| Run { a: run.b, b: run.a, len: run.len };
        chain.into_iter().map(swap).collect::<Vec<_>>()
    }));
    let mut aligned: Vec<(usize, Vec<Run>)> = found
        .into_iter()
        .map(|chain| align(a, b, &chain, rules, work))
        .map(|runs| (runs.iter().map(|run| run.len).sum(), runs))
        .filter(|(shared, _)| *shared >= rules.least)
        .collect();
    aligned.sort_by_key(|(shared, runs)| (usize::MAX - shared, runs[0].a, runs[0].b));
    without_overlap(aligned.into_iter().map(|(_, runs)| runs), [a.len(), b.len()])
}

/// Drops passages that heavier ones cover by more than half, in both texts.
fn without_overlap(passages: impl Iterator<Item = Vec<Run>>, lengths: [usize; 2]) -> Vec<Vec<Run>> {
    let mut covered = lengths.map(|length| vec![false; length]);
    let is_new = |runs: &Vec<Run>| {
        let spans = [span(runs, |run| run.a), span(runs, |run| run.b)];
        let mut new = false;
        for (covered, [from, to]) in covered.iter_mut().zip(spans) {
            let part = &mut covered[from..to];
            new |= 2 * part.iter().filter(|&&seen| !seen).count() >= part.len();
        }
        if new {
            covered.iter_mut().zip(spans).for_each(|(covered, [from, to])| covered[from..to].fill(true));
        }
        new
    };
    passages.filter(is_new).collect()
}

/// From the first to the last token of a passage on one side.
fn span(runs: &[Run], side: impl Fn(&Run) -> usize) -> [usize; 2] {
    let last = &runs[runs.len() - 1];
    [side(&runs[0]), side(last) + last.len]
}

/// A passage in places of the originals.
fn placed(runs: &[Run], left: &Units, right: &Units) -> Passage {
    let place = |units: &Units, [from, to]: [usize; 2]| match from < to {
        true => [units.places[from][0], units.places[to - 1][1]],
        // Nothing: it lacks after the token before.
        false => [units.places[from - 1][1]; 2],
    };
    let (a, b) = (span(runs, |run| run.a), span(runs, |run| run.b));
    let differences = runs.windows(2).map(|pair| {
        let [before, after] = [pair[0], pair[1]];
        (place(left, [before.a + before.len, after.a]), place(right, [before.b + before.len, after.b]))
    });
    Passage {
        a: place(left, a),
        b: place(right, b),
        tokens: a[1] - a[0],
        shared: runs.iter().map(|run| run.len).sum(),
        differences: differences.collect(),
    }
}

#[cfg(test)]
mod tests;
