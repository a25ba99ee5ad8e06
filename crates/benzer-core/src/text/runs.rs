//! Where do the runs of word characters lie? One pass over the bytes, which lower-cases ASCII on the way.
//!
//! A run is a maximal sequence of ASCII letters and digits and of code points that are not inert. What is inert
//! ([`RunClass::Inert`]) separates under every normalisation, so each run can be normalised by itself.

use super::class::{RunClass, run_class};
use crate::isa::{Isa, Level};

/// Bytes that the kernels may write past the end of the lower-cased copy.
pub const SLACK: usize = 64;

/// The runs of one text and its lower-cased copy; buffers are reused from text to text.
#[derive(Default)]
pub struct Runs {
    copy: Vec<u8>,
    edges: Vec<u32>,
    count: usize,
}

impl Runs {
    /// The copy of the text (ASCII letters lowered if asked for); [`SLACK`] zero bytes may be read after it.
    #[inline(always)]
    pub fn copy(&self) -> *const u8 {
        self.copy.as_ptr()
    }

    /// Start and end of each run.
    #[inline(always)]
    pub fn bounds(&self) -> &[[u32; 2]] {
        self.edges[..2 * self.count].as_chunks().0
    }

    /// Finds the runs of `text`.
    #[inline(always)]
    pub fn find<L: Level>(&mut self, text: &str, lower: bool) {
        assert!(text.len() < u32::MAX as usize - SLACK, "callers refuse texts of 4 GiB");
        self.reserve(text.len());
        let (copy, edges) = (self.copy.as_mut_ptr(), self.edges.as_mut_ptr());
        // SAFETY: `reserve` made room for the text and SLACK bytes, and for every edge and a vector of edges more;
        // the level is one that the machine offers, as its caller was compiled for it.
        let ends = unsafe {
            match L::ISA {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::edges_avx512(text.as_bytes(), lower, copy, edges),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::edges_avx2(text.as_bytes(), lower, copy, edges),
                _ => edges_portable(text.as_bytes(), lower, copy, edges),
            }
        };
        self.count = ends / 2;
        self.copy[text.len()..text.len() + SLACK].fill(0);
    }

    fn reserve(&mut self, bytes: usize) {
        if self.copy.len() < bytes + 2 * SLACK {
            self.copy.resize((bytes + 2 * SLACK).next_power_of_two(), 0);
            self.edges.resize(self.copy.len() + 2 * SLACK, 0);
        }
    }
}

/// Length and code point of the character that starts with the byte at `at`, which is a lead byte of a sequence.
#[inline(always)]
fn decode(text: &[u8], at: usize) -> (usize, u32) {
    let byte = |i: usize| u32::from(text.get(at + i).copied().unwrap_or(0) & 0x3F);
    match text[at] {
        lead @ 0xF0.. => (4, (u32::from(lead & 7) << 18) | byte(1) << 12 | byte(2) << 6 | byte(3)),
        lead @ 0xE0.. => (3, (u32::from(lead & 15) << 12) | byte(1) << 6 | byte(2)),
        lead => (2, (u32::from(lead & 31) << 6) | byte(1)),
    }
}

/// Clears the bits of inert characters in `words`, a bit for each of the 64 bytes from `from`.
///
/// `leads` marks the bytes >= 0xC0. Returns the new bits and those to clear in the next block.
#[inline(always)]
fn clear_inert(text: &[u8], from: usize, mut words: u64, mut leads: u64) -> (u64, u64) {
    let mut spill = 0;
    while leads != 0 {
        let at = leads.trailing_zeros() as usize;
        leads &= leads - 1;
        let (len, code) = decode(text, from + at);
        if code < 0x110000 && run_class(code) == RunClass::Inert {
            let bits = ((1u128 << len) - 1) << at;
            words &= !(bits as u64);
            spill |= (bits >> 64) as u64;
        }
    }
    (words, spill)
}

