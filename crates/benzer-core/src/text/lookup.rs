//! How is ASCII looked up, a vector at a time?

use crate::isa::{Isa, Level};

/// What a kernel has done: bytes of the text that it has read and bytes that it has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bytes read: all up to the first that is not ASCII.
    pub read: usize,
    /// Bytes written.
    pub written: usize,
}

/// Writes `table[byte]` for each byte of `text` up to the first that is not ASCII; with `squeezes`, of spaces next to each
/// other only the first, and none after a space before `out`.
///
/// # Safety
/// The byte before `out` must be readable, and `text.len() + 64` bytes from it writable. The machine must offer `L`.
#[inline(always)]
pub unsafe fn ascii<L: Level>(text: &[u8], table: &[u8; 128], squeezes: bool, out: *mut u8) -> Done {
    // SAFETY: the caller vouches for it.
    unsafe {
        match L::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::ascii_avx512(text, table, squeezes, out),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::ascii_avx2(text, table, squeezes, out),
            _ => ascii_portable(text, table, squeezes, out),
        }
    }
}

/// # Safety
/// As for [`ascii`].
unsafe fn ascii_portable(text: &[u8], table: &[u8; 128], squeezes: bool, out: *mut u8) -> Done {
    let read = ascii_prefix(text);
    if !squeezes {
        for (i, &byte) in text[..read].iter().enumerate() {
            // SAFETY: `i` is less than the length of the text.
            unsafe { out.add(i).write(table[usize::from(byte & 127)]) };
        }
        return Done { read, written: read };
    }
    let mut written = 0;
    // SAFETY: the byte before `out` is readable; never is more written than read.
    unsafe {
        let mut space = out.sub(1).read() == b' ';
        for &byte in &text[..read] {
            let byte = table[usize::from(byte & 127)];
            out.add(written).write(byte);
            let blank = byte == b' ';
            written += usize::from(!(blank & space));
            space = blank;
        }
    }
    Done { read, written }
}

/// How many bytes stand before the first that is not ASCII.
fn ascii_prefix(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    let high = |word: &[u8; 8]| u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
    match words.iter().position(|word| high(word) != 0) {
        Some(i) => 8 * i + (high(&words[i]).trailing_zeros() / 8) as usize,
        None => 8 * words.len() + rest.iter().take_while(|byte| byte.is_ascii()).count(),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Done;
    use std::arch::x86_64::*;

    /// # Safety
    /// As for [`super::ascii`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn ascii_avx512(text: &[u8], table: &[u8; 128], squeezes: bool, out: *mut u8) -> Done {
        let mut done = Done::default();
        // SAFETY: loads are masked to the text; 64 bytes are stored where at most as many bytes were written as read.
        unsafe {
            let low = _mm512_loadu_si512(table.as_ptr().cast());
            let high = _mm512_loadu_si512(table.as_ptr().add(64).cast());
            let blank = _mm512_set1_epi8(b' ' as i8);
            let mut space = u64::from(out.sub(1).read() == b' ');
            while done.read < text.len() {
                let left = text.len() - done.read;
                let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
                let bytes = _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(done.read).cast());
                let found = _mm512_permutex2var_epi8(low, bytes, high);
                let count = (_mm512_movepi8_mask(bytes) | !valid).trailing_zeros();
                if squeezes {
                    let spaces = _mm512_cmpeq_epi8_mask(found, blank);
                    let kept = _bzhi_u64(!(spaces & (spaces << 1 | space)), count);
                    space = spaces >> 63;
                    _mm512_storeu_si512(out.add(done.written).cast(), _mm512_maskz_compress_epi8(kept, found));
                    done.written += kept.count_ones() as usize;
                } else {
                    _mm512_storeu_si512(out.add(done.written).cast(), found);
                    done.written += count as usize;
                }
                done.read += count as usize;
                if count < 64 {
                    break;
                }
            }
        }
        done
    }

    /// For each mask of 8 bytes the places of those it keeps.
    static KEPT: [[u8; 8]; 256] = {
        let mut kept = [[0x80; 8]; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut place, mut count) = (0, 0);
            while place < 8 {
                if mask >> place & 1 == 1 {
                    kept[mask][count] = place as u8;
                    count += 1;
                }
                place += 1;
            }
            mask += 1;
        }
        kept
    };

    /// # Safety
    /// As for [`super::ascii`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn ascii_avx2(text: &[u8], table: &[u8; 128], squeezes: bool, out: *mut u8) -> Done {
        let mut done = Done::default();
        let mut tail = [0u8; 32];
        // SAFETY: 32 bytes are readable at `source`; 32 bytes, or four times 8, are stored where at most as many bytes
        // were written as read.
        unsafe {
            let parts: [__m256i; 8] = std::array::from_fn(|i| {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().add(16 * i).cast()))
            });
            let mut space = u32::from(out.sub(1).read() == b' ');
            while done.read < text.len() {
                let left = text.len() - done.read;
                let source = if left >= 32 {
                    text.as_ptr().add(done.read)
                } else {
                    tail[..left].copy_from_slice(&text[done.read..]);
                    tail[left] = 0x80;
                    tail.as_ptr()
                };
                let bytes = _mm256_loadu_si256(source.cast());
                let count = (_mm256_movemask_epi8(bytes) as u32).trailing_zeros();
                let found = look_up(bytes, &parts);
                let target = out.add(done.written);
                if squeezes {
                    let spaces = _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_set1_epi8(b' ' as i8))) as u32;
                    let kept = _bzhi_u32(!(spaces & (spaces << 1 | space)), count);
                    space = spaces >> 31;
                    done.written += compress(found, kept, target);
                } else {
                    _mm256_storeu_si256(target.cast(), found);
                    done.written += count as usize;
                }
                done.read += count as usize;
                if count < 32 {
                    break;
                }
            }
        }
        done
    }

    /// The bytes that 32 ASCII characters stand for, from the 8 parts of a table by the high bits.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn look_up(bytes: __m256i, parts: &[__m256i; 8]) -> __m256i {
        let mut found = _mm256_setzero_si256();
        for (i, &part) in parts.iter().enumerate() {
            // Below 0x80 only where the high bits are those of this part: a shuffle makes zeros of the others.
            let place = _mm256_xor_si256(bytes, _mm256_set1_epi8((i << 4) as i8));
            let place = _mm256_adds_epu8(place, _mm256_set1_epi8(0x70));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(part, place));
        }
        found
    }

    /// Writes the bytes that `kept` marks; returns how many they are.
    ///
    /// # Safety
    /// 32 bytes must be writable at `out`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn compress(found: __m256i, kept: u32, out: *mut u8) -> usize {
        let halves = [_mm256_castsi256_si128(found), _mm256_extracti128_si256::<1>(found)];
        let mut written = 0;
        for (i, half) in halves.into_iter().enumerate() {
            for (j, part) in [half, _mm_unpackhi_epi64(half, half)].into_iter().enumerate() {
                let mask = (kept >> (16 * i + 8 * j)) as u8;
                // SAFETY: each part writes 8 bytes after those written, at most 8 for each part before.
                unsafe {
                    let places = _mm_loadl_epi64(KEPT[usize::from(mask)].as_ptr().cast());
                    _mm_storel_epi64(out.add(written).cast(), _mm_shuffle_epi8(part, places));
                }
                written += mask.count_ones() as usize;
            }
        }
        written
    }
}
