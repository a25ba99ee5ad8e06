//! Combines runs of equal tokens into passages.
//!
//! The first text is read once, from left to right. If its next gram also occurs in the second text, the longest run
//! of equal tokens there is used, and reading continues after it. A run that closely follows an earlier one in both
//! texts is added to its chain. Each token is read once, and a run is compared with few others, none much longer than
//! itself, so the time is linear even if both texts repeat one word a million times.

use super::Rules;
use super::grams::{Grams, Meetings};
use std::borrow::Cow;

/// Positions in the second text that are tried for a gram, in addition to those that continue a chain.
const FEW: usize = 8;

/// Sizes of grams, each four times that before it, that are looked up at most.
const LEVELS: usize = 3;

/// Consecutive equal tokens: `len` of them, from `a` in the first text and from `b` in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it starts in the first text.
    pub a: usize,
    /// Where it starts in the second.
    pub b: usize,
    /// How many tokens.
    pub len: usize,
}

impl Run {
    /// Where it ends in both.
    pub fn end(&self) -> [usize; 2] {
        [self.a + self.len, self.b + self.len]
    }
}

/// Chains of runs, each ascending in both texts. `work` grows by the steps.
pub fn chains(a: &[u64], b: &[u64], grams_a: &Grams, grams_b: &Grams, rules: Rules, work: &mut u64) -> Vec<Vec<Run>> {
    let levels = Levels::new(grams_a, grams_b);
    *work += (levels.0.len() * (a.len() + b.len())) as u64;
    let mut reading = Reading { a, b, grams_a, grams_b, rules, open: Vec::new(), closed: Vec::new(), work };
    let (mut at, mut floor) = (0, 0);
    while at + rules.seed <= a.len() {
        *reading.work += 1;
        match reading.longest_at(at, &levels) {
            None => at += 1,
            Some((run, chain)) => {
                let end = run.end()[0];
                reading.take(run, chain, floor);
                (at, floor) = (end, at);
            }
        }
    }
    let Reading { open, mut closed, .. } = reading;
    closed.extend(open);
    closed.into_iter().map(|chain| chain.runs).collect()
}

/// Positions of the grams of the first text in the second. If many of them have too many positions to try, also those
/// of grams of four and sixteen times their size: few words make few short grams, but many long ones.
struct Levels<'a>(Vec<(Meetings, Cow<'a, Grams>)>);

impl<'a> Levels<'a> {
    fn new(ours: &Grams, theirs: &'a Grams) -> Levels<'a> {
        let mut levels = vec![(Meetings::new(ours, theirs), Cow::Borrowed(theirs))];
        let mut longer: Option<Grams> = None;
        while levels.len() < LEVELS && levels[levels.len() - 1].0.are_crowded(FEW) {
            let next = longer.as_ref().unwrap_or(ours).longer();
            let there = levels[levels.len() - 1].1.longer();
            levels.push((Meetings::new(&next, &there), Cow::Owned(there)));
            longer = Some(next);
        }
        Levels(levels)
    }

    /// Positions to try for the grams at `at`: those of longer ones if the shorter ones have too many positions.
    fn candidates(&self, at: usize) -> impl Iterator<Item = usize> {
        let crowded = move |level: usize| self.0[level].0.count(at) > FEW;
        let tried = self.0.iter().enumerate().take_while(move |&(level, _)| level == 0 || crowded(level - 1));
        tried.flat_map(move |(_, (meetings, theirs))| meetings.candidates(at, theirs, FEW))
    }
}

/// Runs that follow one another closely, and how many tokens they share.
struct Chain {
    runs: Vec<Run>,
    shared: usize,
}

impl Chain {
    fn last(&self) -> Run {
        self.runs[self.runs.len() - 1]
    }
}

struct Reading<'a> {
    a: &'a [u64],
    b: &'a [u64],
    grams_a: &'a Grams,
    grams_b: &'a Grams,
    rules: Rules,
    /// Chains that may continue; few, as each must have ended within the last gap.
    open: Vec<Chain>,
    closed: Vec<Chain>,
    work: &'a mut u64,
}

