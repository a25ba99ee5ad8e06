//! Fast Similarity Sketching: the rounds, and the condition to stop.
//!
//! In rounds 0 to 7 every element is assigned to one random slot per round; in a last, private round it is assigned
//! to every slot. A slot keeps its smallest code, and codes of a later round are greater than all codes of an earlier
//! one. So each slot is the minimum of an independent random order of the elements, and equal slots estimate the
//! Jaccard similarity without bias, for sets of any size. Once no slot is empty, later rounds cannot change any; in a
//! later round only the assignments to empty slots count.
//!
//! Source: S. Dahlgaard, M. Langhede, J. Houen, M. Thorup, "Fast Similarity Sketching", arXiv 1704.04370.

use super::{Content, EMPTY, Input, LANES, Scratch, make_room, plain};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::hash::mix::{Mixer, finish32};
#[cfg(target_arch = "x86_64")]
use crate::isa::Isa;
use crate::isa::Level;
use std::marker::PhantomData;

/// Rounds that throw every element at one slot.
const ROUNDS: u32 = 8;
/// The largest code of an element; one more would be [`EMPTY`].
pub(super) const LARGEST: u32 = EMPTY - 1;

/// A throw: the slot in the high half, the code in the low one.
pub(super) type Throw = u64;

/// How many blocks of throws are made before the first of them lands. A throw that lands as soon as it is made waits
/// for the vector that made it: 0.83 ns per element instead of 0.61 (Zen 4).
const LAG: usize = 2;
/// The space for blocks of throws in flight; a power of two.
const RING: usize = 4;

/// Blocks of throws in flight; no vector of them spans two cache lines.
#[repr(align(64))]
struct Ring([[Throw; LANES]; RING]);

/// Up to three throws for every two slots nobody looks which slots are empty: too many are.
const BLIND: [usize; 2] = [3, 2];

/// The most slots that are looked at for empty ones: as many as a vector has bits. Longer signatures throw everything.
pub(super) const MOST_SLOTS: usize = 64 * WORDS;
const WORDS: usize = 8;
/// A set of slots, one bit each.
pub(super) type Slots = [u64; WORDS];

#[inline(always)]
pub(super) fn round_salt(round: u32) -> u32 {
    round.wrapping_mul(0x9E37_79B9)
}

#[inline(always)]
fn slot_salt(slot: u32) -> u32 {
    slot.wrapping_add(ROUNDS).wrapping_mul(0x85EB_CA6B)
}

/// The bits that begin every code of `round`: as many ones as the round's number, then a zero.
#[inline(always)]
pub(super) fn prefix(round: u32) -> u32 {
    ((1 << round) - 1) << (32 - round)
}

/// Round 0 of one level: mixes elements, throws them, and sums them up.
pub(super) trait FirstRound {
    /// A round that throws at `slots` slots.
    ///
    /// # Safety
    /// The machine has the instructions of the level.
    unsafe fn new(mixer: Mixer, slots: u32) -> Self;

    /// Writes the mixed low halves and the throws of a block.
    ///
    /// # Safety
    /// The machine has the instructions of the level.
    unsafe fn throw(&mut self, hashes: &[u64; LANES], values: &mut [u32; LANES], throws: &mut [Throw; LANES]);

    /// The sums over all blocks.
    ///
    /// # Safety
    /// The machine has the instructions of the level.
    unsafe fn content(&self) -> Content;
}

/// The signature of a set of elements.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn sketch<L: Level, I: Input>(
    mixer: Mixer, elements: &[u64], scratch: &mut Scratch, out: &mut [u32],
) -> Content {
    out.fill(EMPTY);
    if elements.is_empty() {
        return Content::default();
    }
    let room = elements.len().next_multiple_of(LANES);
    make_room(&mut scratch.values, room);
    make_room(&mut scratch.kept, room);
    make_room(&mut scratch.list, out.len().next_multiple_of(LANES));
    let values = scratch.values[..room].as_chunks_mut().0;
    let content = match L::ISA {
        // SAFETY: the caller vouches for L.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { first_round::<avx512::First, I>(mixer, elements, values, out) },
        // SAFETY: the caller vouches for L.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { first_round::<avx2::First, I>(mixer, elements, values, out) },
        // SAFETY: the portable form needs no instructions of its own.
        _ => unsafe { first_round::<plain::First, I>(mixer, elements, values, out) },
    };
    let elements = Elements { values, count: elements.len() };
    // SAFETY: as above.
    unsafe { elements.later_rounds::<L>(&mut scratch.list, &mut scratch.kept, out) };
    content
}

