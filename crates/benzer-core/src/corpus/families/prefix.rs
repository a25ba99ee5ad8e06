//! The prefix filter: sets at the threshold share some elements among the first few of both, in any common order (Bayardo,
//! Ma and Srikant 2007; with more than one common element: Wang, Li and Feng 2012).
//!
//! Two sets that must share `least(size)` elements of each have their first two common elements among the first
//! `size - least(size) + 2` of both. The order puts elements first that are rare in a sample of the family. First elements
//! that only one document has can join no pair and are dropped, so that documents which share boilerplate alone, and by
//! chance one more element, have none left.

use crate::corpus::compare::MULTIPLIER;
use crate::hash::mix::{K1, K2, K4};
use crate::setjoin::Threshold;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

/// Required common first elements, if sets are not too small for it.
const COMMON: usize = 2;

/// Classes of sizes for each doubling of the size.
const CLASSES: f64 = 16.0;

/// How often elements are sieved at most.
const SIEVES: u32 = 4;

/// How often each element occurs in a sample, about: elements that share a slot count together.
///
/// Any order of the elements is correct; counts only make it fast.
pub struct Order {
    counts: Vec<u16>,
    shift: u32,
}

impl Order {
    /// The order that a sample of sets gives: elements that are rare there come first.
    pub fn new<'a>(sample: impl Iterator<Item = &'a [u64]>) -> Order {
        let sample: Vec<&[u64]> = sample.collect();
        let elements = sample.iter().map(|set| set.len() as u64).sum::<u64>();
        let bits = (4 * elements + 1).ilog2().clamp(6, 20);
        let mut order = Order { counts: vec![0; 1 << bits], shift: 64 - bits };
        for &element in sample.into_iter().flatten() {
            let slot = order.slot(element);
            order.counts[slot] = order.counts[slot].saturating_add(1);
        }
        order
    }

    #[inline(always)]
    fn slot(&self, element: u64) -> usize {
        (element.wrapping_mul(K4) >> self.shift) as usize
    }

    /// The `most` first elements of a set, mixed, in no particular order, into `first`; `later` is scratch.
    fn first(&self, set: &[u64], most: usize, first: &mut Vec<u64>, later: &mut Vec<(u16, u64)>) {
        first.clear();
        later.clear();
        for &element in set {
            let (count, mixed) = (self.counts[self.slot(element)], element.wrapping_mul(K2));
            if count == 0 { first.push(mixed) } else { later.push((count, mixed)) }
        }
        if most < first.len() {
            first.select_nth_unstable(most);
            first.truncate(most);
            return;
        }
        let more = most - first.len();
        if more < later.len() {
            later.select_nth_unstable(more);
            later.truncate(more);
        }
        first.extend(later.iter().map(|&(_, mixed)| mixed));
    }
}

/// The size of a set, and what first elements say about it.
#[derive(Clone, Copy, Default)]
pub struct Bound {
    /// Elements of the set; 0 where a document has several fields.
    size: u32,
    /// Elements of the set that are not among its first ones.
    rest: u32,
    /// First elements that it has in common with every similar set, at least.
    need: u8,
}

impl Bound {
    /// How many first elements two sets have in common if they are similar, at least.
    ///
    /// Each element that they share is among the first ones of both, or among the rest of the set whose first elements
    /// end earlier in the common order.
    fn need_with(self, other: Bound, threshold: Threshold) -> usize {
        let shared = threshold.least_shared((self.size + other.size) as usize);
        usize::from(self.need).max(shared.saturating_sub(self.rest.max(other.rest) as usize))
    }
}

/// The first elements of some documents, of all fields together.
#[derive(Default)]
pub struct First {
    ends: Vec<usize>,
    elements: Vec<u32>,
    bounds: Vec<Bound>,
}

/// The first elements of one document.
#[derive(Clone, Copy)]
pub struct FirstOf<'a> {
    elements: &'a [u32],
    bound: Bound,
}

impl FirstOf<'_> {
    /// Whether the document is similar to no other, whatever the others are.
    pub fn alone(self) -> bool {
        self.elements.len() < usize::from(self.bound.need)
    }
}

impl First {
    /// The first elements of some documents. `each` calls a function with the set of a field of each document in turn.
    pub fn of(orders: &[Order], threshold: Threshold, each: impl Fn(usize, &mut dyn FnMut(&[u64]))) -> First {
        let fields = orders.iter().enumerate();
        let mut fields: Vec<First> =
            fields.map(|(field, order)| First::of_field(field, order, threshold, |take| each(field, take))).collect();
        if fields.len() == 1 {
            return fields.remove(0);
        }
        let mut all = First::default();
        for at in 0..fields[0].ends.len() {
            fields.iter().for_each(|field| all.elements.extend_from_slice(field.get(at).elements));
            all.ends.push(all.elements.len());
            let need = fields.iter().map(|field| field.bounds[at].need).min().unwrap_or(1);
            all.bounds.push(Bound { need, ..Bound::default() });
        }
        all
    }

