//! Parses a line as a JSON object, and finds the values of the columns.
//!
//! All functions that look for the end of a string are inlined into the entry point of a kernel (`Kernel::line`),
//! which enables the kernel's instruction set; this is the reason for the many `inline(always)`.

use std::marker::PhantomData;

use super::Value;
use super::fault::{Fault, Problem};
use super::kernel::{Kernel, StringEnd};
use super::portable::string_stop;
use super::unescape::{hex4, unescape_portable};

/// A place in the data. It never moves past a newline by itself.
pub(super) struct Cursor<'a, K> {
    data: &'a [u8],
    columns: &'a [&'a [u8]],
    pos: usize,
    /// The closing brackets that the nested value at hand still needs.
    open: Vec<u8>,
    decoded_key: Vec<u8>,
    kernel: PhantomData<K>,
}

/// A string between its quotes.
#[derive(Clone, Copy)]
struct Text {
    start: usize,
    len: usize,
    escaped: bool,
}

impl<'a, K: Kernel> Cursor<'a, K> {
    /// At `pos`, the start of the first line.
    ///
    /// # Safety
    /// The machine must have the instruction set of `K`.
    pub(super) unsafe fn new(data: &'a [u8], pos: usize, columns: &'a [&'a [u8]]) -> Self {
        Cursor { data, columns, pos, open: Vec::new(), decoded_key: Vec::new(), kernel: PhantomData }
    }

    pub(super) fn data(&self) -> &'a [u8] {
        self.data
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    pub(super) fn set_pos(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// Reads the line that starts here into `values` (one per column, all `Missing`); false where it is blank.
    /// The cursor ends on the newline or at the end of the data.
    #[inline(always)]
    pub(super) fn line(&mut self, values: &mut [Value]) -> Result<bool, Fault> {
        match self.token() {
            b'{' => self.pos += 1,
            b'\n' => return Ok(false),
            _ => return self.fault(Problem::NotAnObject),
        }
        self.members(values)?;
        if self.token() != b'\n' {
            return self.fault(Problem::Expected("the end of the line"));
        }
        Ok(true)
    }

    /// The members of the top-level object and its closing bracket.
    #[inline(always)]
    fn members(&mut self, values: &mut [Value]) -> Result<(), Fault> {
        if self.token() == b'}' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let value = self.value()?;
            self.assign(key, value, values);
            match self.token() {
                b',' => self.pos += 1,
                b'}' => break,
                _ => return self.fault(Problem::Expected("',' or '}'")),
            }
        }
        self.pos += 1;
        Ok(())
    }

    #[inline(always)]
    fn assign(&mut self, key: Text, value: Value, values: &mut [Value]) {
        let mut name = &self.data[key.start..key.start + key.len];
        if key.escaped {
            unescape_portable(name, &mut self.decoded_key);
            name = &self.decoded_key;
        }
        for (column, slot) in self.columns.iter().zip(values) {
            if *column == name {
                *slot = value;
            }
        }
    }

    /// A key and its colon; leaves the cursor after the colon.
    #[inline(always)]
    fn key(&mut self) -> Result<Text, Fault> {
        if self.token() != b'"' {
            return self.fault(Problem::Expected("a key in double quotes"));
        }
        let key = self.string()?;
        if self.token() != b':' {
            return self.fault(Problem::Expected("':'"));
        }
        self.pos += 1;
        Ok(key)
    }

    #[inline(always)]
    fn value(&mut self) -> Result<Value, Fault> {
        let first = self.token();
        let start = self.pos;
        match first {
            b'"' => {
                let Text { start, len, escaped } = self.string()?;
                return Ok(Value::Text { start, len, escaped });
            }
            b'{' | b'[' => self.nested()?,
            _ => self.scalar(first)?,
        }
        let len = self.pos - start;
        Ok(match first {
            b'n' => Value::Null,
            b'-' | b'0'..=b'9' => Value::Number { start, len },
            _ => Value::Other { start, len },
        })
    }

    /// An object or array with all that is in it. A stack of brackets instead of recursion: depth costs no stack.
    #[inline(always)]
    fn nested(&mut self) -> Result<(), Fault> {
        self.open.clear();
        loop {
            match self.token() {
                bracket @ (b'{' | b'[') => {
                    // '{' and '}', '[' and ']' are two apart in ASCII.
                    self.open.push(bracket + 2);
                    self.pos += 1;
                    if self.token() != bracket + 2 {
                        self.nested_key()?;
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                first => self.scalar(first)?,
            }
            if !self.next_nested()? {
                return Ok(());
            }
        }
    }

    /// Continues after a nested value, through closing brackets, to the next one; false after the outermost bracket.
    #[inline(always)]
    fn next_nested(&mut self) -> Result<bool, Fault> {
        while let Some(&close) = self.open.last() {
            match self.token() {
                b',' => {
                    self.pos += 1;
                    self.nested_key()?;
                    return Ok(true);
                }
                byte if byte == close => {
                    self.open.pop();
                    self.pos += 1;
                }
                _ if close == b'}' => return self.fault(Problem::Expected("',' or '}'")),
                _ => return self.fault(Problem::Expected("',' or ']'")),
            }
        }
        Ok(false)
    }

    #[inline(always)]
    fn nested_key(&mut self) -> Result<(), Fault> {
        if self.open.last() == Some(&b'}') {
            self.key()?;
        }
        Ok(())
    }

    /// A string; the cursor is on its opening quote and ends after its closing one.
    #[inline(always)]
    fn string(&mut self) -> Result<Text, Fault> {
        let start = self.pos + 1;
        // SAFETY: `new` asked for the instruction set of `K`.
        let end = match unsafe { K::string_end(self.data, start) } {
            Some(end) => end,
            None => self.string_by_steps(start)?,
        };
        self.pos = end.at + 1;
        Ok(Text { start, len: end.at - start, escaped: end.escaped })
    }

    /// The end of the string whose first byte is at `start`; finds what is wrong with it.
    fn string_by_steps(&self, start: usize) -> Result<StringEnd, Fault> {
        let mut at = start;
        let mut escaped = false;
        loop {
            at = string_stop(self.data, at);
            match self.byte(at) {
                b'"' => return Ok(StringEnd { at, escaped }),
                b'\\' => escaped = true,
                b'\n' => return Err(Fault { at: start - 1, problem: Problem::UnterminatedString }),
                _ => return Err(Fault { at, problem: Problem::ControlCharacter }),
            }
            while self.byte(at) == b'\\' {
                at = self.escape(at)?;
            }
        }
    }

    /// The offset after the escape whose backslash is at `at`.
    #[inline(always)]
    fn escape(&self, at: usize) -> Result<usize, Fault> {
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'u' if hex4(&self.data[at + 2..]).is_some() => Ok(at + 6),
            b'u' => Err(Fault { at, problem: Problem::UnicodeEscape }),
            _ => Err(Fault { at, problem: Problem::Escape }),
        }
    }

    /// A number or a literal whose first byte is `first`.
    fn scalar(&mut self, first: u8) -> Result<(), Fault> {
        match first {
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            b'a'..=b'z' | b'A'..=b'Z' => self.fault(Problem::Literal),
            _ => self.fault(Problem::Expected("a JSON value")),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.data[self.pos..].starts_with(word) {
            return self.fault(Problem::Literal);
        }
        self.pos += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        match self.number_end() {
            Some(end) => self.pos = end,
            None => return Err(Fault { at: start, problem: Problem::Number }),
        }
        Ok(())
    }

    /// The offset after the number that starts here, if it is one.
    fn number_end(&self) -> Option<usize> {
        let mut at = self.pos + usize::from(self.byte(self.pos) == b'-');
        at = match self.byte(at) {
            b'0' => at + 1,
            _ => self.digits(at)?,
        };
        if self.byte(at) == b'.' {
            at = self.digits(at + 1)?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            at = self.digits(at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-')))?;
        }
        Some(at)
    }

    /// The offset after the digits at `at`; there must be at least one.
    fn digits(&self, at: usize) -> Option<usize> {
        let mut end = at;
        while self.byte(end).is_ascii_digit() {
            end += 1;
        }
        (end > at).then_some(end)
    }

    /// The next byte that is not white space; the cursor is on it.
    #[inline(always)]
    fn token(&mut self) -> u8 {
        loop {
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                byte => return byte,
            }
        }
    }

    /// The byte at `at`; past the end there are only newlines.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.data.get(at).copied().unwrap_or(b'\n')
    }

    #[inline(always)]
    fn fault<T>(&self, problem: Problem) -> Result<T, Fault> {
        Err(Fault { at: self.pos, problem })
    }
}
