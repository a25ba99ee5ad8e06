//! bottom-k: the smallest values of the set under one random permutation, ascending.
//!
//! Sampling without replacement: the estimate is exact where the union has no more than k elements. Values are no
//! slots, so such signatures have no bands. Source: A. Broder 1997; E. Cohen, H. Kaplan 2007.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::fast::LARGEST;
use super::{Content, EMPTY, Input, LANES, Scratch, make_room, whole_blocks};
use crate::hash::mix::Mixer;
use crate::isa::{Isa, Level};

/// Hashes filtered with one bound.
const BLOCK: usize = 256;

/// The signature of a set of elements: their least distinct values, ascending, then [`EMPTY`].
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn sketch<L: Level, I: Input>(
    mixer: Mixer, elements: &[u64], scratch: &mut Scratch, out: &mut [u32],
) -> Content {
    let limit = 2 * out.len();
    make_room(&mut scratch.values, limit + BLOCK);
    make_room(&mut scratch.kept, BLOCK);
    let mut least = Least { values: &mut scratch.values, kept: 0, bound: EMPTY, wanted: out.len() };
    let mut content = Content::default();
    for block in elements.chunks(BLOCK) {
        if least.kept > limit {
            least.reduce();
        }
        let values = mix_high::<I>(mixer, block, &mut scratch.kept, &mut content);
        // SAFETY: the caller vouches for L.
        unsafe { least.take::<L>(values) };
    }
    least.reduce();
    let kept = least.kept;
    out[..kept].copy_from_slice(&scratch.values[..kept]);
    out[kept..].fill(EMPTY);
    content
}

/// The values of one block of elements, filled up to whole blocks of lanes.
#[inline(always)]
fn mix_high<'a, I: Input>(
    mixer: Mixer, elements: &[u64], values: &'a mut [u32], content: &mut Content,
) -> &'a [[u32; LANES]] {
    for (&element, value) in elements.iter().zip(values.iter_mut()) {
        let hash = I::hash(element);
        let mixed = mixer.mix(hash);
        *value = ((mixed >> 32) as u32).min(LARGEST);
        content.add(hash, mixed);
    }
    whole_blocks(values, elements.len())
}

/// The values that may still belong to the least ones: all those met that are below `bound`.
struct Least<'a> {
    values: &'a mut [u32],
    kept: usize,
    bound: u32,
    wanted: usize,
}

impl Least<'_> {
    /// Keeps the values below the bound.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn take<L: Level>(&mut self, values: &[[u32; LANES]]) {
        let room = &mut self.values[self.kept..];
        self.kept += match L::ISA {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the caller vouches for AVX-512.
            Isa::Avx512 => unsafe { avx512::keep_below(self.bound, values, room) },
            _ => keep_below(self.bound, values.as_flattened(), room),
        };
    }

    /// Keeps the smallest distinct values, ascending, and lowers the bound to the last of them.
    #[inline(never)]
    fn reduce(&mut self) {
        let values = &mut self.values[..self.kept];
        let few = self.wanted + self.wanted / 4 + LANES;
        let mut distinct = 0;
        if few < values.len() {
            values.select_nth_unstable(few);
            distinct = sort_distinct(&mut values[..few]);
        }
        if distinct < self.wanted {
            distinct = sort_distinct(values);
        }
        self.kept = distinct.min(self.wanted);
        if self.kept == self.wanted {
            self.bound = self.values[self.kept - 1];
        }
    }
}

/// Moves the distinct values to the beginning, ascending, and any repeats behind them; returns how many are distinct.
fn sort_distinct(values: &mut [u32]) -> usize {
    values.sort_unstable();
    let mut distinct = 0;
    for place in 0..values.len() {
        if distinct == 0 || values[place] != values[distinct - 1] {
            values[distinct] = values[place];
            distinct += 1;
        }
    }
    distinct
}

/// Writes the values below `bound` to the beginning of `room`; returns how many.
#[inline(always)]
fn keep_below(bound: u32, values: &[u32], room: &mut [u32]) -> usize {
    let room = &mut room[..values.len()];
    let mut kept = 0;
    for &value in values {
        room[kept] = value;
        kept += usize::from(value < bound);
    }
    kept
}
