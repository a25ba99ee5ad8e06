//! Steps written by hand for AVX-512: those that select lanes, and those that compilers split into small vectors.
//!
//! These are all of Fast Similarity Sketching, and the filter of bottom-k. Everything else is plain loops.

use super::fast::{FirstRound, Slots, Throw, prefix, round_salt};
use super::{Content, LANES};
use crate::hash::mix::{K4, Mixer};
use std::arch::x86_64::*;

/// Round 0.
pub(super) struct First {
    key: __m512i,
    slots: __m512i,
    sum: __m512i,
    mixed: __m512i,
}

impl FirstRound for First {
    #[inline(always)]
    unsafe fn new(mixer: Mixer, slots: u32) -> Self {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let (key, slots) = (_mm512_set1_epi64(mixer.key() as i64), _mm512_set1_epi64(slots.into()));
            First { key, slots, sum: _mm512_setzero_si512(), mixed: _mm512_setzero_si512() }
        }
    }

    #[inline(always)]
    unsafe fn throw(&mut self, hashes: &[u64; LANES], values: &mut [u32; LANES], throws: &mut [Throw; LANES]) {
        let (hashes, values, throws) = (hashes.as_chunks().0, values.as_chunks_mut().0, throws.as_chunks_mut().0);
        for ((hashes, values), throws) in hashes.iter().zip(values).zip(throws) {
            // SAFETY: the caller vouches for AVX-512.
            unsafe { self.throw_8(hashes, values, throws) };
        }
    }

    #[inline(always)]
    unsafe fn content(&self) -> Content {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let (sum, mixed) = (_mm512_reduce_add_epi64(self.sum), _mm512_reduce_add_epi64(self.mixed));
            Content { sum: sum as u64, mixed: mixed as u64 }
        }
    }
}

impl First {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    #[inline]
    fn throw_8(&mut self, hashes: &[u64; 8], values: &mut [u32; 8], throws: &mut [Throw; 8]) {
        // SAFETY: eight hashes are 64 bytes.
        let hash = unsafe { _mm512_loadu_epi64(hashes.as_ptr().cast()) };
        let x = _mm512_xor_si512(hash, self.key);
        let x = _mm512_xor_si512(x, _mm512_srli_epi64::<32>(x));
        let x = _mm512_mullo_epi64(x, _mm512_set1_epi64(K4 as i64));
        let mixed = _mm512_xor_si512(x, _mm512_srli_epi64::<29>(x));
        let place = _mm512_mullo_epi64(_mm512_srli_epi64::<16>(mixed), self.slots);
        // The slot stands right above the 31 bits of the code: doubling it moves it to the high half.
        let throw = _mm512_srli_epi64::<17>(place);
        let throw = _mm512_add_epi64(throw, _mm512_and_si512(throw, _mm512_set1_epi64(!0x7FFF_FFFF)));
        self.sum = _mm512_add_epi64(self.sum, hash);
        self.mixed = _mm512_add_epi64(self.mixed, mixed);
        // SAFETY: eight throws are 64 bytes, eight values 32.
        unsafe {
            _mm512_storeu_epi64(throws.as_mut_ptr().cast(), throw);
            _mm256_storeu_epi32(values.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(mixed));
        }
    }
}

/// Throws a block in a round from 1 to 7.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn throw(round: u32, values: &[u32; LANES], slots: u32, throws: &mut [Throw; LANES]) {
    let salt = _mm512_set1_epi32(round_salt(round) as i32);
    let shift = _mm_cvtsi32_si128(round as i32 + 1);
    let ones = _mm512_set1_epi64(prefix(round).into());
    let slots = _mm512_set1_epi64(slots.into());
    // SAFETY: a block is 16 values of 32 bits.
    let x = unsafe { _mm512_loadu_epi32(values.as_ptr().cast()) };
    let mixed = mix(_mm512_xor_si512(x, salt));
    let halves = [_mm512_castsi512_si256(mixed), _mm512_extracti64x4_epi64::<1>(mixed)];
    for (half, throws) in halves.into_iter().zip(throws.as_chunks_mut::<8>().0) {
        let place = _mm512_mul_epu32(_mm512_cvtepu32_epi64(half), slots);
        let throw = _mm512_or_si512(_mm512_mask_srl_epi32(place, 0x5555, place, shift), ones);
        // SAFETY: eight throws are 64 bytes.
        unsafe { _mm512_storeu_epi64(throws.as_mut_ptr().cast(), throw) };
    }
}

/// Writes the numbers of the empty slots to the beginning of `list`; returns how many there are.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn list_empty(out: &[u32], list: &mut [u32]) -> usize {
    let list = &mut list[..out.len().next_multiple_of(LANES)];
    let mut slots = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut empty = 0;
    for codes in out.chunks(LANES) {
        let hit = empty_here(codes);
        // SAFETY: empty is at most 16 times the number of chunks before this one, so 16 slots fit.
        unsafe { _mm512_storeu_epi32(list.as_mut_ptr().add(empty).cast(), _mm512_maskz_compress_epi32(hit, slots)) };
        empty += hit.count_ones() as usize;
        slots = _mm512_add_epi32(slots, _mm512_set1_epi32(LANES as i32));
    }
    empty
}

