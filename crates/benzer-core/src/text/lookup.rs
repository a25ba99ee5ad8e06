//! Maps and compacts a text in place, a vector at a time.

use super::alone::Alone;
use super::prepared::decode;
use crate::isa::{Isa, Level};

/// Writes the result of each code point of `text`, up to the first whose number of bytes changes; returns the number
/// of bytes.
///
/// # Safety
/// `text.len() + 64` bytes must be writable at `out`. The machine must offer `L`.
#[inline(always)]
pub unsafe fn map<L: Level>(text: &[u8], alone: &Alone, out: *mut u8) -> usize {
    // SAFETY: the caller vouches for it.
    unsafe {
        match L::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::map_avx512(text, alone, out),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::map_avx2(text, alone, out),
            _ => map_portable(text, alone, out),
        }
    }
}

/// Writes `text`, with `table[byte]` for each byte of ASCII, but of spaces next to each other only the first, and none
/// after a space before `out`; returns how many bytes were written.
///
/// # Safety
/// The byte before `out` must be readable, and `text.len() + 64` bytes from it writable. The machine must offer `L`.
#[inline(always)]
pub unsafe fn squeeze<L: Level>(text: &[u8], table: &[u8; 128], out: *mut u8) -> usize {
    // SAFETY: the caller vouches for it.
    unsafe {
        match L::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::squeeze_avx512(text, table, out),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::squeeze_avx2(text, table, out),
            _ => squeeze_portable(text, table, out),
        }
    }
}

/// Writes the results of the code points at the bits of `leads`, counted from `from`, up to the first whose number of
/// bytes changes. Returns the number of processed bytes from there on, at least `width`, and whether all code points
/// were processed.
///
/// # Safety
/// As for [`map`].
#[inline(always)]
unsafe fn map_leads(
    text: &[u8], from: usize, mut leads: u64, width: usize, alone: &Alone, out: *mut u8,
) -> (usize, bool) {
    let mut end = width;
    while leads != 0 {
        let at = leads.trailing_zeros() as usize;
        leads &= leads - 1;
        let (len, code) = decode(text, from + at);
        let entry = alone.entry(code);
        if !entry.is_in_place() {
            return (at, false);
        }
        let bytes = entry.bytes();
        // SAFETY: the code point is in the text.
        unsafe {
            let target = out.add(from + at);
            target.cast::<[u8; 2]>().write([bytes[0], bytes[1]]);
            if len > 2 {
                target.add(2).write(bytes[2]);
                // Never more than it has: the next byte may be written already.
                target.add(len - 1).write(bytes[len - 1]);
            }
        }
        end = end.max(at + len);
    }
    (end, true)
}

/// # Safety
/// As for [`map`].
unsafe fn map_portable(text: &[u8], alone: &Alone, out: *mut u8) -> usize {
    let mut at = 0;
    while at < text.len() {
        let ascii = ascii_prefix(&text[at..]);
        for (i, &byte) in text[at..at + ascii].iter().enumerate() {
            // SAFETY: as many bytes are written as are read.
            unsafe { out.add(at + i).write(alone.ascii[usize::from(byte & 127)]) };
        }
        at += ascii;
        while at < text.len() && !text[at].is_ascii() {
            // SAFETY: as the caller vouches.
            let (done, all) = unsafe { map_leads(text, at, 1, 0, alone, out) };
            if !all {
                return at;
            }
            at += done;
        }
    }
    at
}

