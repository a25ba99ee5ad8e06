//! Converts arbitrary bytes to choices and texts.

use std::borrow::Cow;

/// Bytes that are read from the front; where they end, zeros follow.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Starts at the first byte.
    pub fn new(data: &'a [u8]) -> Self {
        Input(data)
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// One of some choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The next 8 bytes as a number.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// All bytes that are left as a text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&mut self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.rest())
    }
}
