//! Documents stored under band keys: postings sorted by key, in memory or as blocks of runs in a file.
//!
//! A *posting* is a band key and a document number. A run is divided into parts of equal width of the key space. The
//! block of a part contains its postings and never changes after it is written, so blocks are cached for later
//! searches, up to a number of bytes.

use crate::bands::NO_KEY;
use crate::hash::mix::{K2, mum};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The memory of a block in addition to its postings: its entry in the map, two allocations.
const ENTRY: usize = 96;

/// Postings sorted by key; a key and a number at each place.
#[derive(Clone, Copy, Debug)]
pub struct Postings<'a> {
    /// The keys, ascending, with repeats.
    pub keys: &'a [u64],
    /// The document of each.
    pub numbers: &'a [u32],
}

/// A key to look up: in which postings, for which row, and where it should be.
struct Lookup<'a> {
    postings: Postings<'a>,
    key: u64,
    row: u64,
    place: usize,
    /// Postings in a step of one key.
    density: f64,
}

/// Lookups that are made together: as many as stay in the nearest cache.
const TOGETHER: usize = 256;

impl<'a> Lookup<'a> {
    /// A lookup in postings whose keys spread evenly over `1 / share` of the key space, from `start` on.
    fn new(postings: Postings<'a>, key: u64, row: u64, start: u64, share: f64) -> Lookup<'a> {
        let density = postings.keys.len() as f64 * share / 18_446_744_073_709_551_616.0;
        let place = (key.saturating_sub(start) as f64 * density) as usize;
        Lookup { postings, key, row, place: place.min(postings.keys.len().saturating_sub(1)), density }
    }

    /// Reads the key at the place, and guesses again.
    fn step(&mut self) {
        let Some(&met) = self.postings.keys.get(self.place) else { return };
        let distance = (self.key.abs_diff(met) as f64 * self.density) as usize;
        let last = self.postings.keys.len() - 1;
        let place = if met < self.key { self.place + distance } else { self.place.saturating_sub(distance) };
        self.place = place.min(last);
    }

    /// The documents under the key, found from the place on, however wrong it is.
    fn documents(&self) -> &'a [u32] {
        let (keys, key) = (self.postings.keys, self.key);
        let (mut low, mut high, mut step) = (self.place, self.place, 8);
        while low > 0 && keys[low - 1] >= key {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
        while high < keys.len() && keys[high] < key {
            low = high + 1;
            high = keys.len().min(high + step);
            step *= 2;
        }
        let first = low + keys[low..high].partition_point(|&other| other < key);
        let count = keys[first..].iter().take_while(|&&other| other == key).count();
        &self.postings.numbers[first..first + count]
    }
}

/// Makes lookups, and adds row << 32 | document of each that is found.
///
/// Keys are uniform, so that a place can be guessed, and guessed better from the key there: a search reads three
/// places, where halving a million keys would read twenty. All lookups read their first place, then all their second:
/// the processor waits for many lines of memory at once. Ten keys in twelve pieces of 2 million postings took 53 µs
/// one by one.
fn look_up(lookups: &mut Vec<Lookup<'_>>, found: &mut Vec<u64>) {
    lookups.iter_mut().for_each(Lookup::step);
    lookups.iter_mut().for_each(Lookup::step);
    for lookup in lookups.drain(..) {
        found.extend(lookup.documents().iter().map(|&number| lookup.row << 32 | u64::from(number)));
    }
}

/// Pairs (row << 32 | document) of the rows of `keys` with the documents under one of their keys, sorted, each once.
///
/// `lookups` adds where a key of a row is to be looked up.
fn pairs<'a>(keys: &[u64], bands: usize, mut lookups: impl FnMut(u64, u64, &mut Vec<Lookup<'a>>)) -> Vec<u64> {
    let mut wanted: Vec<(u64, u64)> = Vec::with_capacity(keys.len());
    for (row, keys) in (0..).zip(keys.chunks_exact(bands.max(1))) {
        wanted.extend(keys.iter().filter(|&&key| key != NO_KEY).map(|&key| (key, row)));
    }
    if keys.len() > bands {
        wanted.sort_unstable(); // neighbours in memory are searched one after the other
    }
    let (mut found, mut waiting) = (Vec::new(), Vec::with_capacity(TOGETHER));
    for (key, row) in wanted {
        lookups(key, row, &mut waiting);
        if waiting.len() >= TOGETHER {
            look_up(&mut waiting, &mut found);
        }
    }
    look_up(&mut waiting, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

/// The pairs of rows of band keys (`bands` each) with the documents in `pieces`: row << 32 | document, sorted.
///
/// ```
/// # use benzer_core::postings::{Postings, search};
/// let piece = Postings { keys: &[3, 3, 9], numbers: &[0, 1, 1] };
/// assert_eq!(search(&[9, 3, 8, 7], 2, &[piece]), [0, 1]);
/// ```
pub fn search(keys: &[u64], bands: usize, pieces: &[Postings<'_>]) -> Vec<u64> {
    pairs(keys, bands, |key, row, lookups| {
        lookups.extend(pieces.iter().map(|&piece| Lookup::new(piece, key, row, 0, 1.0)));
    })
}

/// A run in a file: its number, and of how many parts it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Never used for another run.
    pub number: u32,
    /// Parts of the key space.
    pub parts: u32,
}

impl Run {
    /// Where the block is that has a key: run << 32 | part.
    pub fn place(self, key: u64) -> u64 {
        u64::from(self.number) << 32 | ((key >> 32) * u64::from(self.parts)) >> 32
    }

    /// About the least key of the part that a key is in.
    fn start(self, key: u64) -> u64 {
        let within = ((key >> 32) * u64::from(self.parts)) & 0xFFFF_FFFF;
        key - ((within / u64::from(self.parts.max(1))) << 32)
    }
}

/// The postings of one part of a run, or none.
#[derive(Debug, Default)]
struct Block {
    keys: Box<[u64]>,
    numbers: Box<[u32]>,
}

impl Block {
    fn bytes(&self) -> usize {
        ENTRY + size_of_val(&*self.keys) + size_of_val(&*self.numbers)
    }
}

/// The hash of a place, which nobody chooses: a product spreads it.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, place: u64) {
        self.0 = mum(place, K2);
    }
}

