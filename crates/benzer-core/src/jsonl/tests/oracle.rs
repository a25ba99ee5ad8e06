//! A second reader of JSON, written for clarity: recursive descent over the bytes of one line.

/// The value of a key of the top-level object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Null,
    Text(String),
    Number(String),
    Other,
}

/// The members of the top-level object in order, keys decoded; None where the line is not one object.
pub(super) fn members(line: &[u8]) -> Option<Vec<(String, Found)>> {
    let mut reader = Reader { rest: std::str::from_utf8(line).ok()? };
    let members = reader.object()?;
    reader.space();
    reader.rest.is_empty().then_some(members)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
    }

    /// Takes `token` if it comes next, after white space.
    fn take(&mut self, token: &str) -> Option<()> {
        self.space();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn object(&mut self) -> Option<Vec<(String, Found)>> {
        let mut members = Vec::new();
        self.take("{")?;
        if self.take("}").is_some() {
            return Some(members);
        }
        loop {
            let key = self.string()?;
            self.take(":")?;
            members.push((key, self.value()?));
            if self.take("}").is_some() {
                return Some(members);
            }
            self.take(",")?;
        }
    }

    fn array(&mut self) -> Option<()> {
        self.take("[")?;
        if self.take("]").is_some() {
            return Some(());
        }
        loop {
            self.value()?;
            if self.take("]").is_some() {
                return Some(());
            }
            self.take(",")?;
        }
    }

    fn value(&mut self) -> Option<Found> {
        self.space();
        match self.rest.chars().next()? {
            '"' => self.string().map(Found::Text),
            '{' => self.object().map(|_| Found::Other),
            '[' => self.array().map(|_| Found::Other),
            't' => self.take("true").map(|_| Found::Other),
            'f' => self.take("false").map(|_| Found::Other),
            'n' => self.take("null").map(|_| Found::Null),
            _ => self.number().map(Found::Number),
        }
    }

    fn number(&mut self) -> Option<String> {
        let length = self.rest.find(|c: char| !"+-.eE0123456789".contains(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(length);
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let whole = whole.strip_prefix('-').unwrap_or(whole);
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !(digits(whole) && digits(fraction) && digits(exponent)) || leading_zero {
            return None;
        }
        self.rest = rest;
        Some(number.to_string())
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut units: Vec<u16> = Vec::new();
        loop {
            let next = self.rest.chars().next()?;
            self.rest = &self.rest[next.len_utf8()..];
            match next {
                '"' => return Some(String::from_utf16_lossy(&units)),
                '\\' => units.push(self.escape()?),
                '\0'..='\x1f' => return None,
                _ => units.extend(next.encode_utf16(&mut [0; 2]).iter()),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(match letter {
            '"' | '\\' | '/' => letter as u16,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits = self.rest.get(..4).filter(|four| four.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                self.rest = &self.rest[4..];
                u16::from_str_radix(digits, 16).ok()?
            }
            _ => return None,
        })
    }
}
