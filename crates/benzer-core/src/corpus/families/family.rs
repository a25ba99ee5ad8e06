//! One family: its documents in keep order, each compared with the leaders before it.

use super::prefix::{First, Order, Postings};
use super::table::Table;
use super::{Families, FamilyPairs};
use crate::corpus::compare::{Lists, Mean};
use crate::jaccard::{Sets, ratio};
use crate::setjoin::{Bitmap, Threshold};
use crate::watch;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Documents that are worked on together: few at first, since most of a family are similar to its first leader.
const CHUNKS: [usize; 2] = [64, 1024];

/// Up to so many leaders each document is compared with all of them.
const FEW: usize = 8;

/// Documents whose elements are counted, to put rare ones first.
const SAMPLE: usize = 512;

/// Elements of leaders that are held in memory.
const HELD: usize = 4 << 20;

/// Documents that are read by one thread at a time.
const READ: usize = 64;

/// Documents that are compared by one thread at a time.
const COMPARED: usize = 16;

/// Some documents and their sets.
pub struct Chunk {
    documents: Vec<u32>,
    /// The sets of each field, distinct and in no order, [`READ`] documents at a time.
    fields: Vec<Vec<Sets>>,
}

impl Chunk {
    /// The set of a field of a document, by its place in the chunk.
    fn set(&self, field: usize, at: usize) -> &[u64] {
        self.fields[field][at / READ].get(at % READ)
    }

    /// The sets of a field.
    fn sets(&self, field: usize) -> impl Iterator<Item = &[u64]> {
        (0..self.documents.len()).map(move |at| self.set(field, at))
    }
}

/// The set of a leader.
#[derive(Default)]
struct Held {
    table: Table,
    size: usize,
    bitmap: Bitmap,
}

/// A leader by its number, and the similarity to it.
type Match = (u32, f64);

/// One family while its documents are compared.
pub struct Family<'a> {
    join: &'a Families<'a>,
    threshold: Threshold,
    lead: &'a [bool],
    documents: &'a [u32],
    /// The leaders so far, in keep order.
    leaders: Vec<u32>,
    /// Sets of leaders that have been needed, of each field.
    held: HashMap<u32, Vec<Held>>,
    held_elements: usize,
    found: FamilyPairs,
}

/// How leaders are found that may be similar to the documents of a chunk.
enum Filter<'a> {
    /// All leaders are candidates.
    Few,
    /// Leaders that share first elements: those of the chunk's documents and how many are needed, and those of the leaders.
    Prefix(&'a [(&'a [u32], usize)], &'a mut Postings),
}

impl Filter<'_> {
    fn candidates(&self, at: usize, leaders: Range<u32>) -> Vec<u32> {
        match self {
            Filter::Few => leaders.collect(),
            Filter::Prefix(first, postings) => postings.meet(first[at].0, first[at].1, leaders),
        }
    }
}

impl<'a> Family<'a> {
    pub fn new(join: &'a Families<'a>, lead: &'a [bool], documents: &'a [u32]) -> Self {
        Family {
            join,
            threshold: Threshold::new(join.threshold),
            lead,
            documents,
            leaders: Vec::new(),
            held: HashMap::new(),
            held_elements: 0,
            found: FamilyPairs::default(),
        }
    }

    /// Compares all documents.
    pub fn run(mut self) -> FamilyPairs {
        let (mut start, mut size) = (0, CHUNKS[0]);
        while start < self.documents.len() && self.leaders.len() <= FEW {
            let end = self.documents.len().min(start + size);
            self.chunk(&self.documents[start..end], Filter::Few);
            watch::tick(end - start);
            (start, size) = (end, CHUNKS[1].min(size * 2));
        }
        if start < self.documents.len() {
            self.filtered(start);
        }
        self.found
    }

