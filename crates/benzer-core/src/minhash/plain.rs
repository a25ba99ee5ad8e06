//! The steps of Fast Similarity Sketching as plain loops, which compilers turn into vector code for every level.

use super::fast::{FirstRound, Slots, Throw, prefix, round_salt};
use super::{Content, EMPTY, LANES};
use crate::hash::mix::{Mixer, finish32, mix32, mix32_almost};

/// Round 0.
pub(super) struct First {
    mixer: Mixer,
    slots: u32,
    content: Content,
}

impl FirstRound for First {
    #[inline(always)]
    unsafe fn new(mixer: Mixer, slots: u32) -> Self {
        First { mixer, slots, content: Content::default() }
    }

    #[inline(always)]
    unsafe fn throw(&mut self, hashes: &[u64; LANES], values: &mut [u32; LANES], throws: &mut [Throw; LANES]) {
        for ((&hash, value), throw) in hashes.iter().zip(values).zip(throws) {
            let mixed = self.mixer.mix(hash);
            let place = (mixed >> 16).wrapping_mul(u64::from(self.slots));
            *value = mixed as u32;
            *throw = place >> 48 << 32 | place >> 17 & 0x7FFF_FFFF;
            self.content.add(hash, mixed);
        }
    }

    #[inline(always)]
    unsafe fn content(&self) -> Content {
        self.content
    }
}

/// Throws a block in a round from 1 to 7.
#[inline(always)]
pub(super) fn throw(round: u32, values: &[u32; LANES], slots: u32, throws: &mut [Throw; LANES]) {
    for (&value, throw) in values.iter().zip(throws) {
        let place = u64::from(mix32(value ^ round_salt(round))) * u64::from(slots);
        *throw = place >> 32 << 32 | u64::from(prefix(round) | place as u32 >> (round + 1));
    }
}

/// Writes the numbers of the empty slots to the beginning of `list`; returns how many there are.
#[inline(always)]
pub(super) fn list_empty(out: &[u32], list: &mut [u32]) -> usize {
    let list = &mut list[..out.len()];
    let mut empty = 0;
    for (slot, &code) in out.iter().enumerate() {
        list[empty] = slot as u32;
        empty += usize::from(code == EMPTY);
    }
    empty
}

/// Which slots are empty.
#[inline(always)]
pub(super) fn empty_slots(out: &[u32]) -> Slots {
    let mut empty = [0; _];
    for (word, codes) in empty.iter_mut().zip(out.chunks(64)) {
        for (slot, &code) in codes.iter().enumerate() {
            *word |= u64::from(code == EMPTY) << slot;
        }
    }
    empty
}

/// Moves the elements that hit one of `wanted` to the beginning of `kept`, all but mixed; returns how many.
#[inline(always)]
pub(super) fn keep_hits(round: u32, values: &[u32], slots: u32, wanted: &Slots, kept: &mut [u32]) -> usize {
    let kept = &mut kept[..values.len()];
    let mut hits = 0;
    for &value in values {
        let almost = mix32_almost(value ^ round_salt(round));
        let slot = u64::from(finish32(almost)) * u64::from(slots) >> 32;
        kept[hits] = almost;
        hits += (wanted[(slot / 64) as usize % wanted.len()] >> (slot % 64)) as usize & 1;
    }
    hits
}

/// The least private throw at one slot, with the lanes over elements: for few slots.
#[inline(always)]
pub(super) fn least_over_elements(salt: u32, values: &[u32]) -> u32 {
    values.iter().fold(u32::MAX, |least, value| least.min(mix32(value ^ salt)))
}

/// The least private throws at [`LANES`] slots, one per lane: for small sets, which leave many slots empty.
#[inline(always)]
pub(super) fn least_over_slots(salts: &[u32; LANES], values: &[u32]) -> [u32; LANES] {
    let mut least = [u32::MAX; LANES];
    for &x in values {
        for lane in 0..LANES {
            least[lane] = least[lane].min(mix32(x ^ salts[lane]));
        }
    }
    least
}