/// # Safety
/// The machine has the instructions of `F`.
#[inline(always)]
unsafe fn first_round<F: FirstRound, I: Input>(
    mixer: Mixer, elements: &[u64], values: &mut [[u32; LANES]], out: &mut [u32],
) -> Content {
    // SAFETY: the caller vouches for F, here and below.
    let mut first = unsafe { F::new(mixer, out.len() as u32) };
    let (blocks, rest) = elements.as_chunks();
    let mut last = [*elements.last().expect("a set of elements"); LANES];
    last[..rest.len()].copy_from_slice(rest);
    let throws = FirstThrows { first: &mut first, blocks, last: &last, values, input: PhantomData::<I> };
    // SAFETY: as above; every slot is below the number of values in `out`.
    unsafe { throw_and_land(elements.len(), out, throws) };
    // SAFETY: as above.
    let mut content = unsafe { first.content() };
    if !rest.is_empty() {
        content.subtract(I::hash(last[LANES - 1]), mixer, LANES - rest.len());
    }
    content
}

/// Throws the blocks of a round. (A closure would do, were it certain to become part of its caller.)
trait Thrower {
    /// Writes the throws of the block of that number.
    ///
    /// # Safety
    /// The machine has the instructions of the level.
    unsafe fn throw(&mut self, block: usize, throws: &mut [Throw; LANES]);
}

/// The throws of round 0.
struct FirstThrows<'a, F, I> {
    first: &'a mut F,
    blocks: &'a [[u64; LANES]],
    /// The block of what is left over, filled with copies of the last element.
    last: &'a [u64; LANES],
    values: &'a mut [[u32; LANES]],
    input: PhantomData<I>,
}

impl<F: FirstRound, I: Input> Thrower for FirstThrows<'_, F, I> {
    #[inline(always)]
    unsafe fn throw(&mut self, block: usize, throws: &mut [Throw; LANES]) {
        let hashes = I::hashes(self.blocks.get(block).unwrap_or(self.last));
        // SAFETY: the caller vouches for the level.
        unsafe { self.first.throw(&hashes, &mut self.values[block], throws) };
    }
}

/// The throws of a round from 1 to 7.
struct LaterThrows<'a, L> {
    values: &'a [[u32; LANES]],
    round: u32,
    slots: u32,
    level: PhantomData<L>,
}

impl<L: Level> Thrower for LaterThrows<'_, L> {
    #[inline(always)]
    unsafe fn throw(&mut self, block: usize, throws: &mut [Throw; LANES]) {
        let values = &self.values[block];
        match L::ISA {
            // SAFETY: the caller vouches for the level, here and below.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::throw(self.round, values, self.slots, throws) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2::throw(self.round, values, self.slots, throws) },
            _ => plain::throw(self.round, values, self.slots, throws),
        }
    }
}

/// Makes the throws of `count` elements block by block, and lowers each slot to the codes thrown at it.
///
/// # Safety
/// `thrower` throws at slots of `out` only, and the machine has the instructions of its level.
#[inline(always)]
unsafe fn throw_and_land(count: usize, out: &mut [u32], mut thrower: impl Thrower) {
    let blocks = count.div_ceil(LANES);
    let mut ring = Ring([[0; LANES]; RING]);
    for block in 0..blocks {
        // SAFETY: the caller vouches for the level, and for the slots here and below.
        unsafe { thrower.throw(block, &mut ring.0[block % RING]) };
        if block >= LAG {
            // SAFETY: as above.
            unsafe { land(&ring.0[(block - LAG) % RING], out) };
        }
    }
    for block in blocks.saturating_sub(LAG)..blocks {
        let present = (count - block * LANES).min(LANES);
        // SAFETY: as above.
        unsafe { land(&ring.0[block % RING][..present], out) };
    }
}

/// Lowers each slot to the codes thrown at it.
///
/// # Safety
/// The slots are slots of `out`.
#[inline(always)]
unsafe fn land(throws: &[Throw], out: &mut [u32]) {
    for &throw in throws {
        debug_assert!(throw >> 32 < out.len() as u64, "a throw hits a slot");
        // SAFETY: the caller vouches for the slot. (Checked access takes 10 % more time.)
        let least = unsafe { out.get_unchecked_mut((throw >> 32) as usize) };
        *least = (throw as u32).min(*least);
    }
}

/// The elements of a set after round 0: `count` values, and copies of the last to the end of its block.
struct Elements<'a> {
    values: &'a [[u32; LANES]],
    count: usize,
}

