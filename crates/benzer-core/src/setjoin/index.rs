//! Finds the sets that may share enough with a given one: those with a common element among the first ones of both.

use super::bitmap::Bitmap;
use super::common::shared_at_least;
use super::order::Order;
use crate::hash::mix::K4;
use crate::jaccard::Sets;
use crate::watch;
use rayon::prelude::*;

/// Sets whose first elements one thread finds at a time.
const CHUNK: usize = 256;

/// The need of a set that cannot share enough any more.
const OUT: u32 = u32::MAX;

/// A set that has an element among its first: the set's number, and the element's place in the order of the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Post {
    set: u32,
    place: u32,
}

/// All sets that have an element (its mixed value) among their first, ascending: the posts from `start` on.
#[derive(Clone, Copy)]
struct Run {
    element: u64,
    start: usize,
}

/// Sets stored by their first elements, numbered by ascending size; empty ones are omitted.
pub struct Index {
    sets: Sets,
    /// The place in `sets` of each number, and how many elements the set has.
    places: Vec<u32>,
    sizes: Vec<u32>,
    bitmaps: Vec<Bitmap>,
    order: Order,
    alone: u32,
    filed: Filed,
}

/// The first elements of all sets.
struct Filed {
    posts: Vec<Post>,
    /// By element, and one more for the end.
    runs: Vec<Run>,
    /// Where the runs of each slot begin: a slot is the leading bits of the mixed element.
    slots: Vec<u32>,
    shift: u32,
}

/// Working memory of a thread that queries an [`Index`].
#[derive(Default)]
pub struct Scratch {
    first: Vec<(u32, u64)>,
    met: Vec<Met>,
    touched: Vec<u32>,
}

/// The state of a candidate: the number of elements that it must share (0: no candidate yet), and those shared so
/// far.
#[derive(Clone, Copy, Default)]
struct Met {
    need: u32,
    shared: u32,
}

/// A query set.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// Its elements, ascending.
    pub set: &'a [u64],
    /// The number of its first elements to look up.
    pub most: usize,
    /// The range of the stored sets that may be similar, by their sizes.
    pub numbers: [usize; 2],
}

impl Index {
    /// Files `sets`, each by as many first elements as `most` says of its size. Elements that occur in `alone` sets
    /// or fewer are not looked up: 1 if the query sets are the stored sets, else 0.
    pub fn new(sets: Sets, alone: u32, most: impl Fn(usize) -> usize + Sync) -> Index {
        let size = |place: &u32| sets.get(*place as usize).len();
        let mut places: Vec<u32> = (0..sets.offsets.len() as u32 - 1).filter(|place| size(place) > 0).collect();
        places.par_sort_by_key(size);
        let sizes = places.iter().map(|place| size(place) as u32).collect();
        let order = Order::new(&sets);
        let file = |(chunk, places): (usize, &[u32])| {
            watch::look();
            let (mut entries, mut first) = (Vec::new(), Vec::new());
            for (number, &place) in (chunk * CHUNK..).zip(places) {
                let set = sets.get(place as usize);
                let passed = order.first(set, most(set.len()), alone, &mut first);
                let posts = first
                    .iter()
                    .zip(passed..)
                    .map(|(&(_, element), place)| (mixed(element), Post { set: number as u32, place: place as u32 }));
                entries.extend(posts);
            }
            entries
        };
        let parts: Vec<Vec<(u64, Post)>> = places.par_chunks(CHUNK).enumerate().map(file).collect();
        let filed = Filed::new(joined(parts));
        let bitmaps = places.par_iter().map(|&place| Bitmap::new(sets.get(place as usize))).collect();
        Index { sets, places, sizes, bitmaps, order, alone, filed }
    }

    /// The number of stored sets.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The set of a number.
    #[inline(always)]
    pub fn set(&self, number: usize) -> &[u64] {
        self.sets.get(self.places[number] as usize)
    }

    /// The number of elements of the set of a number.
    #[inline(always)]
    pub fn size(&self, number: usize) -> usize {
        self.sizes[number] as usize
    }

    /// The place of a number in the sets that were given.
    pub fn place(&self, number: usize) -> u32 {
        self.places[number]
    }