/// A cache of blocks by place: those of the last searches, and older ones that are dropped when space is needed.
///
/// A block that is used again becomes young. When the young ones take half of the space, the old ones are dropped and
/// the young ones become old. This happens only before a search, so a search never loses a block.
#[derive(Debug)]
pub struct Blocks {
    young: HashMap<u64, Block, BuildHasherDefault<PlaceHasher>>,
    old: HashMap<u64, Block, BuildHasherDefault<PlaceHasher>>,
    young_bytes: usize,
    room: usize,
}

/// A block that a search needs is missing.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing(pub u64);

impl Blocks {
    /// An empty cache with space for so many bytes.
    pub fn new(room: usize) -> Blocks {
        Blocks { young: HashMap::default(), old: HashMap::default(), young_bytes: 0, room }
    }

    /// Drops all blocks.
    pub fn clear(&mut self) {
        *self = Blocks::new(self.room);
    }

    /// The number of cached blocks.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The places of the blocks that a search for `keys` needs and that are not cached, ascending.
    pub fn missing(&mut self, keys: &[u64], runs: &[Run]) -> Vec<u64> {
        if self.young_bytes > self.room / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        let mut missing = Vec::new();
        for &run in runs {
            for &key in keys.iter().filter(|&&key| key != NO_KEY) {
                let place = run.place(key);
                if self.young.contains_key(&place) {
                    continue;
                }
                match self.old.remove(&place) {
                    Some(block) => self.hold(place, block),
                    None => missing.push(place),
                }
            }
        }
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Adds the block of a place, from little-endian keys and numbers; without postings where there are none.
    ///
    /// # Panics
    /// Where there are not as many keys as numbers.
    pub fn put(&mut self, place: u64, keys: &[u8], numbers: &[u8]) {
        let (keys, numbers) = (keys.as_chunks().0, numbers.as_chunks().0);
        assert_eq!(keys.len(), numbers.len(), "a posting is a key and a number");
        let keys = keys.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        let numbers = numbers.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        self.hold(place, Block { keys, numbers });
    }

    fn hold(&mut self, place: u64, block: Block) {
        self.young_bytes += block.bytes();
        if let Some(before) = self.young.insert(place, block) {
            self.young_bytes -= before.bytes();
        }
    }

    /// Drops blocks after a search, so that the cache takes at most one and a half times its space.
    pub fn trim(&mut self) {
        if self.young_bytes > self.room {
            self.clear();
        } else if self.young_bytes > self.room / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }

    /// [`search`] in `runs`, whose [`Blocks::missing`] blocks were all added, and in further pieces.
    pub fn search(
        &self, keys: &[u64], bands: usize, runs: &[Run], pieces: &[Postings<'_>],
    ) -> Result<Vec<u64>, Missing> {
        let mut missing = None;
        let found = pairs(keys, bands, |key, row, lookups| {
            for run in runs {
                match self.young.get(&run.place(key)) {
                    Some(Block { keys, numbers }) => {
                        let postings = Postings { keys, numbers };
                        lookups.push(Lookup::new(postings, key, row, run.start(key), f64::from(run.parts)));
                    }
                    None => missing = Some(Missing(run.place(key))),
                }
            }
            lookups.extend(pieces.iter().map(|&piece| Lookup::new(piece, key, row, 0, 1.0)));
        });
        missing.map_or(Ok(found), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    /// Sorted postings of `count` documents under keys drawn from a pool, with large buckets.
    fn made(count: u32, pool: &[u64], random: &mut SplitMix64) -> (Vec<u64>, Vec<u32>) {
        let mut postings: Vec<(u64, u32)> =
            (0..count).map(|number| (pool[random.next_u64() as usize % pool.len()], number)).collect();
        postings.sort_unstable();
        postings.into_iter().unzip()
    }

    fn plainly(keys: &[u64], bands: usize, pieces: &[(Vec<u64>, Vec<u32>)]) -> Vec<u64> {
        let mut found = Vec::new();
        for (row, wanted) in keys.chunks(bands).enumerate() {
            for (keys, numbers) in pieces {
                let held = keys.iter().zip(numbers).filter(|(key, _)| **key != NO_KEY && wanted.contains(key));
                found.extend(held.map(|(_, &number)| (row as u64) << 32 | u64::from(number)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Keys over the whole space, and keys at one end of it.
    fn pools(random: &mut SplitMix64) -> Vec<Vec<u64>> {
        let wide: Vec<u64> = (0..300).map(|_| random.next_u64()).chain([0, u64::MAX - 1]).collect();
        let low = (0..300).map(|_| random.next_u64() >> 40).collect();
        let high = (0..300).map(|_| !(random.next_u64() >> 40) - 1).collect();
        vec![wide, low, high]
    }

    #[test]
    fn a_search_finds_what_looking_at_all_postings_finds() {
        let mut random = SplitMix64::new(1);
        for pool in pools(&mut random) {
            for count in [0, 1, 63, 64, 65, 1000, 5000] {
                let pieces = [made(count, &pool, &mut random), made(count / 3, &pool[..5], &mut random)];
                let views: Vec<Postings<'_>> =
                    pieces.iter().map(|(keys, numbers)| Postings { keys, numbers }).collect();
                let mut keys: Vec<u64> = (0..38).map(|at| pool[at * 7 % pool.len()]).collect();
                keys.extend([NO_KEY, 12_345]);
                for bands in [1, 4, 40] {
                    assert_eq!(search(&keys, bands, &views), plainly(&keys, bands, &pieces), "{count}, {bands}");
                }
            }
        }
    }

    fn put_all(blocks: &mut Blocks, places: &[u64], run: Run, postings: &(Vec<u64>, Vec<u32>)) {
        for &place in places.iter().filter(|&&place| place >> 32 == u64::from(run.number)) {
            let held = || postings.0.iter().zip(&postings.1).filter(|(key, _)| run.place(**key) == place);
            let keys: Vec<u8> = held().flat_map(|(key, _)| key.to_le_bytes()).collect();
            let numbers: Vec<u8> = held().flat_map(|(_, number)| number.to_le_bytes()).collect();
            blocks.put(place, &keys, &numbers);
        }
    }

    #[test]
    fn blocks_give_what_whole_runs_give_in_any_room() {
        let mut random = SplitMix64::new(2);
        for pool in pools(&mut random) {
            let runs = [Run { number: 1, parts: 37 }, Run { number: 5, parts: 1 }];
            let pieces = [made(2000, &pool, &mut random), made(30, &pool, &mut random)];
            for room in [0, 4000, 1 << 20] {
                let mut blocks = Blocks::new(room);
                for round in 0..60 {
                    let mut keys: Vec<u64> = (0..9).map(|_| pool[random.next_u64() as usize % pool.len()]).collect();
                    keys.push(if round % 3 == 0 { NO_KEY } else { random.next_u64() });
                    let missing = blocks.missing(&keys, &runs);
                    for (&run, postings) in runs.iter().zip(&pieces) {
                        put_all(&mut blocks, &missing, run, postings);
                    }
                    assert_eq!(blocks.search(&keys, 5, &runs, &[]), Ok(plainly(&keys, 5, &pieces)), "room {room}");
                    assert!(blocks.missing(&keys, &runs).is_empty() || room < 1 << 20);
                }
            }
        }
    }

    #[test]
    fn room_bounds_what_is_held_and_what_is_used_stays() {
        let run = Run { number: 1, parts: 1 << 20 };
        let key = |part: u64| part << 44;
        let mut blocks = Blocks::new(100 * (ENTRY + 12 * 10));
        for part in 0..1000 {
            for wanted in [key(7), key(part)] {
                for place in blocks.missing(&[wanted], &[run]) {
                    blocks.put(place, &[0; 80], &[0; 40]);
                }
            }
            assert!(blocks.len() <= 102, "{} blocks", blocks.len());
            assert!(blocks.missing(&[key(7)], &[run]).is_empty(), "the block in use was dropped");
        }
    }

    #[test]
    fn a_block_that_was_not_handed_over_is_an_error() {
        let mut blocks = Blocks::new(1000);
        let run = Run { number: 3, parts: 1 };
        assert_eq!(blocks.missing(&[9, 8], &[run]), [3 << 32]);
        assert_eq!(blocks.search(&[9], 1, &[run], &[]), Err(Missing(3 << 32)));
        blocks.put(3 << 32, &[], &[]);
        assert_eq!(blocks.search(&[9], 1, &[run], &[]), Ok(vec![]));
        blocks.clear();
        assert!(blocks.is_empty());
    }
}