/// # Safety
/// As for [`squeeze`].
unsafe fn squeeze_portable(text: &[u8], table: &[u8; 128], out: *mut u8) -> usize {
    let mut whole = [0; 256];
    for (byte, to) in (0..=255u8).zip(&mut whole) {
        *to = table.get(usize::from(byte)).copied().unwrap_or(byte);
    }
    let mut written = 0;
    // SAFETY: the byte before `out` is readable; never is more written than read.
    unsafe {
        let mut space = out.sub(1).read() == b' ';
        for &byte in text {
            let byte = whole[usize::from(byte)];
            out.add(written).write(byte);
            let blank = byte == b' ';
            written += usize::from(!(blank & space));
            space = blank;
        }
    }
    written
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
    use super::{Alone, map_leads};
    use std::arch::x86_64::*;

    /// # Safety
    /// As for [`super::map`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn map_avx512(text: &[u8], alone: &Alone, out: *mut u8) -> usize {
        let mut at = 0;
        // SAFETY: loads are masked to the text; 64 bytes are stored where at most as many bytes were written as read.
        unsafe {
            let low = _mm512_loadu_si512(alone.ascii.as_ptr().cast());
            let high = _mm512_loadu_si512(alone.ascii.as_ptr().add(64).cast());
            while at < text.len() {
                let left = (text.len() - at).min(64);
                let valid = u64::MAX >> (64 - left);
                let bytes = _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(at).cast());
                _mm512_storeu_si512(out.add(at).cast(), _mm512_permutex2var_epi8(low, bytes, high));
                if _mm512_movepi8_mask(bytes) == 0 {
                    at += left;
                    continue;
                }
                let leads = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xC0u8 as i8));
                let (done, all) = map_leads(text, at, leads, left, alone, out);
                at += done;
                if !all {
                    break;
                }
            }
        }
        at
    }

    /// # Safety
    /// As for [`super::squeeze`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn squeeze_avx512(text: &[u8], table: &[u8; 128], out: *mut u8) -> usize {
        let mut written = 0;
        // SAFETY: loads are masked to the text; 64 bytes are stored where at most as many bytes were written as read.
        unsafe {
            let low = _mm512_loadu_si512(table.as_ptr().cast());
            let high = _mm512_loadu_si512(table.as_ptr().add(64).cast());
            let blank = _mm512_set1_epi8(b' ' as i8);
            let mut space = u64::from(out.sub(1).read() == b' ');
            for at in (0..text.len()).step_by(64) {
                let valid = u64::MAX >> (64 - (text.len() - at).min(64));
                let bytes = _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(at).cast());
                let found = _mm512_permutex2var_epi8(low, bytes, high);
                let found = _mm512_mask_mov_epi8(found, _mm512_movepi8_mask(bytes), bytes);
                let spaces = _mm512_cmpeq_epi8_mask(found, blank);
                let kept = !(spaces & (spaces << 1 | space)) & valid;
                space = spaces >> 63;
                _mm512_storeu_si512(out.add(written).cast(), _mm512_maskz_compress_epi8(kept, found));
                written += kept.count_ones() as usize;
            }
        }
        written
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

    /// The table of ASCII in parts of 16 bytes, each twice.
    ///
    /// # Safety
    /// The machine must offer AVX2.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn parts(table: &[u8; 128]) -> [__m256i; 8] {
        // SAFETY: the table has 8 parts.
        let part = |i: usize| unsafe { _mm_loadu_si128(table.as_ptr().add(16 * i).cast()) };
        [0, 1, 2, 3, 4, 5, 6, 7].map(|i| _mm256_broadcastsi128_si256(part(i)))
    }

    /// Up to 32 bytes from the start of `text`, zeros after its end.
    ///
    /// # Safety
    /// The machine must offer AVX2.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn load(text: &[u8]) -> __m256i {
        let mut tail = [0u8; 32];
        let source = if text.len() >= 32 {
            text.as_ptr()
        } else {
            tail[..text.len()].copy_from_slice(text);
            tail.as_ptr()
        };
        // SAFETY: 32 bytes are readable there.
        unsafe { _mm256_loadu_si256(source.cast()) }
    }

    /// # Safety
    /// As for [`super::map`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn map_avx2(text: &[u8], alone: &Alone, out: *mut u8) -> usize {
        let mut at = 0;
        // SAFETY: 32 bytes are stored where at most as many bytes were written as read.
        unsafe {
            let parts = parts(&alone.ascii);
            while at < text.len() {
                let left = (text.len() - at).min(32);
                let bytes = load(&text[at..]);
                _mm256_storeu_si256(out.add(at).cast(), look_up(bytes, &parts));
                if _mm256_movemask_epi8(bytes) == 0 {
                    at += left;
                    continue;
                }
                let limit = _mm256_set1_epi8(0xC0u8 as i8);
                let leads = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, limit), bytes)) as u32;
                let (done, all) = map_leads(text, at, u64::from(leads), left, alone, out);
                at += done;
                if !all {
                    break;
                }
            }
        }
        at
    }

    /// # Safety
    /// As for [`super::squeeze`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn squeeze_avx2(text: &[u8], table: &[u8; 128], out: *mut u8) -> usize {
        let mut written = 0;
        // SAFETY: four times 8 bytes are stored where at most as many bytes were written as read.
        unsafe {
            let parts = parts(table);
            let mut space = u32::from(out.sub(1).read() == b' ');
            for at in (0..text.len()).step_by(32) {
                let valid = u32::MAX >> (32 - (text.len() - at).min(32));
                let bytes = load(&text[at..]);
                let found = _mm256_blendv_epi8(look_up(bytes, &parts), bytes, bytes);
                let spaces = _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_set1_epi8(b' ' as i8))) as u32;
                let kept = !(spaces & (spaces << 1 | space)) & valid;
                space = spaces >> 31;
                written += compress(found, kept, out.add(written));
            }
        }
        written
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