    /// Compares the documents from `start` on with candidates of the prefix filter.
    fn filtered(&mut self, start: usize) {
        let step = self.documents.len().div_ceil(SAMPLE);
        let sample: Vec<u32> = self.documents.iter().copied().step_by(step).collect();
        let sample = self.read(&sample);
        let orders: Vec<Order> = (0..self.fields()).map(|field| Order::new(sample.sets(field))).collect();
        let rest = &self.documents[start..];
        let both: Vec<&[u32]> = self.leaders.chunks(READ).chain(rest.chunks(READ)).collect();
        let parts = both.into_par_iter().map(|part| {
            watch::look();
            First::of(self.join.corpus, part, &orders, self.threshold)
        });
        let mut first = First::concatenate(parts.collect());
        first.drop_alone();
        let known = self.leaders.len();
        let mut postings = Postings::default();
        (0..known).for_each(|leader| postings.file(first.get(leader), leader as u32));
        let mut at = 0;
        while at < rest.len() {
            // Documents that share too few first elements with others have no candidates, whoever leads.
            let (mut active, mut own) = (Vec::new(), Vec::new());
            while at < rest.len() && active.len() < CHUNKS[1] {
                let elements = first.get(known + at);
                if !elements.is_empty() {
                    active.push(rest[at]);
                    own.push((elements, first.need(known + at)));
                } else if self.lead[rest[at] as usize] {
                    self.found.led.push(rest[at]);
                }
                at += 1;
            }
            self.chunk(&active, Filter::Prefix(&own, &mut postings));
            watch::tick(active.len());
        }
    }

    fn fields(&self) -> usize {
        self.join.corpus.fields()
    }

    /// The distinct elements of each field of some documents.
    fn read(&self, documents: &[u32]) -> Chunk {
        let read = |field: usize, documents: &[u32]| {
            let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
            let mut table = Table::default();
            self.join.corpus.each_list(field, documents, &mut Lists::default(), |hashes| {
                table.fill(hashes, &mut sets.hashes);
                sets.offsets.push(sets.hashes.len());
            });
            sets
        };
        let all = |field: usize| documents.par_chunks(READ).map(|part| read(field, part)).collect();
        Chunk { documents: documents.to_vec(), fields: (0..self.fields()).map(all).collect() }
    }

    /// Compares the next documents in keep order.
    fn chunk(&mut self, documents: &[u32], mut filter: Filter<'_>) {
        let chunk = self.read(documents);
        if self.held_elements > HELD {
            self.held.clear();
            self.held_elements = 0;
        }
        let before = self.leaders.len() as u32;
        let everyone: Vec<(usize, Range<u32>)> = (0..documents.len()).map(|at| (at, 0..before)).collect();
        let mut matches = self.compare(&chunk, &[], &filter, &everyone);
        // Documents that are similar to no leader so far are decided one after the other.
        let open = |at: &usize| matches[*at].is_empty() && self.lead[documents[*at] as usize];
        let undecided: Vec<usize> = (0..documents.len()).filter(open).collect();
        let mut led = Vec::new();
        for &at in &undecided {
            let leaders = before..self.leaders.len() as u32;
            let candidates = self.candidates(&chunk, &filter, at, leaders.clone());
            self.hold_all(&chunk, &led, &candidates);
            matches[at] = self.matches(&chunk, at, &candidates);
            if matches[at].is_empty() {
                if let Filter::Prefix(first, postings) = &mut filter {
                    postings.file(first[at].0, leaders.end);
                }
                self.leaders.push(documents[at]);
                led.push(at);
            }
        }
        let decided = (0..documents.len()).filter(|at| undecided.binary_search(at).is_err());
        let after: Vec<(usize, Range<u32>)> = decided
            .map(|at| (at, before..before + led.partition_point(|&leader| leader < at) as u32))
            .filter(|(_, leaders)| !leaders.is_empty())
            .collect();
        let more = self.compare(&chunk, &led, &filter, &after);
        after.iter().zip(more).for_each(|(&(at, _), more)| matches[at].extend(more));
        self.found.led.extend(led.iter().map(|&at| documents[at]));
        for (&document, matches) in documents.iter().zip(matches) {
            for (leader, similarity) in matches {
                self.found.documents.push(document);
                self.found.leaders.push(self.leaders[leader as usize]);
                self.found.similarity.push(similarity);
            }
        }
    }

    /// The matches of some documents of a chunk, each among a range of leaders, on all threads. `led` are the places of
    /// the last leaders in the chunk.
    fn compare(
        &mut self, chunk: &Chunk, led: &[usize], filter: &Filter<'_>, places: &[(usize, Range<u32>)],
    ) -> Vec<Vec<Match>> {
        let candidates = places
            .par_iter()
            .with_min_len(COMPARED)
            .map(|(at, leaders)| self.candidates(chunk, filter, *at, leaders.clone()));
        let candidates: Vec<Vec<u32>> = candidates.collect();
        let mut needed: Vec<u32> = candidates.iter().flatten().copied().collect();
        needed.sort_unstable();
        needed.dedup();
        self.hold_all(chunk, led, &needed);
        let compare = |((at, _), candidates): (&(usize, Range<u32>), &Vec<u32>)| self.matches(chunk, *at, candidates);
        places.par_iter().zip(&candidates).with_min_len(COMPARED).map(compare).collect()
    }

