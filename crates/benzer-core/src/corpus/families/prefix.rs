//! The prefix filter: sets at the threshold share some elements among the first few of both, in any common order (Bayardo,
//! Ma and Srikant 2007; with more than one common element: Wang, Li and Feng 2012).
//!
//! Two sets that must share `least(size)` elements of each have their first two common elements among the first
//! `size - least(size) + 2` of both. The order puts elements first that are rare in a sample of the family. First elements
//! that only one document has can join no pair and are dropped, so that documents which share boilerplate alone, and by
//! chance one more element, have none left.

use super::table::Table;
use crate::corpus::Corpus;
use crate::corpus::compare::Lists;
use crate::hash::mix::{K1, K2, K4};
use crate::setjoin::Threshold;
use std::collections::HashMap;
use std::ops::Range;

/// Common first elements that are asked for, where sets are not too small for it.
const COMMON: usize = 2;

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

/// The first elements of some documents, of all fields together.
#[derive(Default)]
pub struct First {
    ends: Vec<usize>,
    elements: Vec<u32>,
    /// How many first elements each document has in common with every similar one, at least.
    needs: Vec<u8>,
}

impl First {
    /// The first elements of some documents.
    pub fn of(corpus: &Corpus, documents: &[u32], orders: &[Order], threshold: Threshold) -> First {
        let fields = orders.iter().enumerate();
        let mut fields: Vec<First> =
            fields.map(|(field, order)| First::of_field(corpus, field, documents, order, threshold)).collect();
        if fields.len() == 1 {
            return fields.remove(0);
        }
        let mut all = First::default();
        for at in 0..documents.len() {
            fields.iter().for_each(|field| all.elements.extend_from_slice(field.get(at)));
            all.ends.push(all.elements.len());
            all.needs.push(fields.iter().map(|field| field.needs[at]).min().unwrap_or(1));
        }
        all
    }

    fn of_field(corpus: &Corpus, field: usize, documents: &[u32], order: &Order, threshold: Threshold) -> First {
        let mut all = First::default();
        let (mut table, mut set) = (Table::default(), Vec::new());
        let (mut first, mut later) = (Vec::new(), Vec::new());
        let salt = (field as u64).wrapping_mul(K1);
        corpus.each_list(field, documents, &mut Lists::default(), |hashes| {
            set.clear();
            table.fill(hashes, &mut set);
            let least = threshold.least_of(set.len());
            let most = if set.is_empty() { 0 } else { set.len() - least + least.min(COMMON) };
            order.first(&set, most, &mut first, &mut later);
            // Half of the bits will do: elements that are taken for one another only cost a comparison.
            all.elements.extend(first.iter().map(|&element| ((element ^ salt).wrapping_mul(K4) >> 32) as u32));
            all.ends.push(all.elements.len());
            // The smallest set that is similar to this one must share this many of its own elements.
            all.needs.push(threshold.least_of(least).clamp(1, COMMON) as u8);
        });
        all
    }

    /// Those of one document; none if it is similar to no other.
    pub fn get(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let elements = &self.elements[start..self.ends[at]];
        if elements.len() < self.need(at) { &[] } else { elements }
    }

    /// How many of them it has in common with every similar document, at least.
    pub fn need(&self, at: usize) -> usize {
        usize::from(self.needs[at])
    }

    /// Joins parts in their order.
    pub fn concatenate(parts: Vec<First>) -> First {
        let mut all = First::default();
        all.elements.reserve_exact(parts.iter().map(|part| part.elements.len()).sum());
        for part in parts {
            let base = all.elements.len();
            all.ends.extend(part.ends.iter().map(|end| base + end));
            all.elements.extend(part.elements);
            all.needs.extend(part.needs);
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

/// Leaders by their first elements.
#[derive(Default)]
pub struct Postings(HashMap<u32, Vec<u32>>);

impl Postings {
    /// Files a leader. Leaders are filed in ascending order.
    pub fn file(&mut self, first: &[u32], leader: u32) {
        for &element in first {
            self.0.entry(element).or_default().push(leader);
        }
    }

    /// The leaders of a range that share `need` first elements, ascending.
    pub fn meet<'a>(&'a self, first: &[u32], need: usize, leaders: Range<u32>) -> Vec<u32> {
        let in_range = |postings: &'a Vec<u32>| {
            let [from, to] = [leaders.start, leaders.end].map(|end| postings.partition_point(|&leader| leader < end));
            &postings[from..to]
        };
        let met: Vec<&[u32]> = first.iter().filter_map(|element| self.0.get(element)).map(in_range).collect();
        if met.iter().map(|postings| postings.len()).sum::<usize>() < leaders.len() / 16 {
            let mut found = met.concat();
            found.sort_unstable();
            return found.chunk_by(|a, b| a == b).filter(|same| same.len() >= need).map(|same| same[0]).collect();
        }
        // Many leaders share many elements: counting takes a hundredth of the time of sorting.
        let mut counts = vec![0u8; leaders.len()];
        for &leader in met.into_iter().flatten() {
            let count = &mut counts[(leader - leaders.start) as usize];
            *count = count.saturating_add(1);
        }
        leaders.zip(counts).filter(|&(_, count)| usize::from(count) >= need).map(|(leader, _)| leader).collect()
    }
}