    fn of_field(field: usize, order: &Order, threshold: Threshold, each: impl Fn(&mut dyn FnMut(&[u64]))) -> First {
        let mut all = First::default();
        let (mut first, mut later) = (Vec::new(), Vec::new());
        let salt = (field as u64).wrapping_mul(K1);
        each(&mut |set| {
            let least = threshold.least_of(set.len());
            let most = if set.is_empty() { 0 } else { set.len() - least + least.min(COMMON) };
            order.first(set, most, &mut first, &mut later);
            // Half of the bits will do: elements that are taken for one another only cost a comparison.
            all.elements.extend(first.iter().map(|&element| ((element ^ salt).wrapping_mul(K4) >> 32) as u32));
            all.ends.push(all.elements.len());
            // The smallest set that is similar to this one must share this many of its own elements.
            let need = threshold.least_of(least).clamp(1, COMMON) as u8;
            all.bounds.push(Bound { size: set.len() as u32, rest: (set.len() - most) as u32, need });
        });
        all
    }

    /// Those of one document.
    pub fn get(&self, at: usize) -> FirstOf<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        FirstOf { elements: &self.elements[start..self.ends[at]], bound: self.bounds[at] }
    }

    /// Joins parts in their order.
    pub fn concatenate(parts: Vec<First>) -> First {
        let mut all = First::default();
        all.elements.reserve_exact(parts.iter().map(|part| part.elements.len()).sum());
        for part in parts {
            let base = all.elements.len();
            all.ends.extend(part.ends.iter().map(|end| base + end));
            all.elements.extend(part.elements);
            all.bounds.extend(part.bounds);
        }
        all
    }

    /// Drops the elements that only one document has, and hardly any others stay for chance.
    pub fn drop_alone(&mut self) {
        for pass in 0..SIEVES {
            let before = self.elements.len();
            self.sieve(pass);
            if self.elements.len() > before / 8 * 7 {
                break;
            }
        }
        self.elements.shrink_to_fit();
    }

    /// Drops elements whose slot no other element has: one of four stays for chance.
    fn sieve(&mut self, pass: u32) {
        let slots = (self.elements.len() as u64 * 4).next_power_of_two().max(64);
        let shift = 64 - slots.trailing_zeros();
        let mut seen = vec![0u8; slots as usize / 4];
        let place = |element: u32| {
            let slot = (u64::from(element) + 1).wrapping_mul(K4.rotate_left(11 * pass) | 1) >> shift;
            (slot as usize / 4, slot % 4 * 2)
        };
        for &element in &self.elements {
            let (byte, bit) = place(element);
            seen[byte] |= 1 << bit | (seen[byte] & 1 << bit) << 1;
        }
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            for at in start..*end {
                let element = self.elements[at];
                let (byte, bit) = place(element);
                self.elements[kept] = element;
                kept += usize::from(seen[byte] >> bit & 2 != 0);
            }
            start = std::mem::replace(end, kept);
        }
        self.elements.truncate(kept);
    }
}

/// Leaders of about the same size by their first elements, ascending.
struct Class {
    leaders: HashMap<u32, Vec<u32>, Keyed>,
    /// The bound that holds for all of them: the least size, the most elements besides first ones, the least need.
    bound: Bound,
}

/// Leaders by their sizes and first elements.
#[derive(Default)]
pub struct Postings {
    classes: BTreeMap<u32, Class>,
    bounds: Vec<Bound>,
}

impl Postings {
    /// Files the next leader: they are numbered from 0.
    pub fn file(&mut self, first: FirstOf<'_>) {
        let (leader, bound) = (self.bounds.len() as u32, first.bound);
        let number = (f64::from(bound.size + 1).log2() * CLASSES) as u32;
        let class = self.classes.entry(number).or_insert(Class { leaders: HashMap::default(), bound });
        let Bound { size, rest, need } = class.bound;
        class.bound = Bound { size: size.min(bound.size), rest: rest.max(bound.rest), need: need.min(bound.need) };
        for &element in first.elements {
            class.leaders.entry(element).or_default().push(leader);
        }
        self.bounds.push(bound);
    }

