//! k-mins: slot j is the least value of the set under the j-th random permutation.
//!
//! The permutations are `a*z + b` modulo 2^64 with odd `a`, after a mixer; the highest 32 bits are kept
//! (multiply-shift: M. Dietzfelbinger and others 1997; minimum of permutations: A. Broder 1997).
//! Plain loops: every compiler level makes good vector code of them.

use super::fast::LARGEST;
use super::{Content, EMPTY, LANES, Mixer, Scratch, make_room, whole_blocks};
use crate::hash::mix::SplitMix64;

/// One random permutation of the 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    multiplier: u64,
    addend: u64,
}

impl Permutation {
    pub(super) fn draw(random: &mut SplitMix64) -> Self {
        let multiplier = random.next_u64() | 1;
        Permutation { multiplier, addend: random.next_u64() }
    }

    #[inline(always)]
    fn value(self, z: u64) -> u32 {
        (self.multiplier.wrapping_mul(z).wrapping_add(self.addend) >> 32) as u32
    }

    #[inline(always)]
    fn least(self, mixed: &[u64]) -> u32 {
        mixed.iter().fold(u32::MAX, |least, &z| least.min(self.value(z)))
    }
}

/// The signature of `hashes`. It takes time in proportion to hashes times permutations.
#[inline(always)]
pub(super) fn sketch(
    mixer: Mixer, permutations: &[Permutation], hashes: &[u64], scratch: &mut Scratch, out: &mut [u32],
) -> Content {
    if hashes.is_empty() {
        out.fill(EMPTY);
        return Content::default();
    }
    make_room(&mut scratch.mixed, hashes.len().next_multiple_of(LANES));
    let mut content = Content::default();
    for (&hash, kept) in hashes.iter().zip(&mut scratch.mixed) {
        *kept = mixer.mix(hash);
        content.add(hash, *kept);
    }
    let mixed = whole_blocks(&mut scratch.mixed, hashes.len()).as_flattened();
    for (permutation, slot) in permutations.iter().zip(out) {
        *slot = permutation.least(mixed).min(LARGEST);
    }
    content
}
