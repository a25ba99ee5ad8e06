//! Bitmaps of leaders: most leaders that are not similar to a document are skipped without a look at their sets.
//!
//! A bitmap has a bit for each class of elements: whether a set has an odd number of them. Where two bitmaps differ, an
//! element of that class is in one set only, so the differing bits are at most |A Δ B| (the bitmap filter of Sandes,
//! Teodoro and Melo 2017). With three bits or more for each element, few pairs below the threshold are left.

use crate::hash::mix::K2;
use crate::isa::{self, Level, Task};

/// Elements for each word of a bitmap, about.
const ELEMENTS: usize = 16;

/// The most words of a bitmap.
const WORDS: usize = 64;

/// The bitmaps of leaders, and the sizes of their sets.
#[derive(Default)]
pub struct Bitmaps {
    words: usize,
    sizes: Vec<u32>,
    bits: Vec<u64>,
}

impl Bitmaps {
    /// Adds the set of the next leader. The first one decides how large bitmaps are.
    pub fn push(&mut self, set: &[u64]) {
        if self.sizes.is_empty() {
            self.words = (set.len() / ELEMENTS).next_power_of_two().clamp(2, WORDS);
        }
        let start = self.bits.len();
        self.bits.resize(start + self.words, 0);
        fill(&mut self.bits[start..], set);
        self.sizes.push(set.len() as u32);
    }

    /// Those of some leaders (by number) that may be similar to a set at the threshold.
    pub fn possible(&self, set: &[u64], threshold: f64, leaders: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut own = [0; WORDS];
        fill(&mut own[..self.words], set);
        let own = &own[..self.words];
        let differing = |allowed: f64, leader: u32| {
            let at = leader as usize;
            let bits = &self.bits[at * self.words..][..self.words];
            let differing: u32 = bits.iter().zip(own).map(|(a, b)| (a ^ b).count_ones()).sum();
            // One more than the difference that a similar pair has at most, whatever was rounded.
            f64::from(differing) <= allowed * (set.len() + self.sizes[at] as usize) as f64 + 1.0
        };
        isa::run(Possible { leaders, allowed: (1.0 - threshold) / (1.0 + threshold), differing })
    }
}

struct Possible<I, F> {
    leaders: I,
    allowed: f64,
    differing: F,
}

impl<I: Iterator<Item = u32>, F: Fn(f64, u32) -> bool> Task for Possible<I, F> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run<L: Level>(self) -> Vec<u32> {
        self.leaders.filter(|&leader| (self.differing)(self.allowed, leader)).collect()
    }
}

/// Marks a set in a bitmap without bits, of a power of two of words.
fn fill(bits: &mut [u64], set: &[u64]) {
    let shift = 64 - (64 * bits.len()).ilog2();
    for &element in set {
        let bit = element.wrapping_mul(K2) >> shift;
        bits[(bit >> 6) as usize] ^= 1 << (bit & 63);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    #[test]
    fn no_similar_leader_is_skipped_and_most_others_are() {
        let mut random = SplitMix64::new(3);
        for size in [1usize, 9, 40, 300, 3000] {
            let template: Vec<u64> = (0..size).map(|_| random.next_u64()).collect();
            let mut bitmaps = Bitmaps::default();
            let sets: Vec<Vec<u64>> = (0..60)
                .map(|changes| {
                    let mut set = template.clone();
                    set.iter_mut().take(changes * size / 100).for_each(|element| *element = random.next_u64());
                    set
                })
                .collect();
            sets.iter().for_each(|set| bitmaps.push(set));
            for threshold in [0.3, 0.8, 1.0] {
                let possible = bitmaps.possible(&template, threshold, 0..60);
                for (leader, set) in sets.iter().enumerate() {
                    let shared = template.iter().filter(|element| set.contains(element)).count();
                    let similarity = shared as f64 / (2 * size - shared) as f64;
                    let found = possible.contains(&(leader as u32));
                    assert!(found || similarity < threshold, "{size} {threshold} {similarity}");
                    assert!(!found || size < 40 || similarity >= threshold - 0.1, "{size} {threshold} {similarity}");
                }
            }
        }
    }
}