/// # Safety
/// `copy` must take `text.len()` bytes, `edges` as many numbers and one more.
#[inline(always)]
unsafe fn edges_portable(text: &[u8], lower: bool, copy: *mut u8, edges: *mut u32) -> usize {
    let (mut count, mut inside, mut at) = (0, false, 0);
    while at < text.len() {
        let byte = text[at];
        let (len, word) = if byte < 0xC0 {
            (1, byte.is_ascii_alphanumeric() || byte >= 0x80)
        } else {
            let (len, code) = decode(text, at);
            (len.min(text.len() - at), code >= 0x110000 || run_class(code) != RunClass::Inert)
        };
        // SAFETY: `at + len` stays within the text, and there is at most one edge for each byte, and one at the end.
        unsafe {
            let lowered = if lower { byte.to_ascii_lowercase() } else { byte };
            copy.add(at).write(lowered);
            for i in 1..len {
                copy.add(at + i).write(text[at + i]);
            }
            edges.add(count).write(at as u32);
            count += usize::from(word != inside);
        }
        inside = word;
        at += len;
    }
    if inside {
        // SAFETY: as above.
        unsafe { edges.add(count).write(text.len() as u32) };
        count += 1;
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::clear_inert;
    use std::arch::x86_64::*;

    /// # Safety
    /// The machine must offer AVX-512 as in [`crate::isa::Isa::Avx512`]; `copy` must take `text.len()` bytes rounded up
    /// to a multiple of 64, `edges` `text.len()` numbers and 65 more.
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn edges_avx512(text: &[u8], lower: bool, copy: *mut u8, edges: *mut u32) -> usize {
        let mut numbers = [0u8; 64];
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = i as u8;
        }
        let case_bit = _mm512_set1_epi8(0x20);
        // SAFETY: loads are masked to the text; stores stay within what the caller vouches for, as at most 64 edges
        // are stored for each block of 64 bytes, in pieces of 16, the last of which may go past by less than 64.
        unsafe {
            let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
            let (mut count, mut carry, mut spill) = (0usize, 0u64, 0u64);
            for from in (0..text.len()).step_by(64) {
                let left = text.len() - from;
                let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
                let bytes = _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(from).cast());
                let lowered = _mm512_or_si512(bytes, case_bit);
                let offset = _mm512_sub_epi8(lowered, _mm512_set1_epi8(b'a' as i8));
                let letters = _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(26));
                let offset = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8));
                let digits = _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(10));
                let high = _mm512_movepi8_mask(bytes);
                let out = if lower { _mm512_mask_mov_epi8(bytes, letters, lowered) } else { bytes };
                _mm512_storeu_si512(copy.add(from).cast(), out);
                let mut words = letters | digits | high;
                if high != 0 {
                    words &= !spill;
                    let leads = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xC0u8 as i8));
                    (words, spill) = clear_inert(text, from, words, leads);
                }
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
            if carry != 0 {
                close(&mut count, text, edges);
            }
            count
        }
    }

    /// Ends the run that goes on to the end of the text, unless the last block has ended it already.
    unsafe fn close(count: &mut usize, text: &[u8], edges: *mut u32) {
        // SAFETY: one more edge is within what the caller of the kernel vouches for.
        unsafe { edges.add(*count).write(text.len() as u32) };
        *count += 1;
    }

    /// # Safety
    /// The machine must offer AVX2 as in [`crate::isa::Isa::Avx2`]; the buffers as for [`edges_avx512`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn edges_avx2(text: &[u8], lower: bool, copy: *mut u8, edges: *mut u32) -> usize {
        let (mut count, mut carry, mut spill) = (0usize, 0u64, 0u64);
        let mut tail = [0u8; 64];
        for from in (0..text.len()).step_by(64) {
            let left = text.len() - from;
            let source = if left >= 64 {
                text[from..].as_ptr()
            } else {
                tail[..left].copy_from_slice(&text[from..]);
                tail.as_ptr()
            };
            // SAFETY: 64 bytes are readable at `source`; stores stay within what the caller vouches for, as edges are
            // stored in groups of 8, the last of which goes past by less than 8.
            unsafe {
                let low = classify(source, lower, copy.add(from));
                let high = classify(source.add(32), lower, copy.add(from + 32));
                let bits = |i: usize| u64::from(low[i]) | u64::from(high[i]) << 32;
                let mut words = bits(0);
                if bits(1) != 0 {
                    words &= !spill;
                    (words, spill) = clear_inert(text, from, words, bits(2));
                }
                let mut changes = words ^ (words << 1 | carry);
                carry = words >> 63;
                let end = count + changes.count_ones() as usize;
                while count < end {
                    for i in 0..8 {
                        edges.add(count + i).write(from as u32 + changes.trailing_zeros());
                        changes &= changes.wrapping_sub(1);
                    }
                    count += 8;
                }
                count = end;
            }
        }
        if carry != 0 {
            // SAFETY: as above.
            unsafe { close(&mut count, text, edges) };
        }
        count
    }

    /// Masks of the word bytes, the bytes >= 0x80 and the bytes >= 0xC0 among 32; stores the lower-cased bytes.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn classify(source: *const u8, lower: bool, copy: *mut u8) -> [u32; 3] {
        // SAFETY: the caller vouches for 32 bytes on either side.
        unsafe {
            let bytes = _mm256_loadu_si256(source.cast());
            let below =
                |x: __m256i, limit: u8| _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(limit as i8 - 1)), x);
            let lowered = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
            let letters = below(_mm256_sub_epi8(lowered, _mm256_set1_epi8(b'a' as i8)), 26);
            let digits = below(_mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8)), 10);
            let out = if lower { _mm256_blendv_epi8(bytes, lowered, letters) } else { bytes };
            _mm256_storeu_si256(copy.cast(), out);
            let words = _mm256_or_si256(_mm256_or_si256(letters, digits), bytes);
            let limit = _mm256_set1_epi8(0xC0u8 as i8);
            let leads = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, limit), bytes);
            [words, bytes, leads].map(|mask| _mm256_movemask_epi8(mask) as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Task, run_at};

    struct Find<'a>(&'a str, bool);
    impl Task for Find<'_> {
        type Output = (Vec<u8>, Vec<[u32; 2]>);
        #[inline(always)]
        fn run<L: Level>(self) -> Self::Output {
            let mut runs = Runs::default();
            runs.find::<L>(self.0, self.1);
            (runs.copy[..self.0.len()].to_vec(), runs.bounds().to_vec())
        }
    }

    #[test]
    fn all_levels_find_the_same_runs() {
        let piece = "The “quick” brown-fox, naïve café — 東京 x1_y2 … ﬁn 😀 é\u{301}\u{ad}b ";
        for start in 0..80 {
            let mut text = "ab ".repeat(start).chars().skip(start % 3).collect::<String>();
            text.push_str(&piece.repeat(3));
            for cut in 0..5 {
                let text: String = text.chars().take(text.chars().count() - cut).collect();
                let want = run_at(Isa::Portable, Find(&text, true));
                for isa in Isa::available() {
                    assert_eq!(run_at(isa, Find(&text, true)), want, "{isa:?} on {text:?}");
                }
            }
        }
    }

    #[test]
    fn runs_are_cut_at_inert_characters_only() {
        let text = "Foo—Bar “baz” ﬁ";
        let (copy, bounds) = run_at(Isa::Portable, Find(text, true));
        let cut: Vec<&str> =
            bounds.iter().map(|b| std::str::from_utf8(&copy[b[0] as usize..b[1] as usize]).unwrap()).collect();
        assert_eq!(cut, ["foo", "bar", "baz", "ﬁ"]);
    }
}
