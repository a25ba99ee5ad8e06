//! Selects the shingles of a text that are stored to find its passages: the smallest of each window.
//!
//! Winnowing (Schleimer, Wilkerson, Aiken 2003): of every `window` consecutive shingles, the one with the smallest
//! hash is selected. Two texts that share that many consecutive shingles share a whole window, and so its selected
//! shingle. Of random hashes only 2 / (window + 1) are selected. The published rule for equal hashes determines the
//! recorded *position*; here only the hashes are stored, so it makes no difference.

use crate::isa::{self, Level, Task};
use crate::jaccard::{Sets, sort_distinct};
use crate::text::{Reader, Scratch};

/// The longest window: a text of rising hashes is looked at so many times.
pub const MOST_WINDOW: usize = 64;

/// Appends the smallest of each `window` consecutive hashes to `out`; for fewer hashes the smallest of all, for none
/// nothing.
///
/// A hash that is least in windows one after the other is appended once. Random hashes cost a few nanoseconds each,
/// none more than `window` steps.
///
/// ```
/// # use benzer_core::winnow::winnow;
/// let mut taken = Vec::new();
/// winnow(&[77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98], 4, &mut taken);
/// assert_eq!(taken, [17, 17, 8, 39, 17]); // the example of the paper
/// ```
///
/// # Panics
/// Where `window` is 0.
pub fn winnow(hashes: &[u64], window: usize, out: &mut Vec<u64>) {
    assert!(window > 0, "a window holds at least one hash");
    let window = window.min(hashes.len().max(1));
    let mut least: Option<usize> = None;
    for start in 0..(hashes.len() + 1).saturating_sub(window) {
        let last = start + window - 1;
        match least {
            Some(at) if at >= start && hashes[last] > hashes[at] => continue,
            // The last of equal ones remains the smallest for longest.
            Some(at) if at >= start => least = Some(last),
            _ => least = (start..=last).rev().min_by_key(|&at| hashes[at]),
        }
        out.extend(least.map(|at| hashes[at]));
    }
}

struct Winnow<'a> {
    reader: &'a Reader,
    texts: &'a [String],
    window: usize,
}

impl Task for Winnow<'_> {
    type Output = Sets;

    #[inline(always)]
    fn run<L: Level>(self) -> Sets {
        let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
        let (mut scratch, mut taken, mut spare) = (Scratch::default(), Vec::new(), Vec::new());
        for text in self.texts {
            self.reader.read::<L>(text, &mut scratch);
            taken.clear();
            winnow(&scratch.shingles, self.window, &mut taken);
            sort_distinct(&mut taken, &mut spare);
            sets.hashes.extend_from_slice(&taken);
            sets.offsets.push(sets.hashes.len());
        }
        sets
    }
}

/// The set of hashes that are taken of each text, read by `reader`; all its shingles with a window of 1.
pub fn winnowed(reader: &Reader, texts: &[String], window: usize) -> Sets {
    isa::run(Winnow { reader, texts, window })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    fn taken(hashes: &[u64], window: usize) -> Vec<u64> {
        let mut out = Vec::new();
        winnow(hashes, window, &mut out);
        out
    }

    fn set(mut hashes: Vec<u64>) -> Vec<u64> {
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    #[test]
    fn the_least_of_every_window_is_taken_and_nothing_else() {
        let mut random = SplitMix64::new(3);
        for len in 0..60 {
            for values in [1, 2, 5, u64::MAX] {
                let hashes: Vec<u64> = (0..len).map(|_| random.next_u64() % values).collect();
                for window in [1, 2, 4, 9, MOST_WINDOW] {
                    let windows = hashes.windows(window.min(len.max(1)));
                    let least = windows.filter_map(|window| window.iter().min().copied());
                    assert_eq!(set(taken(&hashes, window)), set(least.collect()), "{hashes:?} by {window}");
                }
            }
        }
    }

    #[test]
    fn of_random_hashes_two_in_a_window_and_one_more_are_taken() {
        let mut random = SplitMix64::new(4);
        let hashes: Vec<u64> = (0..100_000).map(|_| random.next_u64()).collect();
        for window in [1, 4, 8] {
            let share = taken(&hashes, window).len() as f64 / hashes.len() as f64;
            // Takings more than `window` apart are independent; 6 standard deviations are below 0.015.
            assert!((share - 2.0 / (window as f64 + 1.0)).abs() < 0.015, "{share} by {window}");
        }
    }

    #[test]
    fn the_last_of_equal_hashes_is_taken_while_it_lasts() {
        assert_eq!(taken(&[5; 10], 4).len(), 7);
        assert_eq!(taken(&[1, 9, 9, 9, 9, 9, 9], 4), [1, 9, 9, 9]);
    }

    #[test]
    #[should_panic(expected = "at least one hash")]
    fn a_window_of_nothing_is_refused() {
        winnow(&[1], 0, &mut Vec::new());
    }
}
