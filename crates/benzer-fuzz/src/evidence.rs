//! Evidence: passages are within both texts, and their tokens are equal there.

use benzer_core::evidence::chains::Run;
use benzer_core::evidence::{Found, Known};
use benzer_core::evidence::{LISTED, Passage, Rules, find, find_in, passages, usual_least};
use benzer_core::text::offsets::Place;
use benzer_core::text::{Reader, Recipe, Unit};
use std::collections::HashSet;

use crate::input::Input;

/// Steps that a token may cost; see the tests of `benzer_core::evidence`.
const STEPS: u64 = 245;

/// Checks passages of two sequences of tokens, or of two texts; the first byte says which.
pub fn evidence(data: &[u8]) {
    let mut input = Input::new(data);
    let kind = input.byte();
    let (least, gap) = (input.below(20), input.below(70));
    if kind & 1 == 0 {
        let rules = Rules { seed: 1 + usize::from(kind / 2 % 8), least: least.max(1), gap: gap.min(64) };
        let distinct = 1 + u64::from(input.byte());
        let tokens = |half: &[u8]| half.iter().map(|&byte| u64::from(byte) % distinct).collect::<Vec<u64>>();
        let [a, b] = halves(&mut input).map(tokens);
        check_tokens(&a, &b, rules);
    } else {
        let [a, b] = halves(&mut input).map(|half| String::from_utf8_lossy(half));
        let unit = if kind & 2 > 0 { Unit::Char } else { Unit::Word };
        let recipe = Recipe { unit, shingle_size: 3, keep_punctuation: kind & 4 > 0, ..Recipe::PLAIN };
        check_texts(&Reader::new(recipe, &[]), &a, &b, (kind & 8 > 0).then_some(least), gap);
    }
}

/// The rest of the input, divided at the first NUL byte, otherwise in the middle.
fn halves<'a>(input: &mut Input<'a>) -> [&'a [u8]; 2] {
    let rest = input.rest();
    match rest.iter().position(|&byte| byte == 0) {
        Some(index) => [&rest[..index], &rest[index + 1..]],
        None => rest.split_at(rest.len() / 2).into(),
    }
}

fn check_tokens(a: &[u64], b: &[u64], rules: Rules) {
    let mut work = 0;
    let actual = passages(a, b, rules, &mut work);
    let tokens = (a.len() + b.len()) as u64;
    if rules.seed >= 3 && rules.gap <= 8 {
        assert!(work <= STEPS * tokens, "{work} steps for {tokens} tokens: {a:?} {b:?} {rules:?}");
    }
    for runs in &actual {
        check_runs(a, b, runs, rules.least);
    }
    let seed = rules.seed.min(a.len()).min(b.len());
    let grams: HashSet<&[u64]> = a.windows(seed.max(1)).collect();
    let shares = seed > 0 && b.windows(seed).any(|gram| grams.contains(gram));
    if actual.is_empty() {
        assert!(!shares || rules.least > seed, "a shared gram is not found: {a:?} {b:?} {rules:?}");
    } else {
        assert!(shares, "passages of sequences that share no gram: {a:?} {b:?} {rules:?}");
    }
    if a == b && a.len() >= rules.least.max(1) {
        let shared = covered(&actual, a.len(), |run| run.a);
        assert!(shared.iter().all(|&shared| shared), "equal sequences are not shared whole: {a:?} {rules:?}");
    }
}

/// Runs ascend in both sequences, do not touch in both, and are equal there.
fn check_runs(a: &[u64], b: &[u64], runs: &[Run], least: usize) {
    assert!(runs.iter().map(|run| run.len).sum::<usize>() >= least, "{runs:?} of {a:?} {b:?}");
    for run in runs {
        let [end_a, end_b] = run.end();
        assert!(run.len > 0 && a[run.a..end_a] == b[run.b..end_b], "{run:?} of {a:?} {b:?}");
    }
    for pair in runs.windows(2) {
        let [end_a, end_b] = pair[0].end();
        let next = pair[1];
        assert!(end_a <= next.a && end_b <= next.b && [end_a, end_b] != [next.a, next.b], "{runs:?} of {a:?} {b:?}");
    }
}