    /// The leaders of a range that may be similar to a document and share one of its large buckets, ascending.
    fn candidates(&self, chunk: &Chunk, filter: &Filter<'_>, at: usize, leaders: Range<u32>) -> Vec<u32> {
        let mut candidates = filter.candidates(at, leaders);
        candidates.retain(|&leader| self.shares_bucket(leader, chunk.documents[at]));
        candidates
    }

    fn shares_bucket(&self, leader: u32, document: u32) -> bool {
        self.join.memberships.share(self.leaders[leader as usize], document)
    }

    /// Those of some candidates that are similar to a document. Their sets must be held.
    fn matches(&self, chunk: &Chunk, at: usize, candidates: &[u32]) -> Vec<Match> {
        if candidates.is_empty() {
            return Vec::new();
        }
        watch::look();
        // A bitmap costs as much as a comparison or two.
        let bitmap = (candidates.len() > FEW).then(|| Bitmap::new(chunk.set(0, at)));
        let similar = |&leader: &u32| Some((leader, self.similarity(chunk, at, leader, bitmap.as_ref())?));
        candidates.iter().filter_map(similar).collect()
    }

    /// The exact similarity of a document and a leader, if it reaches the threshold.
    fn similarity(&self, chunk: &Chunk, at: usize, leader: u32, bitmap: Option<&Bitmap>) -> Option<f64> {
        let held = &self.held[&leader];
        let value = if let [other] = &held[..] {
            let own = chunk.set(0, at);
            let need = self.threshold.least_shared(own.len() + other.size);
            let differing = bitmap.map_or(0, |bitmap| other.bitmap.least_difference(bitmap));
            if differing + 2 * need > own.len() + other.size || need > own.len().min(other.size) {
                return None;
            }
            ratio(own.len(), other.size, other.table.shared(own))
        } else {
            let positions = [chunk.documents[at], self.leaders[leader as usize]];
            let mut mean = Mean::default();
            for (field, other) in held.iter().enumerate() {
                let own = chunk.set(field, at);
                let missing = positions.iter().any(|&position| self.join.corpus.is_missing(field, position));
                if !missing && own.len() + other.size > 0 {
                    mean.add(ratio(own.len(), other.size, other.table.shared(own)), self.join.weights.0[field]);
                }
            }
            mean.value()?
        };
        (value >= self.join.threshold).then_some(value)
    }

    /// Holds the sets of some leaders (ascending). `led` are the places of the last leaders in the chunk; the others are
    /// read again.
    fn hold_all(&mut self, chunk: &Chunk, led: &[usize], leaders: &[u32]) {
        let in_chunk = (self.leaders.len() - led.len()) as u32;
        let needed = leaders.iter().copied().filter(|leader| !self.held.contains_key(leader));
        let (earlier, own): (Vec<u32>, Vec<u32>) = needed.partition(|&leader| leader < in_chunk);
        if !earlier.is_empty() {
            let documents: Vec<u32> = earlier.iter().map(|&leader| self.leaders[leader as usize]).collect();
            let read = self.read(&documents);
            earlier.iter().enumerate().for_each(|(at, &leader)| self.hold(&read, at, leader));
        }
        own.iter().for_each(|&leader| self.hold(chunk, led[(leader - in_chunk) as usize], leader));
    }

    /// Holds the sets of a document of a chunk as those of a leader.
    fn hold(&mut self, chunk: &Chunk, at: usize, leader: u32) {
        let hold = |field: usize| {
            let set = chunk.set(field, at);
            let mut held = Held { size: set.len(), bitmap: Bitmap::new(set), ..Held::default() };
            held.table.fill(set, &mut Vec::new());
            held
        };
        self.held_elements += (0..self.fields()).map(|field| chunk.set(field, at).len()).sum::<usize>();
        self.held.insert(leader, (0..self.fields()).map(hold).collect());
    }
}
