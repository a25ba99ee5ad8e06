//! Errors of a line, and their messages.

/// The first thing wrong with a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// Offset in the data, never past the end of the faulty line.
    pub(super) at: usize,
    pub(super) problem: Problem,
}

/// The ways in which a line fails to be a JSON object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Problem {
    NotAnObject,
    /// Something else was needed at this place.
    Expected(&'static str),
    /// The fault lies at the opening quote.
    UnterminatedString,
    ControlCharacter,
    Escape,
    UnicodeEscape,
    Number,
    Literal,
    Utf8,
}

impl Fault {
    /// Words for the fault in the line that starts at `start`.
    #[cold]
    pub(super) fn reason(&self, data: &[u8], start: usize) -> String {
        let column = self.at - start + 1;
        match self.problem {
            Problem::NotAnObject => {
                format!("not a JSON object: expected '{{' at column {column}, found {}", self.found(data))
            }
            Problem::Expected(what) => format!("expected {what} at column {column}, found {}", self.found(data)),
            Problem::UnterminatedString => format!("unterminated string: its quote at column {column} is never closed"),
            Problem::ControlCharacter => {
                format!("control character {:#04x} in a string at column {column}: escape it", data[self.at])
            }
            Problem::Escape => {
                format!("invalid escape at column {column}: after a backslash comes one of \" \\ / b f n r t u")
            }
            Problem::UnicodeEscape => format!("invalid escape at column {column}: \\u takes four hexadecimal digits"),
            Problem::Number => format!("invalid number at column {column}: write it as in -12.5e3"),
            Problem::Literal => {
                format!("invalid literal at column {column}: JSON has only true, false and null (no NaN, no Infinity)")
            }
            Problem::Utf8 => format!("invalid UTF-8 at byte {column} of the line"),
        }
    }

    fn found(&self, data: &[u8]) -> String {
        match data.get(self.at) {
            None | Some(b'\n') => "the end of the line".to_string(),
            Some(&byte) if byte.is_ascii_graphic() => format!("'{}'", byte as char),
            Some(byte) => format!("byte {byte:#04x}"),
        }
    }
}