/// Which tokens of one side are in a run.
fn covered(passages: &[Vec<Run>], len: usize, side: impl Fn(&Run) -> usize) -> Vec<bool> {
    let mut covered = vec![false; len];
    for run in passages.iter().flatten() {
        covered[side(run)..side(run) + run.len].fill(true);
    }
    covered
}

fn check_texts(reader: &Reader, a: &str, b: &str, least: Option<usize>, gap: usize) {
    let actual = find(reader, a, b, least, gap);
    let known = [a, b].map(|text| Known::new(reader, text));
    let again = find_in(reader, &known[0], &known[1], least, gap);
    assert_eq!((&again.passages, again.a, again.b), (&actual.passages, actual.a, actual.b));
    let sides = [Side::new(reader, a), Side::new(reader, b)];
    check_counts(reader, &sides, &actual, least);
    if sides.iter().all(|side| side.is_exact) {
        actual.passages.iter().for_each(|passage| sides_agree(&sides, passage));
    }
}

/// The counts of what is shared are those of the tokens, and no more than the other text can share.
fn check_counts(reader: &Reader, sides: &[Side; 2], actual: &Found, least: Option<usize>) {
    let [a, b] = sides.each_ref().map(|side| &side.tokens);
    assert_eq!([actual.a[0], actual.b[0]], [a.len(), b.len()], "tokens");
    assert_eq!(actual.shared.len(), a.len());
    assert_eq!(actual.shared.iter().filter(|&&shared| shared).count(), actual.a[1], "shared tokens");
    let other: HashSet<&String> = b.iter().collect();
    assert!(a.iter().zip(&actual.shared).all(|(token, &shared)| !shared || other.contains(token)));
    assert!(actual.passages.len() <= LISTED && (actual.more == 0 || actual.passages.len() == LISTED));
    let least = least.unwrap_or_else(|| usual_least(reader.recipe().unit, a.len().min(b.len())));
    for passage in &actual.passages {
        assert!(passage.shared >= least && passage.shared <= passage.tokens, "{passage:?}");
        let borders = sides.each_ref().map(|side| side.borders.len() as u32);
        assert!(passage.a[1] < borders[0] && passage.b[1] < borders[1], "{passage:?}");
        assert!(passage.a[0] <= passage.a[1] && passage.b[0] <= passage.b[1]);
    }
    if a == b && !a.is_empty() && least <= a.len() {
        assert_eq!(actual.a, [a.len(); 2], "a text and itself");
        assert_eq!(actual.b, [a.len(); 2], "a text and itself");
    }
}

/// A text, its tokens, and where these are.
struct Side {
    tokens: Vec<String>,
    places: Vec<Place>,
    /// Where each character begins, in bytes, and where the last ends.
    borders: Vec<usize>,
    /// Whether no two tokens have a place in common, so that a place says which tokens are meant.
    is_exact: bool,
}

impl Side {
    fn new(reader: &Reader, text: &str) -> Side {
        let units = reader.units(text);
        Side {
            tokens: units.iter().map(str::to_owned).collect(),
            is_exact: units.places.windows(2).all(|pair| pair[0][1] <= pair[1][0]),
            places: units.places,
            borders: text.char_indices().map(|(index, _)| index).chain([text.len()]).collect(),
        }
    }

    /// The tokens within a place, without those within some others.
    fn without(&self, place: Place, others: impl Iterator<Item = Place> + Clone) -> Vec<&String> {
        let inside = |token: Place, place: Place| place[0] <= token[0] && token[1] <= place[1];
        let is_left = |token: Place| inside(token, place) && !others.clone().any(|other| inside(token, other));
        self.tokens.iter().zip(&self.places).filter(|&(_, &token)| is_left(token)).map(|(token, _)| token).collect()
    }
}

/// Without the differences, a passage has the same tokens in both texts.
fn sides_agree([a, b]: &[Side; 2], passage: &Passage) {
    let left = a.without(passage.a, passage.differences.iter().map(|pair| pair.0));
    let right = b.without(passage.b, passage.differences.iter().map(|pair| pair.1));
    assert_eq!(left, right, "{passage:?}");
    assert_eq!(left.len(), passage.shared, "{passage:?}");
}
