//! Finds the tokens of a prepared text: the runs of bytes between spaces.

use crate::hash::padded::Padded;
use crate::isa::{Isa, Level};

/// Bytes at a time.
const BLOCK: usize = 64;
/// Bytes of a text whose edges are counted first.
const LONG: usize = 16 << 20;
/// Edges that a kernel may write too far.
const SLACK: usize = 2 * BLOCK;

/// Start and end of each token of one text; the buffer is reused from text to text.
#[derive(Default)]
pub struct Runs {
    edges: Vec<u32>,
    count: usize,
}

impl Runs {
    /// Start and end of each token.
    #[inline(always)]
    pub fn bounds(&self) -> &[[u32; 2]] {
        self.edges[..self.count].as_chunks().0
    }

    /// Finds the tokens of `text`, which spaces follow.
    #[inline(always)]
    pub fn find<L: Level>(&mut self, text: Padded<'_>) {
        assert!(text.len() < u32::MAX as usize - SLACK, "longer texts are read by the definition");
        let most = most_edges(text.bytes());
        if self.edges.len() < most + SLACK {
            self.edges.resize((most + SLACK).next_power_of_two(), 0);
        }
        let edges = self.edges.as_mut_ptr();
        // SAFETY: there is space for each edge, which is at a byte or at the space after the last, and for two
        // vectors of edges more; the level is one that the machine offers, as its caller was compiled for it.
        self.count = unsafe {
            match L::ISA {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::edges_avx512(text, edges),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::edges_avx2(text, edges),
                _ => edges_portable(text, edges),
            }
        };
    }
}

/// The number of edges that the tokens of `bytes` have at most.
#[inline(always)]
fn most_edges(bytes: &[u8]) -> usize {
    // A long text comes here in one piece only if it has few spaces (see `parts`): counting them saves four bytes for each
    // byte of the text.
    let spaces = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b' ').count();
    if bytes.len() < LONG { bytes.len() + 1 } else { 2 * (spaces(bytes) + 1) }
}

/// Writes the places of the set bits, in groups of 8, to which `from` is added; returns how many they are.
///
/// # Safety
/// As many numbers and 7 more must be writable at `edges`.
#[inline(always)]
unsafe fn write_places(mut bits: u64, from: usize, edges: *mut u32) -> usize {
    let (mut count, end) = (0, bits.count_ones() as usize);
    while count < end {
        for i in 0..8 {
            // SAFETY: at most 7 numbers more are written than there are bits.
            unsafe { edges.add(count + i).write(from as u32 + bits.trailing_zeros()) };
            bits &= bits.wrapping_sub(1);
        }
        count += 8;
    }
    end
}

/// # Safety
/// `edges` must take [`most_edges`] and `SLACK` numbers.
#[inline(always)]
unsafe fn edges_portable(text: Padded<'_>, edges: *mut u32) -> usize {
    let (mut count, mut carry) = (0, 0);
    for from in (0..text.len() + 1).step_by(BLOCK) {
        let mut words = 0u64;
        for i in 0..8 {
            // SAFETY: 64 bytes after the text are readable.
            let word = unsafe { text.as_ptr().add(from + 8 * i).cast::<u64>().read_unaligned() };
            words |= not_spaces(u64::from_le(word)) << (8 * i);
        }
        let changes = words ^ (words << 1 | carry);
        carry = words >> 63;
        // SAFETY: there is at most one edge for each byte and the space after the last.
        count += unsafe { write_places(changes, from, edges.add(count)) };
    }
    count
}

