//! Steps written by hand for AVX2: round 0, because compilers split its 64-bit products into too many parts, and the
//! filter.

use super::fast::{FirstRound, Slots, Throw, prefix, round_salt};
use super::{Content, EMPTY, LANES, plain};
use crate::hash::mix::{K4, Mixer};
use std::arch::x86_64::*;

/// Round 0.
pub(super) struct First {
    key: __m256i,
    slots: __m256i,
    sum: __m256i,
    mixed: __m256i,
}

impl FirstRound for First {
    #[inline(always)]
    unsafe fn new(mixer: Mixer, slots: u32) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let (key, slots) = (_mm256_set1_epi64x(mixer.key() as i64), _mm256_set1_epi64x(slots.into()));
            First { key, slots, sum: _mm256_setzero_si256(), mixed: _mm256_setzero_si256() }
        }
    }

    #[inline(always)]
    unsafe fn throw(&mut self, hashes: &[u64; LANES], values: &mut [u32; LANES], throws: &mut [Throw; LANES]) {
        let (hashes, values, throws) = (hashes.as_chunks().0, values.as_chunks_mut().0, throws.as_chunks_mut().0);
        for ((hashes, values), throws) in hashes.iter().zip(values).zip(throws) {
            // SAFETY: the caller vouches for AVX2.
            unsafe { self.throw_8(hashes, values, throws) };
        }
    }

    #[inline(always)]
    unsafe fn content(&self) -> Content {
        // SAFETY: the caller vouches for AVX2.
        unsafe { Content { sum: add_lanes(self.sum), mixed: add_lanes(self.mixed) } }
    }
}

impl First {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn throw_8(&mut self, hashes: &[u64; 8], values: &mut [u32; 8], throws: &mut [Throw; 8]) {
        let ([a, b], [to_a, to_b]) = (halves(hashes), halves_mut(throws));
        let (a, b) = (self.throw_4(a, to_a), self.throw_4(b, to_b));
        let low = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        let low = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(low));
        // SAFETY: eight values are 32 bytes.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), low) };
    }

    /// Throws four hashes; returns them mixed.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn throw_4(&mut self, hashes: &[u64; 4], throws: &mut [Throw; 4]) -> __m256i {
        // SAFETY: four hashes are 32 bytes.
        let hash = unsafe { _mm256_loadu_si256(hashes.as_ptr().cast()) };
        let x = _mm256_xor_si256(hash, self.key);
        let high = _mm256_srli_epi64::<32>(x);
        let x = _mm256_xor_si256(x, high);
        let k4 = _mm256_set1_epi64x(K4 as i64);
        let crossed = _mm256_add_epi64(_mm256_mul_epu32(high, k4), _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(k4)));
        let x = _mm256_add_epi64(_mm256_mul_epu32(x, k4), _mm256_slli_epi64::<32>(crossed));
        let mixed = _mm256_xor_si256(x, _mm256_srli_epi64::<29>(x));
        // 48 bits times 16: the low 32 of them, and the high 16.
        let low = _mm256_mul_epu32(_mm256_srli_epi64::<16>(mixed), self.slots);
        let high = _mm256_mul_epu32(_mm256_srli_epi64::<48>(mixed), self.slots);
        let place = _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high));
        // The slot stands right above the 31 bits of the code: doubling it moves it to the high half.
        let throw = _mm256_srli_epi64::<17>(place);
        let throw = _mm256_add_epi64(throw, _mm256_and_si256(throw, _mm256_set1_epi64x(!0x7FFF_FFFF)));
        self.sum = _mm256_add_epi64(self.sum, hash);
        self.mixed = _mm256_add_epi64(self.mixed, mixed);
        // SAFETY: four throws are 32 bytes.
        unsafe { _mm256_storeu_si256(throws.as_mut_ptr().cast(), throw) };
        mixed
    }
}

/// Throws a block in a round from 1 to 7.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn throw(round: u32, values: &[u32; LANES], slots: u32, throws: &mut [Throw; LANES]) {
    let salt = _mm256_set1_epi32(round_salt(round) as i32);
    let shift = _mm_cvtsi32_si128(round as i32 + 1);
    let ones = _mm256_set1_epi64x(prefix(round).into());
    let slots = _mm256_set1_epi64x(slots.into());
    for (values, throws) in values.as_chunks::<8>().0.iter().zip(throws.as_chunks_mut::<8>().0) {
        // SAFETY: eight values are 32 bytes.
        let x = unsafe { _mm256_loadu_si256(values.as_ptr().cast()) };
        let x = mix_almost(_mm256_xor_si256(x, salt));
        let mixed = _mm256_xor_si256(x, _mm256_srli_epi32::<16>(x));
        let parts = [_mm256_castsi256_si128(mixed), _mm256_extracti128_si256::<1>(mixed)];
        for (part, throws) in parts.into_iter().zip(halves_mut(throws)) {
            let place = _mm256_mul_epu32(_mm256_cvtepu32_epi64(part), slots);
            let code = _mm256_or_si256(_mm256_srl_epi32(place, shift), ones);
            let throw = _mm256_blend_epi32::<0b1010_1010>(code, place);
            // SAFETY: four throws are 32 bytes.
            unsafe { _mm256_storeu_si256(throws.as_mut_ptr().cast(), throw) };
        }
    }
}

#[inline(always)]
fn halves(whole: &[u64; 8]) -> &[[u64; 4]; 2] {
    whole.as_chunks().0.try_into().expect("eight are twice four")
}