/// Which slots are empty.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn empty_slots(out: &[u32]) -> Slots {
    let mut empty = [[0; 4]; _];
    for (part, codes) in empty.as_flattened_mut().iter_mut().zip(out.chunks(LANES)) {
        *part = empty_here(codes);
    }
    empty.map(|[a, b, c, d]| u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48)
}

/// Which of up to 16 slots are empty.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn empty_here(codes: &[u32]) -> u16 {
    let present = u16::MAX >> (LANES - codes.len());
    // SAFETY: only the lanes present are read.
    let codes = unsafe { _mm512_maskz_loadu_epi32(present, codes.as_ptr().cast()) };
    _mm512_cmpeq_epi32_mask(codes, _mm512_set1_epi32(-1))
}

/// Moves the elements that may hit one of `wanted` to the beginning of `kept`, all but mixed; returns how many.
///
/// The slot is found with the leading 16 bits only, which spares the last step of the mixer and a 64-bit product.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn keep_hits(round: u32, values: &[[u32; LANES]], slots: u32, wanted: &Slots, kept: &mut [u32]) -> usize {
    let kept = &mut kept[..values.len() * LANES];
    let salt = _mm512_set1_epi32(round_salt(round) as i32);
    let slots = _mm512_set1_epi32((slots << 16) as i32);
    // SAFETY: eight words are 64 bytes.
    let wanted = unsafe { _mm512_loadu_epi64(wanted.as_ptr().cast()) };
    let mut hits = 0;
    for block in values {
        // SAFETY: a block is 16 values of 32 bits.
        let x = unsafe { _mm512_loadu_epi32(block.as_ptr().cast()) };
        let almost = mix_almost(_mm512_xor_si512(x, salt));
        let slot = _mm512_mulhi_epu16(almost, slots); // in the high half
        let word = _mm512_permutexvar_epi32(_mm512_srli_epi32::<21>(slot), wanted);
        let bit = _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32::<16>(slot));
        let hit = _mm512_test_epi32_mask(word, bit);
        // SAFETY: hits is at most 16 times the number of blocks before this one, so 16 values fit.
        unsafe { _mm512_storeu_epi32(kept.as_mut_ptr().add(hits).cast(), _mm512_maskz_compress_epi32(hit, almost)) };
        hits += hit.count_ones() as usize;
    }
    hits
}

/// [`crate::hash::mix::mix32`] in every lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn mix(x: __m512i) -> __m512i {
    let x = mix_almost(x);
    _mm512_xor_si512(x, _mm512_srli_epi32::<16>(x))
}

/// [`crate::hash::mix::mix32_almost`] in every lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn mix_almost(x: __m512i) -> __m512i {
    let x = _mm512_xor_si512(x, _mm512_srli_epi32::<16>(x));
    let x = _mm512_mullo_epi32(x, _mm512_set1_epi32(0x7FEB_352D));
    let x = _mm512_xor_si512(x, _mm512_srli_epi32::<15>(x));
    _mm512_mullo_epi32(x, _mm512_set1_epi32(0x846C_A68B_u32 as i32))
}

/// The least private throw at one slot, with the lanes over elements: for few slots.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn least_over_elements(salt: u32, values: &[[u32; LANES]]) -> u32 {
    let salt = _mm512_set1_epi32(salt as i32);
    let mut least = _mm512_set1_epi32(-1);
    for block in values {
        // SAFETY: a block is 16 values of 32 bits.
        let x = unsafe { _mm512_loadu_epi32(block.as_ptr().cast()) };
        least = _mm512_min_epu32(least, mix(_mm512_xor_si512(x, salt)));
    }
    _mm512_reduce_min_epu32(least)
}

/// The values below `bound`, moved to the beginning of `room`, 16 at a time; returns how many.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn keep_below(bound: u32, values: &[[u32; LANES]], room: &mut [u32]) -> usize {
    let room = &mut room[..values.len() * LANES];
    let bound = _mm512_set1_epi32(bound as i32);
    let mut kept = 0;
    for block in values {
        // SAFETY: a block is 16 values of 32 bits.
        let values = unsafe { _mm512_loadu_epi32(block.as_ptr().cast()) };
        let below = _mm512_cmplt_epu32_mask(values, bound);
        let least = _mm512_maskz_compress_epi32(below, values);
        // SAFETY: kept is at most 16 times the number of blocks before this one, so 16 values fit.
        unsafe { _mm512_storeu_epi32(room.as_mut_ptr().add(kept).cast(), least) };
        kept += below.count_ones() as usize;
    }
    kept
}

/// The least private throws at 16 slots, one per lane: for small sets, which leave many slots empty.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn least_over_slots(salts: &[u32; LANES], values: &[u32]) -> [u32; LANES] {
    // SAFETY: the array is 64 bytes long.
    let salts = unsafe { _mm512_loadu_epi32(salts.as_ptr().cast()) };
    let mut least = _mm512_set1_epi32(-1);
    for &x in values {
        least = _mm512_min_epu32(least, mix(_mm512_xor_si512(_mm512_set1_epi32(x as i32), salts)));
    }
    let mut lanes = [0; LANES];
    // SAFETY: as above.
    unsafe { _mm512_storeu_epi32(lanes.as_mut_ptr().cast(), least) };
    lanes
}
