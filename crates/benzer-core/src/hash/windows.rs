//! Hashes of all character shingles of a text, computed with a sliding window of code points.

use super::padded::{Padded, SLACK};
use super::shingle::{PADDING, padded_char_shingle, short_shingle};
use crate::isa::{Isa, Level};

/// Bytes of a text whose code points are found before they are hashed, so that their places stay in the nearest cache.
const CHUNK: usize = 4096;
/// Windows hashed together.
const GROUP: usize = 8;
/// Code points in the largest window.
const LARGEST: usize = 64;
/// Places of code points: those of a chunk, those kept from the one before, and what a kernel writes too far.
const PLACES: usize = CHUNK + LARGEST + 2 * SLACK;

/// The places of code points that are waiting for the end of their windows; used again from text to text.
#[derive(Default)]
pub struct Places(Vec<u32>);

/// Appends the hashes of all runs of `size` code points of `text`, at most 64, or of all of them if they are fewer;
/// returns how many code points there are.
///
/// # Safety
/// `text` must be UTF-8.
#[inline(always)]
pub unsafe fn char_shingles<L: Level>(text: Padded<'_>, size: usize, places: &mut Places, out: &mut Vec<u64>) -> usize {
    assert!((1..=LARGEST).contains(&size), "a shingle has 1 to 64 characters, got {size}");
    if text.is_empty() {
        return 0;
    }
    out.reserve(text.len() + GROUP);
    let hashes = out.spare_capacity_mut().as_mut_ptr().cast::<u64>();
    // SAFETY: there is space for a hash for each byte, and a group more; the level is one that the machine offers.
    let (written, units) = unsafe {
        if size <= 8 && text.len() >= size && text.bytes().is_ascii() {
            (ascii_windows::<L>(text.as_ptr(), text.len() - size + 1, size, hashes), text.len())
        } else {
            any_windows::<L>(text, size, places, hashes)
        }
    };
    // SAFETY: so many hashes were written.
    unsafe { out.set_len(out.len() + written) };
    units
}

/// # Safety
/// `text` must be UTF-8; a hash for each byte and a group more must be writable.
#[inline(always)]
unsafe fn any_windows<L: Level>(text: Padded<'_>, size: usize, places: &mut Places, out: *mut u64) -> (usize, usize) {
    places.0.resize(PLACES, 0);
    let places = places.0.as_mut_slice();
    let (mut written, mut units, mut kept) = (0, 0, 0);
    // Places are counted from here; those kept from the chunk before stay below the length of the largest window.
    let mut base = 0;
    for from in (0..text.len()).step_by(CHUNK) {
        let to = text.len().min(from + CHUNK);
        // SAFETY: the places of a chunk and those kept fit, each chunk has windows for at most as many code points.
        unsafe {
            let found = starts::<L>(text, from, to, (from - base) as u32, places.as_mut_ptr().add(kept));
            units += found;
            let mut count = kept + found;
            if to == text.len() {
                places[count] = (to - base) as u32;
                count += 1;
                if units < size {
                    out.write(padded_char_shingle(text.as_ptr(), text.len()));
                    return (1, units);
                }
            }
            let windows = count.saturating_sub(size);
            hash_windows::<L>(text.as_ptr().add(base), &places[..count], size, windows, out.add(written));
            written += windows;
            kept = count - windows;
            let next = base + places[windows] as usize;
            for i in 0..kept {
                places[i] = places[windows + i] - (next - base) as u32;
            }
            base = next;
        }
    }
    (written, units)
}

/// Writes the places of the code points of `text[from..to]`, from `first` on; returns how many they are.
///
/// # Safety
/// `from..to` must be in the text; `to - from` numbers and 64 more must be writable.
#[inline(always)]
unsafe fn starts<L: Level>(text: Padded<'_>, from: usize, to: usize, first: u32, places: *mut u32) -> usize {
    // SAFETY: the caller vouches for it.
    unsafe {
        match L::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::starts_avx512(text, from, to, first, places),
            _ => starts_one_by_one(text, from, to, first, places),
        }
    }
}

