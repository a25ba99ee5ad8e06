//! Searches strings with AVX2.

use std::arch::x86_64::*;

use super::Value;
use super::blocks::{self, Block, HIGH_NIBBLE, LOW_NIBBLE};
use super::cursor::Cursor;
use super::fault::Fault;
use super::kernel::{Kernel, StringEnd};
use super::portable::Portable;
use super::unescape::{CopyRun, decode};

/// AVX2 and its companions, as in [`crate::isa::Isa::Avx2`].
pub(super) struct Avx2;

#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

impl Halves {
    /// The mask of the bytes for which `test` sets the top bit.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn mask(self, test: impl Fn(__m256i) -> __m256i) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        let bits = |half| unsafe { _mm256_movemask_epi8(test(half)) } as u32 as u64;
        bits(self.0) | bits(self.1) << 32
    }
}

/// All ones where `low <= byte < low + count`.
#[inline]
#[target_feature(enable = "avx2")]
fn between(bytes: __m256i, low: u8, count: u8) -> __m256i {
    let offset = _mm256_sub_epi8(bytes, _mm256_set1_epi8(low as i8));
    let last = _mm256_set1_epi8(count as i8 - 1);
    _mm256_cmpeq_epi8(_mm256_max_epu8(offset, last), last)
}

#[inline]
#[target_feature(enable = "avx2")]
fn table(entries: &[u8; 16]) -> __m256i {
    // SAFETY: the array has the 16 bytes that are loaded.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(entries.as_ptr().cast()) })
}

/// All ones for the letters that may follow a backslash.
#[inline]
#[target_feature(enable = "avx2")]
fn escape_letters(bytes: __m256i) -> __m256i {
    let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    // Bytes above 0x7F look up 0 in the first table, as the shuffle has it.
    let shared = _mm256_and_si256(
        _mm256_shuffle_epi8(table(&LOW_NIBBLE), bytes),
        _mm256_shuffle_epi8(table(&HIGH_NIBBLE), high),
    );
    _mm256_cmpgt_epi8(shared, _mm256_setzero_si256())
}

#[inline]
#[target_feature(enable = "avx2")]
fn hex_digits(bytes: __m256i) -> __m256i {
    let lower_case = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    _mm256_or_si256(between(bytes, b'0', 10), between(lower_case, b'a', 6))
}

// SAFETY of the closures below: only called where the machine has AVX2.
impl Block for Halves {
    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 bytes and for AVX2.
        unsafe { Halves(_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())) }
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.mask(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))) }
    }

    #[inline(always)]
    unsafe fn controls(self) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.mask(|half| between(half, 0, 0x20)) }
    }

    #[inline(always)]
    unsafe fn escape_letters(self) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.mask(|half| escape_letters(half)) }
    }

    #[inline(always)]
    unsafe fn hex_digits(self) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.mask(|half| hex_digits(half)) }
    }
}

impl CopyRun for Avx2 {
    #[inline(always)]
    unsafe fn copy_run(raw: &[u8], at: usize, out: *mut u8) -> usize {
        let mut done = 0;
        while raw.len() - at - done >= 32 {
            // SAFETY: 32 bytes are left at `at + done`, and in `out`; the caller vouches for AVX2.
            let flags = unsafe {
                let bytes = _mm256_loadu_si256(raw.as_ptr().add(at + done).cast());
                _mm256_storeu_si256(out.add(done).cast(), bytes);
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8))) as u32
            };
            if flags != 0 {
                return done + flags.trailing_zeros() as usize;
            }
            done += 32;
        }
        // SAFETY: at + done <= raw.len(), and `out` has space for the rest.
        done + unsafe { Portable::copy_run(raw, at + done, out.add(done)) }
    }
}

impl Kernel for Avx2 {
    #[inline(always)]
    unsafe fn string_end(data: &[u8], start: usize) -> Option<StringEnd> {
        // SAFETY: the caller's promise.
        unsafe { blocks::string_end::<Halves>(data, start) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn line(cursor: &mut Cursor<'_, Self>, values: &mut [Value]) -> Result<bool, Fault> {
        cursor.line(values)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn unescape(raw: &[u8], out: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { decode::<Self>(raw, out) }
    }
}