#[inline(always)]
fn halves_mut(whole: &mut [u64; 8]) -> &mut [[u64; 4]; 2] {
    whole.as_chunks_mut().0.try_into().expect("eight are twice four")
}

#[target_feature(enable = "avx2")]
#[inline]
fn add_lanes(sums: __m256i) -> u64 {
    let mut lanes = [0_u64; 4];
    // SAFETY: the array is 32 bytes long.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums) };
    lanes.into_iter().fold(0, u64::wrapping_add)
}

/// For each set of lanes, their numbers, one byte each.
static LANES_OF: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut found) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                table[set] |= (lane as u64) << (8 * found);
                found += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
};

/// Writes the numbers of the empty slots to the beginning of `list`; returns how many there are.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
pub(super) fn list_empty(out: &[u32], list: &mut [u32]) -> usize {
    let (blocks, rest) = out.as_chunks::<8>();
    assert!(list.len() >= out.len(), "there is room for every slot");
    let mut empty = 0;
    for (block, codes) in blocks.iter().enumerate() {
        let hit = empty_here(codes);
        let slots = _mm256_add_epi32(lanes_of(hit), _mm256_set1_epi32(8 * block as i32));
        // SAFETY: empty is at most 8 times the number of blocks before this one, so 8 slots fit.
        unsafe { _mm256_storeu_si256(list.as_mut_ptr().add(empty).cast(), slots) };
        empty += hit.count_ones() as usize;
    }
    let first = out.len() - rest.len();
    let more = plain::list_empty(rest, &mut list[empty..]);
    list[empty..empty + more].iter_mut().for_each(|slot| *slot += first as u32);
    empty + more
}

/// The numbers of a set of lanes, in its first lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes_of(set: usize) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(LANES_OF[set] as i64))
}

/// Which slots are empty.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn empty_slots(out: &[u32]) -> Slots {
    let mut empty = [[0; 8]; _];
    let (blocks, rest) = out.as_chunks();
    for (part, codes) in empty.as_flattened_mut().iter_mut().zip(blocks) {
        *part = empty_here(codes) as u8;
    }
    for (slot, &code) in rest.iter().enumerate() {
        empty.as_flattened_mut()[blocks.len()] |= u8::from(code == EMPTY) << slot;
    }
    empty.map(u64::from_le_bytes)
}

/// Which of 8 slots are empty.
#[target_feature(enable = "avx2")]
#[inline]
fn empty_here(codes: &[u32; 8]) -> usize {
    // SAFETY: 8 codes of 32 bits are 32 bytes.
    let codes = unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) };
    _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(codes, _mm256_set1_epi32(-1)))) as usize
}

/// Moves the elements that may hit one of `wanted` to the beginning of `kept`, all but mixed; returns how many.
///
/// The slot is found with the leading 16 bits only, which spares the last step of the mixer and a 64-bit product.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
pub(super) fn keep_hits(round: u32, values: &[[u32; LANES]], slots: u32, wanted: &Slots, kept: &mut [u32]) -> usize {
    let kept = &mut kept[..values.len() * LANES];
    let salt = _mm256_set1_epi32(round_salt(round) as i32);
    let slots = _mm256_set1_epi32((slots << 16) as i32);
    // SAFETY: eight words are 64 bytes.
    let [low, high] = unsafe { [0, 4].map(|word| _mm256_loadu_si256(wanted.as_ptr().add(word).cast())) };
    let mut hits = 0;
    for block in values.as_flattened().as_chunks::<8>().0 {
        // SAFETY: a block is 8 values of 32 bits.
        let x = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
        let almost = mix_almost(_mm256_xor_si256(x, salt));
        let slot = _mm256_mulhi_epu16(almost, slots); // in the high half
        let place = _mm256_srli_epi32::<21>(slot);
        let (low, high) = (_mm256_permutevar8x32_epi32(low, place), _mm256_permutevar8x32_epi32(high, place));
        let word = either(low, high, _mm256_slli_epi32::<7>(slot));
        // The bit of the slot comes to the top, where the mask is taken from.
        let above = _mm256_andnot_si256(_mm256_srli_epi32::<16>(slot), _mm256_set1_epi32(31));
        let hit = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(word, above))) as usize;
        // SAFETY: hits is at most 8 times the number of blocks before this one, so 8 values fit.
        unsafe {
            let to = kept.as_mut_ptr().add(hits).cast();
            _mm256_storeu_si256(to, _mm256_permutevar8x32_epi32(almost, lanes_of(hit)));
        }
        hits += hit.count_ones() as usize;
    }
    hits
}

/// `high` in the lanes where the top bit of `which` is set, `low` in the others.
#[target_feature(enable = "avx2")]
#[inline]
fn either(low: __m256i, high: __m256i, which: __m256i) -> __m256i {
    let [low, high, which] = [low, high, which].map(|lanes| _mm256_castsi256_ps(lanes));
    _mm256_castps_si256(_mm256_blendv_ps(low, high, which))
}

/// [`crate::hash::mix::mix32_almost`] in every lane.
#[target_feature(enable = "avx2")]
#[inline]
fn mix_almost(x: __m256i) -> __m256i {
    let x = _mm256_xor_si256(x, _mm256_srli_epi32::<16>(x));
    let x = _mm256_mullo_epi32(x, _mm256_set1_epi32(0x7FEB_352D));
    let x = _mm256_xor_si256(x, _mm256_srli_epi32::<15>(x));
    _mm256_mullo_epi32(x, _mm256_set1_epi32(0x846C_A68B_u32 as i32))
}