/// # Safety
/// As for [`starts`].
#[inline(always)]
unsafe fn starts_one_by_one(text: Padded<'_>, from: usize, to: usize, first: u32, places: *mut u32) -> usize {
    let (words, rest) = text.get(from..to).as_chunks::<8>();
    let (mut count, mut at) = (0, first);
    for word in words {
        // SAFETY: never more are written than there are bytes.
        unsafe {
            if u64::from_le_bytes(*word) & 0x8080_8080_8080_8080 == 0 {
                (0..8).for_each(|i| places.add(count + i).write(at + i as u32));
                count += 8;
            } else {
                for (i, &byte) in word.iter().enumerate() {
                    places.add(count).write(at + i as u32);
                    count += usize::from((byte as i8) >= -0x40);
                }
            }
        }
        at += 8;
    }
    for (i, &byte) in rest.iter().enumerate() {
        // SAFETY: as above.
        unsafe { places.add(count).write(at + i as u32) };
        count += usize::from((byte as i8) >= -0x40);
    }
    count
}

/// Writes the hashes of `windows` windows of `size` code points, whose places from `text` on are given.
///
/// # Safety
/// [`SLACK`] bytes must be readable after the last window; a group more than `windows` hashes must be writable.
#[inline(always)]
unsafe fn hash_windows<L: Level>(text: *const u8, places: &[u32], size: usize, windows: usize, out: *mut u64) {
    assert!(windows + size <= places.len() || windows == 0);
    let mut done = 0;
    // SAFETY: the windows are in the text; the level is one that the machine offers.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if L::ISA == Isa::Avx512 {
            done = x86::groups(text, places, size, windows, out);
        }
        while done < windows {
            let count = GROUP.min(windows - done);
            let short = count == GROUP && size <= 8;
            if !short || !eight_ascii_windows::<L>(text, &places[done..], size, out.add(done)) {
                for i in done..done + count {
                    let (start, end) = (places[i] as usize, places[i + size] as usize);
                    out.add(i).write(padded_char_shingle(text.add(start), end - start));
                }
            }
            done += count;
        }
    }
}

/// Hashes eight windows if they hold nothing but ASCII; else says no.
///
/// # Safety
/// As for [`hash_windows`].
#[inline(always)]
unsafe fn eight_ascii_windows<L: Level>(text: *const u8, starts: &[u32], size: usize, out: *mut u64) -> bool {
    let first = starts[0] as usize;
    let ascii = starts[GROUP + size - 1] as usize - first == GROUP + size - 1;
    if ascii {
        // SAFETY: the caller vouches for it.
        unsafe { ascii_windows::<L>(text.add(first), GROUP, size, out) };
    }
    ascii
}

/// Writes the hashes of `count` windows of `size` bytes of ASCII, `size` at most 8; returns `count`.
///
/// # Safety
/// [`SLACK`] bytes must be readable after the last window; a group more than `count` hashes must be writable.
#[inline(always)]
unsafe fn ascii_windows<L: Level>(text: *const u8, count: usize, size: usize, out: *mut u64) -> usize {
    #[cfg(target_arch = "x86_64")]
    if L::ISA == Isa::Avx512 {
        // SAFETY: the caller vouches for it, and the level is one that the machine offers.
        unsafe { x86::ascii_windows_avx512(text, count, size, out) };
        return count;
    }
    let mask = u64::MAX >> (64 - 8 * size);
    for i in 0..count {
        // SAFETY: up to 8 bytes from the start of a window are readable.
        unsafe {
            let word = u64::from_le(text.add(i).cast::<u64>().read_unaligned());
            out.add(i).write(short_shingle(word & mask, size));
        }
    }
    count
}

