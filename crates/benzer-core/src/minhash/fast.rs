//! Fast Similarity Sketching: what does each round throw, and when may we stop?
//!
//! In rounds 0 to 7 every element is thrown at one slot, chosen at random per round; in a last, private round it is
//! thrown at every slot. A slot keeps the least code it gets, and codes of a later round are larger than all codes of an
//! earlier one, so each slot is the minimum of an independent random order of the elements: equal slots estimate the
//! Jaccard similarity without bias, at any set size. Once no slot is empty, later rounds cannot change any.
//!
//! Source: S. Dahlgaard, M. Langhede, J. Houen, M. Thorup, "Fast Similarity Sketching", arXiv 1704.04370.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{BLOCK, Content, EMPTY, LANES, Scratch, make_room, whole_blocks};
use crate::hash::mix::{Mixer, mix32};
use crate::isa::{Isa, Level};

/// Rounds that throw every element at one slot.
const ROUNDS: u32 = 8;
/// The largest code of an element; one more would be [`EMPTY`].
pub(super) const LARGEST: u32 = EMPTY - 1;

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

/// What a round throws: the slots that elements hit and the codes they bring.
pub(super) struct Throws<'a> {
    pub(super) slots: &'a mut [u32],
    pub(super) codes: &'a mut [u32],
}

/// The signature of `hashes`.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn sketch<L: Level>(mixer: Mixer, hashes: &[u64], scratch: &mut Scratch, out: &mut [u32]) -> Content {
    out.fill(EMPTY);
    if hashes.is_empty() {
        return Content::default();
    }
    let room = hashes.len().next_multiple_of(LANES);
    make_room(&mut scratch.values, room);
    make_room(&mut scratch.slots, room.max(out.len()));
    make_room(&mut scratch.codes, room);
    let mut throws = Throws { slots: &mut scratch.slots, codes: &mut scratch.codes };
    let content = first_round(mixer, hashes, &mut scratch.values, &mut throws, out);
    let values = whole_blocks(&mut scratch.values, hashes.len());
    // SAFETY: the caller vouches for L.
    unsafe { later_rounds::<L>(values, hashes.len(), &mut throws, out) };
    content
}

#[inline(always)]
fn first_round(mixer: Mixer, hashes: &[u64], values: &mut [u32], throws: &mut Throws, out: &mut [u32]) -> Content {
    let mut content = Content::default();
    for (block, values) in hashes.chunks(BLOCK).zip(values.chunks_mut(BLOCK)) {
        throws.throw_first(mixer, block, out.len(), values, &mut content);
        throws.keep_least(block.len(), out);
    }
    content
}

/// Rounds 1 to 7 and the private round, as far as needed. `values` holds `count` elements and copies of the last.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
unsafe fn later_rounds<L: Level>(values: &[[u32; LANES]], count: usize, throws: &mut Throws, out: &mut [u32]) {
    for round in 1..ROUNDS {
        if !has_empty(out) {
            return;
        }
        let thrown = match L::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if out.len() <= avx512::MOST_SLOTS.min(count) => {
                // With as many elements as slots, most throws would hit filled slots.
                // SAFETY: the caller vouches for AVX-512.
                unsafe { avx512::throw_at_empty(round, values, throws, out) }
            }
            _ => {
                throws.throw_again(round, values, out.len());
                count
            }
        };
        throws.keep_least(thrown, out);
    }
    if has_empty(out) {
        // SAFETY: the caller vouches for L.
        unsafe { private_round::<L>(values, count, throws.slots, out) };
    }
}

#[inline(always)]
fn has_empty(out: &[u32]) -> bool {
    out.iter().fold(0, |most, &code| most.max(code)) == EMPTY
}

impl Throws<'_> {
    /// Round 0. A plain loop without branches, which compilers turn into vector code; so is [`Throws::throw_again`].
    #[inline(always)]
    fn throw_first(
        &mut self, mixer: Mixer, hashes: &[u64], num_hashes: usize, values: &mut [u32], content: &mut Content,
    ) {
        let throws = self.slots.iter_mut().zip(self.codes.iter_mut());
        for ((&hash, value), (slot, code)) in hashes.iter().zip(values).zip(throws) {
            let mixed = mixer.mix(hash);
            let place = (mixed >> 16).wrapping_mul(num_hashes as u64);
            *value = mixed as u32;
            *slot = (place >> 48) as u32;
            *code = (place >> 17) as u32 & 0x7FFF_FFFF;
            content.add(hash, mixed);
        }
    }

    /// Rounds 1 to 7.
    #[inline(always)]
    fn throw_again(&mut self, round: u32, values: &[[u32; LANES]], num_hashes: usize) {
        let throws = self.slots.iter_mut().zip(self.codes.iter_mut());
        for (&value, (slot, code)) in values.as_flattened().iter().zip(throws) {
            let place = u64::from(mix32(value ^ round_salt(round))) * num_hashes as u64;
            *slot = (place >> 32) as u32;
            *code = prefix(round) | place as u32 >> (round + 1);
        }
    }

    /// Lowers each slot to the first `count` codes thrown at it.
    #[inline(always)]
    fn keep_least(&self, count: usize, out: &mut [u32]) {
        for (&slot, &code) in self.slots[..count].iter().zip(&self.codes[..count]) {
            let least = &mut out[slot as usize];
            *least = code.min(*least);
        }
    }
}

/// Gives every slot that is still empty the least of a private throw of all elements.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
unsafe fn private_round<L: Level>(values: &[[u32; LANES]], count: usize, list: &mut [u32], out: &mut [u32]) {
    let empty = list_empty(out, list);
    if empty * values.len() < empty.div_ceil(LANES) * count {
        for &slot in &list[..empty] {
            out[slot as usize] = private_code(least_over_elements(slot, values.as_flattened()));
        }
        return;
    }
    for slots in list[..empty].chunks(LANES) {
        let salts = slot_salts(slots);
        let values = &values.as_flattened()[..count];
        let least = match L::ISA {
            // SAFETY: the caller vouches for AVX-512.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::least_over_slots(&salts, values) },
            _ => least_over_slots(&salts, values),
        };
        for (&slot, least) in slots.iter().zip(least) {
            out[slot as usize] = private_code(least);
        }
    }
}

/// Writes the numbers of the empty slots to the beginning of `list`; returns how many there are.
#[inline(always)]
fn list_empty(out: &[u32], list: &mut [u32]) -> usize {
    let mut empty = 0;
    for (slot, &code) in out.iter().enumerate() {
        list[empty] = slot as u32;
        empty += usize::from(code == EMPTY);
    }
    empty
}

#[inline(always)]
fn private_code(mixed: u32) -> u32 {
    (0xFF00_0000 | mixed >> 8).min(LARGEST)
}

/// One slot, with the lanes over elements: for few slots.
#[inline(always)]
fn least_over_elements(slot: u32, values: &[u32]) -> u32 {
    let salt = slot_salt(slot);
    values.iter().fold(u32::MAX, |least, value| least.min(mix32(value ^ salt)))
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

/// [`LANES`] slots together, one per lane: for small sets, which leave many slots empty.
#[inline(always)]
fn least_over_slots(salts: &[u32; LANES], values: &[u32]) -> [u32; LANES] {
    let mut least = [u32::MAX; LANES];
    for &x in values {
        for lane in 0..LANES {
            least[lane] = least[lane].min(mix32(x ^ salts[lane]));
        }
    }
    least
}
