//! Checks that lines are valid UTF-8, in a fraction of the time of reading them.
//!
//! The data is checked in blocks of many lines; only lines in a faulty block are checked one by one.

use super::fault::{Fault, Problem};

/// Small enough that the lines are still in the second-level cache when they are parsed.
const BLOCK: usize = 128 * 1024;

/// The position up to which the data is checked; lines must be checked in order.
#[derive(Default)]
pub(super) struct Utf8Check {
    checked_to: usize,
    /// Lines that start before this offset may be faulty.
    suspect_to: usize,
}

impl Utf8Check {
    /// Checks the block at `start` if that has not been done; reading it here warms the cache for the parser.
    pub(super) fn look_ahead(&mut self, data: &[u8], start: usize) {
        if start >= self.checked_to {
            self.check_block(data, start);
        }
    }

    /// Fails where `data[start..end]`, a line, is not valid UTF-8.
    pub(super) fn line(&mut self, data: &[u8], start: usize, end: usize) -> Result<(), Fault> {
        if end > self.checked_to {
            self.check_block(data, end);
        }
        if start < self.suspect_to {
            simdutf8::compat::from_utf8(&data[start..end])
                .map_err(|error| Fault { at: start + error.valid_up_to(), problem: Problem::Utf8 })?;
        }
        Ok(())
    }

    /// Checks on to `reach` and a block further.
    fn check_block(&mut self, data: &[u8], reach: usize) {
        let end = character_border(data, (reach + BLOCK).min(data.len()));
        if simdutf8::basic::from_utf8(&data[self.checked_to..end]).is_err() {
            self.suspect_to = end;
        }
        self.checked_to = end;
    }
}

/// The nearest offset at or before `at` that does not split a character, if the data there is UTF-8 at all.
fn character_border(data: &[u8], at: usize) -> usize {
    let is_inside = |offset: usize| data.get(offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|&offset| !is_inside(offset)).unwrap_or(at)
}