    /// The leaders of a range that share enough first elements, ascending; none if that takes longer to find out than
    /// looking at all of them.
    pub fn meet(&self, first: FirstOf<'_>, leaders: Range<u32>, threshold: Threshold) -> Option<Vec<u32>> {
        let (mut found, mut met, mut looked_at) = (Vec::new(), Vec::new(), 0);
        for class in self.classes.values() {
            let need = first.bound.need_with(class.bound, threshold);
            met.clear();
            met.extend(first.elements.iter().filter_map(|element| class.leaders.get(element)).filter_map(|postings| {
                let [from, to] = [leaders.start, leaders.end].map(|end| postings.partition_point(|&one| one < end));
                (from < to).then(|| &postings[from..to])
            }));
            if met.len() < need {
                continue;
            }
            // A similar leader is in `need` of these lists, so in some of any others when the longest are left out.
            let left_out = need.saturating_sub(COMMON);
            let taken = met.len() - left_out;
            if left_out > 0 {
                met.select_nth_unstable_by_key(taken, |postings: &&[u32]| postings.len());
            }
            looked_at += met[..taken].iter().map(|postings| postings.len()).sum::<usize>();
            if looked_at > leaders.len() {
                return None;
            }
            let mut some = met[..taken].concat();
            some.sort_unstable();
            let enough = |same: &&[u32]| {
                let need = first.bound.need_with(self.bounds[same[0] as usize], threshold);
                same.len() >= need - left_out
            };
            found.extend(some.chunk_by(|a, b| a == b).filter(enough).map(|same| same[0]));
        }
        found.sort_unstable();
        Some(found)
    }
}

/// Hashes elements with the multiplier of this process, so that nobody can choose elements that collide.
#[derive(Clone, Copy, Default)]
struct Keyed(u64);

impl BuildHasher for Keyed {
    type Hasher = Keyed;

    fn build_hasher(&self) -> Keyed {
        Keyed(0)
    }
}

impl Hasher for Keyed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, element: u32) {
        self.0 = (self.0 ^ u64::from(element)).wrapping_mul(*MULTIPLIER).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use std::collections::BTreeSet;

    /// A set with some elements replaced by new ones, and some dropped.
    fn changed(set: &[u64], replaced: usize, dropped: usize, random: &mut SplitMix64) -> Vec<u64> {
        let mut set = set.to_vec();
        for _ in 0..dropped {
            set.swap_remove(random.next_u64() as usize % set.len());
        }
        for _ in 0..replaced {
            let at = random.next_u64() as usize % set.len();
            set[at] = random.next_u64();
        }
        set
    }

    fn similarity(a: &[u64], b: &[u64]) -> f64 {
        let [a, b] = [a, b].map(|set| set.iter().collect::<BTreeSet<_>>());
        let shared = a.intersection(&b).count();
        shared as f64 / (a.len() + b.len() - shared) as f64
    }

    #[test]
    fn similar_leaders_are_met_and_most_others_are_not() {
        let mut random = SplitMix64::new(11);
        for (threshold, own) in [(0.8, 16), (0.8, 24), (0.7, 24), (0.9, 9), (0.5, 40), (0.95, 5)] {
            let template: Vec<u64> = (0..100).map(|_| random.next_u64()).collect();
            let leaders: Vec<Vec<u64>> = (0..300)
                .map(|_| {
                    let (more, fewer) = (random.next_u64() as usize % 5, random.next_u64() as usize % 20);
                    changed(&template, own + more, fewer, &mut random)
                })
                .collect();
            // Documents around the threshold of a leader, smaller ones and larger ones.
            let documents: Vec<Vec<u64>> = (0..300)
                .map(|at| {
                    let [replaced, dropped] = [0, 1].map(|_| random.next_u64() as usize % (own + 1));
                    let set = changed(&leaders[at], replaced / 2, dropped / 2, &mut random);
                    if at % 2 == 0 {
                        set
                    } else {
                        set.into_iter().chain((0..dropped / 2).map(|_| random.next_u64())).collect()
                    }
                })
                .collect();
            let all: Vec<&[u64]> = leaders.iter().chain(&documents).map(Vec::as_slice).collect();
            let threshold_of = Threshold::new(threshold);
            let order = Order::new(all.iter().copied().step_by(7));
            let mut first = First::of(&[order], threshold_of, |_, take| all.iter().for_each(|set| take(set)));
            first.drop_alone();
            let mut postings = Postings::default();
            (0..leaders.len()).for_each(|leader| postings.file(first.get(leader)));
            let (mut similar, mut met, mut answered) = (0, 0, 0);
            for (at, document) in documents.iter().enumerate() {
                let range = at as u32 / 2..300;
                let Some(found) = postings.meet(first.get(300 + at), range.clone(), threshold_of) else { continue };
                assert!(found.is_sorted() && found.iter().all(|leader| range.contains(leader)));
                (met, answered) = (met + found.len(), answered + 1);
                for leader in range.filter(|&leader| similarity(&leaders[leader as usize], document) >= threshold) {
                    similar += 1;
                    assert!(found.contains(&leader), "threshold {threshold}, document {at}, leader {leader}");
                }
            }
            assert!(similar > 50 && answered > 200, "threshold {threshold}: {similar} similar, {answered} answered");
            assert!(met < 3 * similar, "threshold {threshold}: {met} met, {similar} similar");
        }
    }
}
