//! The steps of Fast Similarity Sketching as plain loops, which compilers turn into vector code for every level.

use super::fast::{FirstRound, Throw, prefix, round_salt};
use super::{Content, EMPTY, LANES};
use crate::hash::mix::{Mixer, mix32};

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
    let mixed = values.map(|value| mix32(value ^ round_salt(round)));
    for (mixed, throw) in mixed.into_iter().zip(throws) {
        let place = u64::from(mixed) * u64::from(slots);
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