const _: () = assert!(PADDING <= SLACK && GROUP * 4 + 8 <= 64);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, Padded, padded_char_shingle};
    use crate::hash::mix::{K1, K2, K3};
    use std::arch::x86_64::*;

    const fn counted() -> [u8; 64] {
        let mut numbers = [0; 64];
        let mut i = 0;
        while i < 64 {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    }
    static COUNTED: [u8; 64] = counted();

    /// In each of 8 lanes the numbers from the lane's own on: the places of the bytes of its window.
    static STEPS: [u8; 64] = {
        let mut steps = [0; 64];
        let mut i = 0;
        while i < 64 {
            steps[i] = (i / 8 + i % 8) as u8;
            i += 1;
        }
        steps
    };

    /// The part of the hash of a short shingle that depends on its length, from 1 to 8.
    static LENGTHS: [u64; 8] = {
        let mut lengths = [0; 8];
        let mut i = 0;
        while i < 8 {
            lengths[i] = K3.wrapping_mul(i as u64 + 1);
            i += 1;
        }
        lengths
    };

    /// `short_shingle` of eight words, given what their lengths add.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    fn eight_shingles(words: __m512i, lengths: __m512i) -> __m512i {
        let k1 = _mm512_set1_epi64(K1 as i64);
        let k2 = _mm512_set1_epi64(K2 as i64);
        let sum = _mm512_add_epi64(_mm512_mullo_epi64(words, k1), lengths);
        let sum = _mm512_mullo_epi64(_mm512_xor_si512(sum, _mm512_srli_epi64::<32>(sum)), k2);
        _mm512_xor_si512(sum, _mm512_srli_epi64::<29>(sum))
    }

    /// # Safety
    /// As for [`super::ascii_windows`]; the machine must offer AVX-512 as in [`crate::isa::Isa::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    pub unsafe fn ascii_windows_avx512(text: *const u8, count: usize, size: usize, out: *mut u64) {
        // SAFETY: 64 bytes are readable from the start of each window; whole groups are written.
        unsafe {
            let steps = _mm512_loadu_si512(STEPS.as_ptr().cast());
            let mask = _mm512_set1_epi64((u64::MAX >> (64 - 8 * size)) as i64);
            let lengths = _mm512_set1_epi64(LENGTHS[size - 1] as i64);
            let mut done = 0;
            while done < count {
                // 56 windows of at most 8 bytes begin in 64 bytes.
                let block = _mm512_loadu_si512(text.add(done).cast());
                let groups = (count - done).min(56).div_ceil(GROUP);
                let mut places = steps;
                for group in 0..groups {
                    let words = _mm512_and_si512(_mm512_permutexvar_epi8(places, block), mask);
                    let hashes = eight_shingles(words, lengths);
                    _mm512_storeu_si512(out.add(done + GROUP * group).cast(), hashes);
                    places = _mm512_add_epi8(places, _mm512_set1_epi8(GROUP as i8));
                }
                done += GROUP * groups;
            }
        }
    }

    /// Writes the hashes of all whole groups of eight windows; returns how many windows they are. Those of more than 8
    /// bytes are hashed one by one.
    ///
    /// # Safety
    /// As for [`super::hash_windows`]; the machine must offer AVX-512 as in [`crate::isa::Isa::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2")]
    #[target_feature(enable = "lzcnt,popcnt")]
    pub unsafe fn groups(text: *const u8, places: &[u32], size: usize, windows: usize, out: *mut u64) -> usize {
        let spread = _mm512_set4_epi32(0x0808_0808, 0x0808_0808, 0, 0);
        let counted = _mm512_set1_epi64(0x0706_0504_0302_0100);
        // SAFETY: so many windows have their starts and ends in `places`; eight begin within 32 bytes, and those of at
        // most 8 bytes end within 64.
        unsafe {
            let added = _mm512_loadu_si512(LENGTHS.as_ptr().cast());
            let mut done = 0;
            while done + GROUP <= windows {
                let starts = places.as_ptr().add(done);
                let from = _mm256_loadu_si256(starts.cast());
                let lengths = _mm256_sub_epi32(_mm256_loadu_si256(starts.add(size).cast()), from);
                let mut long = _mm256_cmpgt_epu32_mask(lengths, _mm256_set1_epi32(8));
                if long != u8::MAX {
                    let first = *starts;
                    let offsets = _mm512_cvtepu32_epi64(_mm256_sub_epi32(from, _mm256_set1_epi32(first as i32)));
                    let lengths = _mm512_cvtepu32_epi64(lengths);
                    let steps = _mm512_add_epi8(_mm512_shuffle_epi8(offsets, spread), counted);
                    let block = _mm512_loadu_si512(text.add(first as usize).cast());
                    let unused = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_slli_epi64::<3>(lengths));
                    let mask = _mm512_srlv_epi64(_mm512_set1_epi64(-1), unused);
                    let words = _mm512_and_si512(_mm512_permutexvar_epi8(steps, block), mask);
                    let added = _mm512_permutexvar_epi64(_mm512_sub_epi64(lengths, _mm512_set1_epi64(1)), added);
                    _mm512_storeu_si512(out.add(done).cast(), eight_shingles(words, added));
                }
                while long != 0 {
                    let i = done + long.trailing_zeros() as usize;
                    let (start, end) = (*places.as_ptr().add(i) as usize, *places.as_ptr().add(i + size) as usize);
                    out.add(i).write(padded_char_shingle(text.add(start), end - start));
                    long &= long - 1;
                }
                done += GROUP;
            }
            done
        }
    }

    /// # Safety
    /// As for [`super::starts`]; the machine must offer AVX-512 as in [`crate::isa::Isa::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi2")]
    pub unsafe fn starts_avx512(text: Padded<'_>, from: usize, to: usize, first: u32, places: *mut u32) -> usize {
        let mut count = 0;
        // SAFETY: 64 bytes are readable after the text; at most 64 numbers are written for each 64 bytes.
        unsafe {
            let numbers = _mm512_loadu_si512(COUNTED.as_ptr().cast());
            for at in (from..to).step_by(64) {
                let block = _mm512_loadu_si512(text.as_ptr().add(at).cast());
                let leads = _mm512_cmpge_epi8_mask(block, _mm512_set1_epi8(-0x40));
                let leads = _bzhi_u64(leads, (to - at).min(64) as u32);
                let found = _mm512_maskz_compress_epi8(leads, numbers);
                let base = _mm512_set1_epi32(first as i32 + (at - from) as i32);
                let store = |i: usize, part: __m128i| {
                    let wide = _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part));
                    _mm512_storeu_si512(places.add(count + i).cast(), wide);
                };
                store(0, _mm512_castsi512_si128(found));
                store(16, _mm512_extracti32x4_epi32::<1>(found));
                store(32, _mm512_extracti32x4_epi32::<2>(found));
                store(48, _mm512_extracti32x4_epi32::<3>(found));
                count += leads.count_ones() as usize;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::shingle::char_shingle;
    use crate::isa::{Task, run_at};

    struct Hash<'a>(&'a str, usize);
    impl Task for Hash<'_> {
        type Output = (Vec<u64>, usize);
        #[inline(always)]
        fn run<L: Level>(self) -> Self::Output {
            let padded = format!("{}{}", self.0, "\u{7f}".repeat(SLACK));
            let mut hashes = vec![7];
            let text = Padded::new(padded.as_bytes(), self.0.len());
            // SAFETY: the text is UTF-8.
            let units = unsafe { char_shingles::<L>(text, self.1, &mut Places::default(), &mut hashes) };
            (hashes, units)
        }
    }

    fn assert_hashed(text: &str, size: usize) {
        let chars: Vec<char> = text.chars().collect();
        let hash = |window: &[char]| char_shingle(window.iter().collect::<String>().as_bytes());
        let mut want = vec![7];
        if !chars.is_empty() {
            want.extend(chars.windows(size.min(chars.len())).map(hash));
        }
        for isa in Isa::available() {
            let (found, units) = run_at(isa, Hash(text, size));
            assert_eq!(units, chars.len());
            assert!(found == want, "{isa:?}, windows of {size} of {text:?}");
        }
    }

    #[test]
    fn windows_of_any_size_over_any_bytes_are_those_hashed_one_by_one() {
        let text =
            "a quick brown fox, naïve — Привет мир 東京都 abcdefghijklmnop 😀x😀yéé é é aaaaaaaaaaaaaaaaaaaaaaaaaaaéa";
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for size in (1..=17).chain([40, 63, 64]) {
            for &from in &places {
                assert_hashed(&text[from..], size);
                assert_hashed(&text[..from], size);
            }
        }
    }

    #[test]
    fn no_window_is_lost_where_a_chunk_ends() {
        let long: String = "ab é東😀cdefgh".chars().cycle().take(3 * CHUNK).collect();
        for cut in 0..12 {
            let text: String = long.chars().skip(cut).collect();
            for size in [1, 5, 8, 9, 64] {
                assert_hashed(&text, size);
            }
        }
        assert_hashed(&"a".repeat(2 * CHUNK + 1), 9);
        assert_hashed(&format!("é{}", "a".repeat(CHUNK - 2)), 64);
    }
}
