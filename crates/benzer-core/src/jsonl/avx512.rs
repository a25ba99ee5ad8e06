//! Searches and decodes strings with AVX-512.

use std::arch::x86_64::*;

use super::Value;
use super::blocks::{self, Block, HIGH_NIBBLE, LOW_NIBBLE, escapes};
use super::cursor::Cursor;
use super::fault::Fault;
use super::kernel::{Kernel, StringEnd};
use super::unescape::{SIMPLE, escape};

/// AVX-512 as in [`crate::isa::Isa::Avx512`].
pub(super) struct Avx512;

#[derive(Clone, Copy)]
struct Whole(__m512i);

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn table(entries: &[u8; 16]) -> __m512i {
    // SAFETY: the array has the 16 bytes that are loaded.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(entries.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn escape_letters(bytes: __m512i) -> u64 {
    let high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
    // Bytes above 0x7F look up 0 in the first table, as the shuffle has it.
    let low_match = _mm512_shuffle_epi8(table(&LOW_NIBBLE), bytes);
    _mm512_test_epi8_mask(low_match, _mm512_shuffle_epi8(table(&HIGH_NIBBLE), high))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn hex_digits(bytes: __m512i) -> u64 {
    let offset = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8));
    let lower_case = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    let letter = _mm512_sub_epi8(lower_case, _mm512_set1_epi8(b'a' as i8));
    _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(10)) | _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(6))
}

impl Block for Whole {
    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 bytes and for AVX-512.
        Whole(unsafe { _mm512_loadu_si512(bytes.cast()) })
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    unsafe fn controls(self) -> u64 {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_cmplt_epu8_mask(self.0, _mm512_set1_epi8(0x20)) }
    }

    #[inline(always)]
    unsafe fn escape_letters(self) -> u64 {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { escape_letters(self.0) }
    }

    #[inline(always)]
    unsafe fn hex_digits(self) -> u64 {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { hex_digits(self.0) }
    }
}

/// Writes the letters marked in `letters` as what they stand for after a backslash.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn translate(bytes: __m512i, letters: u64) -> __m512i {
    // SAFETY: the two loads stay in the table of 256 bytes.
    let (low, high) =
        unsafe { (_mm512_loadu_si512(SIMPLE.as_ptr().cast()), _mm512_loadu_si512(SIMPLE.as_ptr().add(64).cast())) };
    let meant = _mm512_permutex2var_epi8(low, bytes, high);
    let known = letters & _mm512_test_epi8_mask(meant, meant) & !_mm512_movepi8_mask(bytes);
    _mm512_mask_mov_epi8(bytes, known, meant)
}

/// Bits 0 to `count` - 1.
#[inline(always)]
fn low_bits(count: usize) -> u64 {
    if count >= 64 { !0 } else { (1 << count) - 1 }
}

/// Decodes at most 64 bytes of `raw` and stops before `\u` escapes and before an escape that the block would cut.
/// Returns how many bytes it took, how many it wrote.
///
/// # Safety
/// `at < raw.len()`; 64 bytes may be overwritten at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn unescape_block(raw: &[u8], at: usize, out: *mut u8) -> (usize, usize) {
    let size = (raw.len() - at).min(64);
    // SAFETY: the mask keeps the load inside `raw`.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(low_bits(size), raw.as_ptr().add(at).cast()) };
    let backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8));
    if backslashes == 0 {
        // SAFETY: the caller vouches for 64 bytes.
        unsafe { _mm512_storeu_si512(out.cast(), bytes) };
        return (size, size);
    }
    let (leads, letters) = escapes(backslashes, 0);
    let units = letters & _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'u' as i8));
    let cut = leads & (1 << (size - 1));
    // The backslash of the first `\u`, or the one that is cut off from its letter.
    let taken = (units >> 1 | cut).trailing_zeros().min(size as u32) as usize;
    let kept = !leads & low_bits(taken);
    // SAFETY: the caller vouches for 64 bytes.
    unsafe { _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi8(kept, translate(bytes, letters))) };
    (taken, kept.count_ones() as usize)
}

impl Kernel for Avx512 {
    #[inline(always)]
    unsafe fn string_end(data: &[u8], start: usize) -> Option<StringEnd> {
        // SAFETY: the caller's promise.
        unsafe { blocks::string_end::<Whole>(data, start) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    unsafe fn line(cursor: &mut Cursor<'_, Self>, values: &mut [Value]) -> Result<bool, Fault> {
        cursor.line(values)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    unsafe fn unescape(raw: &[u8], out: *mut u8) -> usize {
        let (mut at, mut len) = (0, 0);
        while at < raw.len() {
            // SAFETY: no escape is shorter than what it stands for: len <= at < raw.len(), and 64 bytes are spare.
            let (taken, written) = unsafe { unescape_block(raw, at, out.add(len)) };
            at += taken;
            len += written;
            while raw.get(at) == Some(&b'\\') && (taken == 0 || raw.get(at + 1) == Some(&b'u')) {
                let (text, text_len, taken) = escape(&raw[at..]);
                // SAFETY: text_len <= taken <= raw.len() - at, and 64 bytes are spare.
                unsafe { out.add(len).cast::<[u8; 4]>().write(text) };
                at += taken;
                len += text_len;
            }
        }
        len
    }
}
