//! One family: its documents in keep order, each compared with the leaders before it.

use super::bitmaps::Bitmaps;
use super::few::Few;
use super::prefix::{First, FirstOf, Order, Postings};
use super::table::Table;
use super::{Families, FamilyPairs};
use crate::corpus::compare::Lists;
use crate::jaccard::Sets;
use crate::setjoin::Threshold;
use crate::similarity::Similarity;
use crate::watch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Documents that are worked on together: few at first, since most of a family are similar to its first leader.
const CHUNKS: [usize; 2] = [64, 1024];

/// Up to so many leaders each document is compared with all of them.
const FEW: usize = 8;

/// Documents whose elements are counted, to put rare ones first.
const SAMPLE: usize = 512;

/// Elements in memory: of leaders, and of all documents of a family that has no more.
const HELD: usize = 4 << 20;

/// Documents that are read by one thread at a time.
const READ: usize = 64;

/// Documents that are compared by one thread at a time.
const COMPARED: usize = 16;

/// Some documents and their sets.
struct Chunk {
    documents: Vec<u32>,
    /// The place of each document in `sets`.
    places: Vec<u32>,
    /// The sets of each field, distinct and in no order, [`READ`] documents at a time.
    sets: Arc<Vec<Vec<Sets>>>,
}

impl Chunk {
    /// The set of a field of a document, by its place in the chunk.
    fn set(&self, field: usize, at: usize) -> &[u64] {
        let place = self.places[at] as usize;
        self.sets[field][place / READ].get(place % READ)
    }

    /// The sets of a field.
    fn sets(&self, field: usize) -> impl Iterator<Item = &[u64]> {
        (0..self.documents.len()).map(move |at| self.set(field, at))
    }

    /// Some of the documents.
    fn only(&self, places: &[usize]) -> Chunk {
        Chunk {
            documents: places.iter().map(|&at| self.documents[at]).collect(),
            places: places.iter().map(|&at| self.places[at]).collect(),
            sets: Arc::clone(&self.sets),
        }
    }
}

/// A leader by its number, and the similarity to it.
type Match = (u32, f64);

/// The place of a document in a chunk, and the leaders that it is compared with.
type Place = (usize, Range<u32>);

/// One family while its documents are compared.
pub struct Family<'a> {
    join: &'a Families<'a>,
    threshold: Threshold,
    lead: &'a [bool],
    documents: &'a [u32],
    /// The leaders so far, in keep order.
    leaders: Vec<u32>,
    /// The bitmaps of leaders, where documents have one field.
    bitmaps: Bitmaps,
    /// The sets of leaders that have been needed: one for each field, or none.
    held: Vec<Vec<Vec<u64>>>,
    held_elements: usize,
    found: FamilyPairs,
}

/// How leaders are found that may be similar to the documents of a chunk.
enum Filter<'a> {
    /// All leaders are candidates.
    Few,
    /// Leaders that share enough first elements.
    Prefix {
        /// The sets of the documents of the chunk.
        chunk: &'a Chunk,
        /// Their first elements.
        first: &'a [FirstOf<'a>],
        /// The first elements of the leaders.
        postings: &'a mut Postings,
    },
}

impl<'a> Family<'a> {
    pub fn new(join: &'a Families<'a>, lead: &'a [bool], documents: &'a [u32]) -> Self {
        Family {
            join,
            threshold: Threshold::new(join.threshold),
            lead,
            documents,
            leaders: Vec::new(),
            bitmaps: Bitmaps::default(),
            held: Vec::new(),
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
        let known = self.leaders.len();
        let both: Vec<u32> = self.leaders.iter().chain(rest).copied().collect();
        // A family that is not too large is read once.
        let elements: usize = (0..self.fields()).flat_map(|field| sample.sets(field)).map(<[u64]>::len).sum();
        let whole = (elements * step <= HELD).then(|| self.read(&both));
        let parts = both.par_chunks(READ).enumerate().map(|(part, documents)| {
            watch::look();
            let each = |field: usize, take: &mut dyn FnMut(&[u64])| match &whole {
                Some(whole) => (0..documents.len()).for_each(|at| take(whole.set(field, part * READ + at))),
                None => self.each_set(field, documents, take),
            };
            First::of(&orders, self.threshold, each)
        });
        let mut first = First::concatenate(parts.collect());
        first.drop_alone();
        let mut postings = Postings::default();
        (0..known).for_each(|leader| postings.file(first.get(leader)));
        let mut at = known;
        while at < both.len() {
            // Documents that share too few first elements with others have no candidates among any leaders.
            let mut active = Vec::new();
            while at < both.len() && active.len() < CHUNKS[1] {
                if !first.get(at).alone() {
                    active.push(at);
                } else if self.lead[both[at] as usize] {
                    self.found.led.push(both[at]);
                }
                at += 1;
            }
            let documents: Vec<u32> = active.iter().map(|&at| both[at]).collect();
            let chunk = whole.as_ref().map_or_else(|| self.read(&documents), |whole| whole.only(&active));
            let own: Vec<FirstOf<'_>> = active.iter().map(|&at| first.get(at)).collect();
            self.chunk(&documents, Filter::Prefix { chunk: &chunk, first: &own, postings: &mut postings });
            watch::tick(active.len());
        }
    }

    fn fields(&self) -> usize {
        self.join.corpus.fields()
    }

    /// Calls `take` with the distinct elements of a field of each document.
    fn each_set(&self, field: usize, documents: &[u32], take: &mut dyn FnMut(&[u64])) {
        let (mut table, mut set) = (Table::default(), Vec::new());
        self.join.corpus.each_list(field, documents, &mut Lists::default(), |hashes| {
            set.clear();
            table.fill(hashes, &mut set);
            take(&set);
        });
    }

    /// The sets of some documents.
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
        Chunk {
            documents: documents.to_vec(),
            places: (0..documents.len() as u32).collect(),
            sets: Arc::new((0..self.fields()).map(all).collect()),
        }
    }

