//! The sketches that agree with a given one in the most places, found by a scan over all of them.
//!
//! A sketch here is a row of bytes, one for each value of a signature: 128 bytes per document are read at the speed of
//! memory, and no index has to be tuned or can miss anything.

use crate::isa::{self, Isa, Level, Task};

/// How many bytes of each row of `rows` equal those of `one` in the same place.
///
/// Cost: every byte of `rows` is read once. All instruction sets give the same counts.
///
/// ```
/// # use benzer_core::{isa, nearest::equal_bytes};
/// let mut counts = [0; 2];
/// equal_bytes(isa::current(), &[1, 2, 3, 9, 9, 3], &[1, 2, 3], &mut counts);
/// assert_eq!(counts, [3, 1]);
/// ```
///
/// # Panics
/// Where `rows` does not hold `counts.len()` rows as long as `one`, or a row is longer than 65,535.
pub fn equal_bytes(isa: Isa, rows: &[u8], one: &[u8], counts: &mut [u16]) {
    assert_eq!(rows.len(), one.len() * counts.len(), "a row is as long as the one it is compared with");
    assert!(one.len() <= usize::from(u16::MAX), "a count has 16 bits");
    if one.is_empty() {
        counts.fill(0);
        return;
    }
    isa::run_at(isa, Scan { rows, one, counts });
}

/// A scan, as a task.
struct Scan<'a> {
    rows: &'a [u8],
    one: &'a [u8],
    counts: &'a mut [u16],
}

/// Bytes compared together: their count fits a byte, so that the sums stay in byte lanes.
const BLOCK: usize = 64;

impl Task for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let (blocks, rest) = self.one.as_chunks::<BLOCK>();
        for (row, count) in self.rows.chunks_exact(self.one.len()).zip(self.counts) {
            let (row_blocks, row_rest) = row.as_chunks::<BLOCK>();
            let whole: u32 = row_blocks.iter().zip(blocks).map(|(a, b)| equal_in_block::<L>(a, b)).sum();
            let tail: u32 = row_rest.iter().zip(rest).map(|(a, b)| u32::from(a == b)).sum();
            *count = (whole + tail) as u16;
        }
    }
}

/// How many of 64 bytes are equal.
#[inline(always)]
fn equal_in_block<L: Level>(a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u32 {
    match L::ISA {
        // SAFETY: code that has a level runs on a machine that offers it.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::equal_avx512(a, b) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::equal_avx2(a, b) },
        _ => equal_portable(a, b),
    }
}

#[inline(always)]
fn equal_portable(a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u32 {
    u32::from(a.iter().zip(b).map(|(a, b)| u8::from(a == b)).sum::<u8>())
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::BLOCK;
    use std::arch::x86_64::*;

    /// # Safety
    /// The machine offers [`crate::isa::Isa::Avx512`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    pub unsafe fn equal_avx512(a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u32 {
        // SAFETY: both are 64 bytes long.
        let (a, b) = unsafe { (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast())) };
        _mm512_cmpeq_epi8_mask(a, b).count_ones()
    }

    /// # Safety
    /// The machine offers [`crate::isa::Isa::Avx2`].
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn equal_avx2(a: &[u8; BLOCK], b: &[u8; BLOCK]) -> u32 {
        let half = |at: usize| {
            // SAFETY: both are 64 bytes long, and `at` is 0 or 32.
            let (a, b) = unsafe {
                (_mm256_loadu_si256(a.as_ptr().add(at).cast()), _mm256_loadu_si256(b.as_ptr().add(at).cast()))
            };
            (_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32).count_ones()
        };
        half(0) + half(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    fn plain(rows: &[u8], one: &[u8]) -> Vec<u16> {
        rows.chunks(one.len()).map(|row| row.iter().zip(one).filter(|(a, b)| a == b).count() as u16).collect()
    }

    #[test]
    fn every_instruction_set_counts_what_a_plain_loop_counts() {
        let mut random = SplitMix64::new(7);
        for width in [1, 3, 63, 64, 65, 128, 130, 200, 300] {
            let mut bytes = |count: usize| (0..count).map(|_| (random.next_u64() % 3) as u8).collect::<Vec<_>>();
            let (one, rows) = (bytes(width), bytes(width * 17));
            for isa in Isa::available() {
                let mut counts = vec![9; 17];
                equal_bytes(isa, &rows, &one, &mut counts);
                assert_eq!(counts, plain(&rows, &one), "{} at width {width}", isa.name());
            }
        }
    }

    #[test]
    fn a_row_of_equal_bytes_counts_in_full() {
        let row = vec![5; 65_535];
        for isa in Isa::available() {
            let mut counts = [0];
            equal_bytes(isa, &row, &row, &mut counts);
            assert_eq!(counts, [65_535]);
        }
    }

    #[test]
    #[should_panic(expected = "a row is as long as")]
    fn rows_of_another_length_are_refused() {
        equal_bytes(Isa::Portable, &[1, 2, 3], &[1, 2], &mut [0]);
    }
}