    /// The lowest number of a set that is so large that `enough` says true of its size, as of all larger sizes.
    pub fn first_of_size(&self, enough: impl Fn(usize) -> bool) -> usize {
        self.sizes.partition_point(|&size| !enough(size as usize))
    }

    /// Calls `found` with the number of each stored set that shares at least `need(its size)` elements with the query
    /// set, and the number of shared elements.
    #[inline(always)]
    pub fn ask(
        &self, asking: Asking<'_>, need: impl Fn(usize) -> usize, scratch: &mut Scratch,
        found: impl FnMut(usize, usize),
    ) {
        let Scratch { first, met, touched } = scratch;
        let passed = self.order.first(asking.set, asking.most, self.alone, first);
        if first.is_empty() || asking.numbers[0] >= asking.numbers[1] {
            return;
        }
        met.resize(self.len(), Met::default());
        let mut own_bitmap = None;
        for (at, &(_, element)) in (passed..).zip(first.iter()) {
            for entry in self.filed.posts(mixed(element), asking.numbers) {
                let one = &mut met[entry.set as usize];
                let set = self.size(entry.set as usize);
                if one.need == 0 {
                    touched.push(entry.set);
                    one.need = need(set) as u32;
                    let own = own_bitmap.get_or_insert_with(|| Bitmap::new(asking.set));
                    let difference = self.bitmaps[entry.set as usize].least_difference(own);
                    if difference + 2 * one.need as usize > set + asking.set.len() {
                        one.need = OUT;
                    }
                }
                // Common elements before this place were processed already: all others come after it, in both sets.
                let left = (asking.set.len() - at).min(set - entry.place as usize);
                if one.need != OUT {
                    one.shared += 1;
                    if (one.shared as usize + left - 1) < one.need as usize {
                        one.need = OUT;
                    }
                }
            }
        }
        self.decide(asking.set, met, touched, found);
    }

    /// Compares what is left, and clears the table for the next.
    #[inline(always)]
    fn decide(&self, set: &[u64], met: &mut [Met], touched: &mut Vec<u32>, mut found: impl FnMut(usize, usize)) {
        for number in touched.drain(..) {
            let number = number as usize;
            let Met { need, .. } = std::mem::take(&mut met[number]);
            if need != OUT
                && let Some(shared) = shared_at_least(set, self.set(number), need as usize)
            {
                found(number, shared);
            }
        }
    }
}

/// A bijection that spreads elements: they may be small integers.
#[inline(always)]
fn mixed(element: u64) -> u64 {
    element.wrapping_mul(K4)
}

/// The entries of all parts; each part is freed as soon as it is taken over.
fn joined(parts: Vec<Vec<(u64, Post)>>) -> Vec<(u64, Post)> {
    let mut entries = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| entries.extend(part));
    entries
}

impl Filed {
    fn new(mut entries: Vec<(u64, Post)>) -> Filed {
        entries.par_sort_unstable();
        let new = |at: &usize| *at == 0 || entries[*at].0 != entries[*at - 1].0;
        let starts = (0..entries.len()).filter(new);
        let mut runs: Vec<Run> = starts.map(|start| Run { element: entries[start].0, start }).collect();
        let bits = (runs.len() as u64 + 2).ilog2() + 1;
        let shift = 64 - bits;
        let mut slots = Vec::with_capacity((1 << bits) + 1);
        for (at, run) in runs.iter().enumerate() {
            slots.resize((run.element >> shift) as usize + 1, at as u32);
        }
        slots.resize((1 << bits) + 1, runs.len() as u32);
        runs.push(Run { element: 0, start: entries.len() });
        Filed { posts: entries.into_iter().map(|(_, post)| post).collect(), runs, slots, shift }
    }

    /// The posts of an element, of sets whose numbers are in a range.
    #[inline(always)]
    fn posts(&self, element: u64, [low, high]: [usize; 2]) -> impl Iterator<Item = &Post> {
        let slot = (element >> self.shift) as usize;
        let runs = self.slots[slot] as usize..self.slots[slot + 1] as usize;
        let found = runs.into_iter().find(|&run| self.runs[run].element == element);
        let posts = found.map_or(&[][..], |run| &self.posts[self.runs[run].start..self.runs[run + 1].start]);
        let from = posts.partition_point(|post| (post.set as usize) < low);
        posts[from..].iter().take_while(move |post| (post.set as usize) < high)
    }
}
