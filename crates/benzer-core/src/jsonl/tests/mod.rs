//! Every case runs on every instruction set of the machine.

mod fuzz;
mod lines;
mod oracle;
mod text;

use super::{Malformed, Row, Value, scan};
use crate::isa::Isa;

/// One visited line, with the values as the bytes they span.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Row { line: u64, start: usize, end: usize, values: Vec<Value> },
    Malformed(Malformed),
}

/// All that a scan for `columns` visits, and the number of lines.
fn seen(data: &[u8], columns: &[&str], isa: Isa) -> (Vec<Seen>, u64) {
    let columns: Vec<&[u8]> = columns.iter().map(|column| column.as_bytes()).collect();
    let mut all = Vec::new();
    let lines = scan::<()>(data, &columns, isa, |line| {
        all.push(match line {
            Ok(Row { line, start, end, values }) => Seen::Row { line, start, end, values: values.to_vec() },
            Err(malformed) => Seen::Malformed(malformed),
        });
        Ok(())
    });
    (all, lines.expect("the visitor never fails"))
}

/// Does `check` on each instruction set.
fn on_all(check: impl Fn(Isa)) {
    Isa::available().into_iter().for_each(check);
}

/// Small, fast and the same on every run (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