    /// Compares the next documents in keep order.
    fn chunk(&mut self, documents: &[u32], mut filter: Filter<'_>) {
        if self.held_elements > HELD {
            self.held.iter_mut().for_each(|sets| *sets = Vec::new());
            self.held_elements = 0;
        }
        let before = self.leaders.len() as u32;
        let everyone: Vec<Place> = (0..documents.len()).map(|at| (at, 0..before)).collect();
        let mut matches = self.compare(documents, &filter, &everyone);
        // Documents that are similar to no leader so far are decided one after the other.
        let open = |at: &usize| matches[*at].is_empty() && self.lead[documents[*at] as usize];
        let undecided: Vec<usize> = (0..documents.len()).filter(open).collect();
        let sets = match &filter {
            Filter::Few => self.read(&undecided.iter().map(|&at| documents[at]).collect::<Vec<u32>>()),
            Filter::Prefix { chunk, .. } => chunk.only(&undecided),
        };
        let (mut led, mut tables) = (Vec::new(), Vec::new());
        for (place, &at) in undecided.iter().enumerate() {
            let candidates = self.candidates(&filter, &sets, (place, at), before..self.leaders.len() as u32);
            matches[at] = self.matches(&sets, place, &candidates, &mut tables);
            if matches[at].is_empty() {
                if let Filter::Prefix { first, postings, .. } = &mut filter {
                    postings.file(first[at]);
                }
                if self.fields() == 1 {
                    self.bitmaps.push(sets.set(0, place));
                }
                self.held.push(Vec::new());
                self.hold(&sets, place, self.leaders.len() as u32);
                self.leaders.push(documents[at]);
                led.push(at);
            }
        }
        let decided = (0..documents.len()).filter(|at| undecided.binary_search(at).is_err());
        let after: Vec<Place> = decided
            .map(|at| (at, before..before + led.partition_point(|&leader| leader < at) as u32))
            .filter(|(_, leaders)| !leaders.is_empty())
            .collect();
        let more = self.compare(documents, &filter, &after);
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

    /// The matches of some of the documents, each among a range of leaders, on all threads.
    fn compare(&mut self, documents: &[u32], filter: &Filter<'_>, places: &[Place]) -> Vec<Vec<Match>> {
        let start = places.iter().map(|(_, leaders)| leaders.start).min().unwrap_or(0);
        let end = places.iter().map(|(_, leaders)| leaders.end).max().unwrap_or(0);
        if start == end {
            return vec![Vec::new(); places.len()];
        }
        let chunk = match filter {
            Filter::Few if (end - start) as usize <= FEW => return self.compare_few(documents, places, start..end),
            Filter::Few => self.read(&places.iter().map(|&(at, _)| documents[at]).collect::<Vec<u32>>()),
            Filter::Prefix { chunk, .. } => chunk.only(&places.iter().map(|&(at, _)| at).collect::<Vec<usize>>()),
        };
        let candidates = |(row, (at, leaders)): (usize, &Place)| {
            watch::look();
            self.candidates(filter, &chunk, (row, *at), leaders.clone())
        };
        let candidates: Vec<Vec<u32>> = places.par_iter().enumerate().with_min_len(COMPARED).map(candidates).collect();
        let mut needed: Vec<u32> = candidates.iter().flatten().copied().collect();
        needed.sort_unstable();
        needed.dedup();
        self.hold_all(&needed);
        let compare = |tables: &mut Vec<Table>, (at, candidates): (usize, &Vec<u32>)| {
            self.matches(&chunk, at, candidates, tables)
        };
        candidates.par_iter().enumerate().with_min_len(COMPARED).map_init(Vec::new, compare).collect()
    }

    /// The same with tables of all the leaders. Documents are read; their sets are not made.
    fn compare_few(&mut self, documents: &[u32], places: &[Place], leaders: Range<u32>) -> Vec<Vec<Match>> {
        self.hold_all(&leaders.clone().collect::<Vec<u32>>());
        let mut few = Few::new(leaders.start, self.fields());
        leaders.for_each(|leader| few.push(self.leaders[leader as usize], &self.held[leader as usize]));
        let compare = |places: &[Place]| {
            watch::look();
            let part: Vec<u32> = places.iter().map(|&(at, _)| documents[at]).collect();
            let mut pairs = Vec::new();
            for (row, (_, leaders)) in places.iter().enumerate() {
                let own = leaders.clone().filter(|&leader| self.shares_bucket(leader, part[row]));
                pairs.extend(own.map(|leader| (row, leader)));
            }
            few.compare(self.join, &part, &pairs)
        };
        places.par_chunks(READ).flat_map_iter(compare).collect()
    }

    /// The leaders of a range that share a large bucket with a document and may be similar to it, ascending. Its place is
    /// that in `chunk`, and that among the first elements of the filter.
    fn candidates(
        &self, filter: &Filter<'_>, chunk: &Chunk, (row, at): (usize, usize), leaders: Range<u32>,
    ) -> Vec<u32> {
        if leaders.is_empty() {
            return Vec::new();
        }
        let met = match filter {
            Filter::Few => None,
            Filter::Prefix { first, postings, .. } => postings.meet(first[at], leaders.clone(), self.threshold),
        };
        let mut candidates = match met {
            _ if self.fields() > 1 => met.unwrap_or_else(|| leaders.collect()),
            Some(some) if some.is_empty() => some,
            Some(some) => self.bitmaps.possible(chunk.set(0, row), self.join.threshold, some.into_iter()),
            None => self.bitmaps.possible(chunk.set(0, row), self.join.threshold, leaders),
        };
        candidates.retain(|&leader| self.shares_bucket(leader, chunk.documents[row]));
        candidates
    }

    fn shares_bucket(&self, leader: u32, document: u32) -> bool {
        self.join.memberships.share(self.leaders[leader as usize], document)
    }

    /// Those of some candidates that are similar to a document. Their sets must be in memory. `tables` is scratch.
    fn matches(&self, chunk: &Chunk, at: usize, candidates: &[u32], tables: &mut Vec<Table>) -> Vec<Match> {
        if candidates.is_empty() {
            return Vec::new();
        }
        tables.resize_with(self.fields(), Table::default);
        for (field, table) in tables.iter_mut().enumerate() {
            table.hold(chunk.set(field, at));
        }
        let similar = |&leader: &u32| {
            let mut similarity = Similarity::default();
            let positions = [chunk.documents[at], self.leaders[leader as usize]];
            for (field, (table, other)) in tables.iter().zip(&self.held[leader as usize]).enumerate() {
                let sizes = [chunk.set(field, at).len(), other.len()];
                self.join.add(&mut similarity, field, positions, sizes, || table.shared(other));
            }
            similarity.counted().filter(|&value| value >= self.join.threshold).map(|value| (leader, value))
        };
        candidates.iter().filter_map(similar).collect()
    }

    /// Loads the sets of some leaders (ascending), unless they are in memory.
    fn hold_all(&mut self, leaders: &[u32]) {
        let missing: Vec<u32> = leaders.iter().copied().filter(|&one| self.held[one as usize].is_empty()).collect();
        if !missing.is_empty() {
            let documents: Vec<u32> = missing.iter().map(|&leader| self.leaders[leader as usize]).collect();
            let read = self.read(&documents);
            missing.iter().enumerate().for_each(|(at, &leader)| self.hold(&read, at, leader));
        }
    }

    /// Stores the sets of a document of a chunk as those of a leader.
    fn hold(&mut self, chunk: &Chunk, at: usize, leader: u32) {
        let sets: Vec<Vec<u64>> = (0..self.fields()).map(|field| chunk.set(field, at).to_vec()).collect();
        self.held_elements += sets.iter().map(Vec::len).sum::<usize>();
        self.held[leader as usize] = sets;
    }
}