impl Elements<'_> {
    /// Rounds 1 to 7 and the private round, as far as needed.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn later_rounds<L: Level>(&self, list: &mut [u32], kept: &mut [u32], out: &mut [u32]) {
        for round in 1..ROUNDS {
            if BLIND[1] * self.count * (round as usize) < BLIND[0] * out.len() {
                // SAFETY: the caller vouches for L.
                unsafe { self.throw_all::<L>(round, out) };
                continue;
            }
            // SAFETY: the caller vouches for L.
            match unsafe { empty_slots::<L>(out) } {
                Some(empty) if empty == [0; WORDS] => return,
                // SAFETY: the caller vouches for L.
                Some(empty) => unsafe { self.throw_at_empty::<L>(round, &empty, kept, out) },
                // SAFETY: the caller vouches for L.
                None if has_empty(out) => unsafe { self.throw_all::<L>(round, out) },
                None => return,
            }
        }
        // SAFETY: as above.
        unsafe {
            let empty = list_empty::<L>(out, list);
            self.private_round::<L>(&list[..empty], out);
        }
    }

    /// Throws every element.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn throw_all<L: Level>(&self, round: u32, out: &mut [u32]) {
        let (values, slots) = (self.values, out.len() as u32);
        let throws = LaterThrows::<L> { values, round, slots, level: PhantomData };
        // SAFETY: the caller vouches for L; a value of 32 bits times the number of slots has its slot in the high half.
        unsafe { throw_and_land(self.count, out, throws) };
    }

    /// Throws every element that hits an empty slot.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn throw_at_empty<L: Level>(&self, round: u32, empty: &Slots, kept: &mut [u32], out: &mut [u32]) {
        let slots = out.len() as u32;
        // SAFETY: the caller vouches for L.
        let hits = unsafe { keep_hits::<L>(round, self.values, slots, empty, kept) };
        for &almost in &kept[..hits] {
            let place = u64::from(finish32(almost)) * u64::from(slots);
            let least = &mut out[(place >> 32) as usize];
            *least = (prefix(round) | place as u32 >> (round + 1)).min(*least);
        }
    }

    /// Sets every empty slot to the smallest private throw of all elements.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn private_round<L: Level>(&self, empty: &[u32], out: &mut [u32]) {
        if empty.len() * self.values.len() < empty.len().div_ceil(LANES) * self.count {
            for &slot in empty {
                let least = match L::ISA {
                    // SAFETY: the caller vouches for L, here and below.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { avx512::least_over_elements(slot_salt(slot), self.values) },
                    _ => plain::least_over_elements(slot_salt(slot), self.values.as_flattened()),
                };
                out[slot as usize] = private_code(least);
            }
            return;
        }
        let values = &self.values.as_flattened()[..self.count];
        for slots in empty.chunks(LANES) {
            let salts = slot_salts(slots);
            let least = match L::ISA {
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => unsafe { avx512::least_over_slots(&salts, values) },
                _ => plain::least_over_slots(&salts, values),
            };
            for (&slot, least) in slots.iter().zip(least) {
                out[slot as usize] = private_code(least);
            }
        }
    }
}

/// If the number of slots is not a power of two, the first 16 bits of a throw do not determine its slot: it is the
/// slot for zeros in the other 16 bits, or the next one. Returns the slots for zeros that may mean one of `slots`.
#[inline(always)]
fn reached_from(slots: &Slots, count: u32) -> Slots {
    if count.is_power_of_two() {
        return *slots;
    }
    std::array::from_fn(|word| {
        let next = slots.get(word + 1).map_or(0, |next| next << 63);
        slots[word] | slots[word] >> 1 | next
    })
}

#[inline(always)]
fn has_empty(out: &[u32]) -> bool {
    out.iter().fold(0, |most, &code| most.max(code)) == EMPTY
}

/// Which of up to [`MOST_SLOTS`] slots are empty; `None` for more slots, and for plain loops: throwing every element
/// takes them less time than to sort out those that hit.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn empty_slots<L: Level>(out: &[u32]) -> Option<Slots> {
    if out.len() > MOST_SLOTS {
        return None;
    }
    match L::ISA {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller vouches for L, here and below.
        Isa::Avx512 => Some(unsafe { avx512::empty_slots(out) }),
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => Some(unsafe { avx2::empty_slots(out) }),
        _ => None,
    }
}

/// Moves the elements that hit one of `wanted`, and perhaps a few others, to the beginning of `kept`, all but mixed;
/// returns how many.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn keep_hits<L: Level>(
    round: u32, values: &[[u32; LANES]], slots: u32, wanted: &Slots, kept: &mut [u32],
) -> usize {
    match L::ISA {
        // SAFETY: the caller vouches for L, here and below.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::keep_hits(round, values, slots, &reached_from(wanted, slots), kept) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::keep_hits(round, values, slots, &reached_from(wanted, slots), kept) },
        _ => unreachable!("plain loops throw every element"),
    }
}

/// Writes the numbers of the empty slots to the beginning of `list`; returns how many there are.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn list_empty<L: Level>(out: &[u32], list: &mut [u32]) -> usize {
    match L::ISA {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller vouches for L, here and below.
        Isa::Avx512 => unsafe { avx512::list_empty(out, list) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::list_empty(out, list) },
        _ => plain::list_empty(out, list),
    }
}

#[inline(always)]
fn private_code(mixed: u32) -> u32 {
    (0xFF00_0000 | mixed >> 8).min(LARGEST)
}

/// The salts of up to [`LANES`] slots; the lanes left over are of no use.
#[inline(always)]
fn slot_salts(slots: &[u32]) -> [u32; LANES] {
    let mut salts = [0; LANES];
    for (salt, &slot) in salts.iter_mut().zip(slots) {
        *salt = slot_salt(slot);
    }
    salts
}