/// A bit for each of 8 bytes: whether it is anything but a space.
#[inline(always)]
fn not_spaces(word: u64) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let other = word ^ 0x2020_2020_2020_2020;
    // The high bit of each byte that is not zero; then the eight high bits side by side.
    let high = (((other & LOW) + LOW) | other) & !LOW;
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Padded, write_places};
    use std::arch::x86_64::*;

    /// # Safety
    /// As for [`super::edges_portable`]; the machine must offer AVX-512 as in [`crate::isa::Isa::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn edges_avx512(text: Padded<'_>, edges: *mut u32) -> usize {
        let mut numbers = [0u8; 64];
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = i as u8;
        }
        let space = _mm512_set1_epi8(b' ' as i8);
        // SAFETY: 64 bytes after the text are readable; at most 64 edges are stored for each block of 64 bytes, in
        // pieces of 16; the last one may exceed it by less than 64.
        unsafe {
            let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
            let (mut count, mut carry) = (0usize, 0u64);
            for from in (0..text.len() + 1).step_by(BLOCK) {
                let block = _mm512_loadu_si512(text.as_ptr().add(from).cast());
                let words = _mm512_cmpneq_epi8_mask(block, space);
                let changes = words ^ (words << 1 | carry);
                carry = words >> 63;
                let places = _mm512_maskz_compress_epi8(changes, numbers);
                let base = _mm512_set1_epi32(from as i32);
                let found = changes.count_ones() as usize;
                let store = |i: usize, part: __m128i| {
                    let wide = _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part));
                    _mm512_storeu_si512(edges.add(count + i).cast(), wide);
                };
                store(0, _mm512_castsi512_si128(places));
                store(16, _mm512_extracti32x4_epi32::<1>(places));
                if found > 32 {
                    store(32, _mm512_extracti32x4_epi32::<2>(places));
                    store(48, _mm512_extracti32x4_epi32::<3>(places));
                }
                count += found;
            }
            count
        }
    }

    /// # Safety
    /// As for [`super::edges_portable`]; the machine must offer AVX2 as in [`crate::isa::Isa::Avx2`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn edges_avx2(text: Padded<'_>, edges: *mut u32) -> usize {
        let (mut count, mut carry) = (0usize, 0u64);
        let space = _mm256_set1_epi8(b' ' as i8);
        for from in (0..text.len() + 1).step_by(BLOCK) {
            // SAFETY: 64 bytes after the text are readable; there is at most one edge for each byte and the space
            // after the last.
            unsafe {
                let spaces = |at: usize| {
                    let block = _mm256_loadu_si256(text.as_ptr().add(at).cast());
                    u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, space)) as u32)
                };
                let words = !(spaces(from) | spaces(from + 32) << 32);
                let changes = words ^ (words << 1 | carry);
                carry = words >> 63;
                count += write_places(changes, from, edges.add(count));
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Task, run_at};

    struct Find<'a>(&'a [u8]);
    impl Task for Find<'_> {
        type Output = Vec<[u32; 2]>;
        #[inline(always)]
        fn run<L: Level>(self) -> Self::Output {
            let mut runs = Runs::default();
            runs.find::<L>(Padded::new(self.0, self.0.len() - 64));
            runs.bounds().to_vec()
        }
    }

    #[test]
    fn all_levels_find_the_tokens_wherever_a_block_ends() {
        let pieces =
            ["a", "ab ", " ", "caf\u{e9} ", "x ".repeat(40).as_str(), &"long".repeat(30), "東 "].map(String::from);
        for seed in 0..400usize {
            let text: String =
                (0..seed % 23).map(|i| pieces[(seed * 31 + i * i * 7 + i) % pieces.len()].as_str()).collect();
            let start = |token: &str| (token.as_ptr() as usize - text.as_ptr() as usize) as u32;
            let tokens = text.split(' ').filter(|token| !token.is_empty());
            let want: Vec<[u32; 2]> = tokens.map(|token| [start(token), start(token) + token.len() as u32]).collect();
            let padded = format!("{text}{}", " ".repeat(64));
            for isa in Isa::available() {
                assert_eq!(run_at(isa, Find(padded.as_bytes())), want, "{isa:?} on {text:?}");
            }
        }
    }

    #[test]
    fn every_byte_but_the_space_belongs_to_a_token() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let want = if byte == b' ' { 0 } else { 1 << place };
                let mut bytes = [b' '; 8];
                bytes[place] = byte;
                assert_eq!(not_spaces(u64::from_le_bytes(bytes)), want, "{byte} at {place}");
            }
        }
    }
}
