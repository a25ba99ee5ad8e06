//! Searches strings without vector instructions, eight bytes at a time in a 64-bit register.

use super::Value;
use super::cursor::Cursor;
use super::fault::Fault;
use super::kernel::{Kernel, StringEnd};
use super::unescape::{CopyRun, decode};

/// Plain Rust for every machine.
pub(super) struct Portable;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const TOPS: u64 = ONES << 7;

/// The eight bytes at `at`, the first one lowest, if there are as many.
#[inline(always)]
fn word(data: &[u8], at: usize) -> Option<u64> {
    data.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Flags the top bit of bytes that are zero. Flags above the lowest one may be wrong (a borrow), the lowest is right.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & TOPS
}

#[inline(always)]
fn stops(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
    control | zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64))
}

#[inline(always)]
fn lowest(flags: u64) -> usize {
    flags.trailing_zeros() as usize / 8
}

/// The first quote, backslash or byte below 0x20 at or after `at`; `data.len()` if there is none.
#[inline(always)]
pub(super) fn string_stop(data: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(data, at) {
        let flags = stops(word);
        if flags != 0 {
            return at + lowest(flags);
        }
        at += 8;
    }
    let rest = &data[at..];
    at + rest.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count()
}

impl CopyRun for Portable {
    #[inline(always)]
    unsafe fn copy_run(raw: &[u8], at: usize, out: *mut u8) -> usize {
        let mut done = 0;
        while let Some(word) = word(raw, at + done) {
            // SAFETY: done + 8 <= raw.len() - at, which `out` takes.
            unsafe { out.add(done).cast::<u64>().write_unaligned(word.to_le()) };
            let flags = zeros(word ^ (ONES * b'\\' as u64));
            if flags != 0 {
                return done + lowest(flags);
            }
            done += 8;
        }
        for &byte in raw[at + done..].iter().take_while(|&&byte| byte != b'\\') {
            // SAFETY: done < raw.len() - at.
            unsafe { out.add(done).write(byte) };
            done += 1;
        }
        done
    }
}

impl Kernel for Portable {
    /// All strings are read step by step.
    #[inline(always)]
    unsafe fn string_end(_data: &[u8], _start: usize) -> Option<StringEnd> {
        None
    }

    unsafe fn line(cursor: &mut Cursor<'_, Self>, values: &mut [Value]) -> Result<bool, Fault> {
        cursor.line(values)
    }

    unsafe fn unescape(raw: &[u8], out: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { decode::<Self>(raw, out) }
    }
}