impl Reading<'_> {
    /// The run to take at `at`, if any, and the open chain that it continues.
    fn longest_at(&mut self, at: usize, levels: &Levels) -> Option<(Run, Option<usize>)> {
        let mut candidates = levels.candidates(at).peekable();
        candidates.peek()?;
        self.close(at);
        let going_on = self.going_on(at);
        let found = going_on.map(|(run, _)| run);
        // A run that continues a chain is replaced only by one of more than twice its length.
        let bar = found.map_or(0, |run| 2 * run.len + self.rules.gap);
        let mut best: Option<Run> = None;
        for b in candidates {
            let limit = if found.is_some() { bar + 1 } else { usize::MAX };
            let mut run = self.run(at, b, limit);
            if run.len <= bar || run.len < self.rules.seed {
                continue;
            }
            if found.is_some() {
                run = self.run(at, b, usize::MAX);
            }
            if best.is_none_or(|best| run.len > best.len) {
                best = Some(run);
            }
        }
        match best {
            Some(run) => Some((run, None)),
            None => going_on.map(|(run, chain)| (run, Some(chain))),
        }
    }

    /// The longest run at `at` that goes on an open chain, and the chain; the heaviest of those that it goes on.
    fn going_on(&mut self, at: usize) -> Option<(Run, usize)> {
        let gram = self.grams_a.numbers[at];
        let mut best: Option<(Run, usize)> = None;
        let mut weight = (0, 0);
        for (chain, Chain { runs, shared }) in self.open.iter().enumerate() {
            let [a, b] = runs[runs.len() - 1].end();
            let near = |place: &usize| (at - a).abs_diff(place.saturating_sub(b));
            *self.work += (self.rules.gap + self.rules.seed) as u64;
            // A gram may begin with the last tokens of the chain: what was put in before a word may end with that word.
            let window =
                b.saturating_sub(self.rules.seed - 1)..(b + self.rules.gap + 1).min(self.grams_b.numbers.len());
            let Some(place) = window.filter(|&place| self.grams_b.numbers[place] == gram).min_by_key(near) else {
                continue;
            };
            let run = run_at(self.a, self.b, at, place, usize::MAX, self.work);
            if run.len >= self.rules.seed && (run.len, *shared) > weight {
                let again = b.saturating_sub(place);
                let rest = Run { a: run.a + again, b: run.b + again, len: run.len - again };
                (best, weight) = (Some((rest, chain)), (run.len, *shared));
            }
        }
        best
    }

    fn run(&mut self, a: usize, b: usize, limit: usize) -> Run {
        run_at(self.a, self.b, a, b, limit, self.work)
    }

    /// Closes chains that ended too long ago to go on.
    fn close(&mut self, at: usize) {
        let gap = self.rules.gap;
        self.closed.extend(self.open.extract_if(.., |chain| at - chain.last().end()[0] > gap));
    }

    /// Lengthens a run to the left, where tokens may have gone to another run by mistake, and puts it on its chain.
    fn take(&mut self, mut run: Run, chain: Option<usize>, floor: usize) {
        let [low_a, low_b] = chain.map_or([floor, 0], |chain| self.open[chain].last().end());
        while run.a > low_a && run.b > low_b && self.a[run.a - 1] == self.b[run.b - 1] {
            run = Run { a: run.a - 1, b: run.b - 1, len: run.len + 1 };
            *self.work += 1;
        }
        match chain {
            Some(chain) => {
                self.open[chain].runs.push(run);
                self.open[chain].shared += run.len;
            }
            None => self.open.push(Chain { runs: vec![run], shared: run.len }),
        }
    }
}

/// Equal tokens from two places on, at most `limit`.
fn run_at(a: &[u64], b: &[u64], from_a: usize, from_b: usize, limit: usize, work: &mut u64) -> Run {
    let len = a[from_a..].iter().zip(&b[from_b..]).take(limit).take_while(|(one, other)| one == other).count();
    *work += len as u64 + 1;
    Run { a: from_a, b: from_b, len }
}
