//! Data stored for each document: the positions of its bytes, and its source and row.
//!
//! A span takes 12 bytes. Absent ids and extra values take nothing, and source and row are stored once for each run
//! of adjacent rows.

/// The bytes of a span hold escapes of JSON.
pub const ESCAPED: u32 = 1 << 31;
/// The bytes of a span are those of an integer.
pub const INTEGER: u32 = 1 << 30;

const FLAGS: u32 = ESCAPED | INTEGER;

/// Some bytes: from where, counted through all buffers of a corpus in their order, how many, and two flags.
///
/// Of three words, as a field of 64 bits would round it up to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    low: u32,
    high: u32,
    len: u32,
}

impl Span {
    /// The span of absent bytes.
    pub const MISSING: Span = Span { low: u32::MAX, high: u32::MAX, len: 0 };

    /// The `len` bytes from `start` on, which is below 2^62.
    pub fn new(start: u64, len: u32, flags: u32) -> Span {
        Span { low: start as u32, high: (start >> 32) as u32 | flags, len }
    }

    /// Whether it is absent; an empty text is present.
    pub fn is_missing(self) -> bool {
        self == Span::MISSING
    }

    /// Where it begins.
    pub fn start(self) -> u64 {
        u64::from(self.high & !FLAGS) << 32 | u64::from(self.low)
    }

    /// Its bytes.
    pub fn len(self) -> u32 {
        self.len
    }

    /// [`ESCAPED`] and [`INTEGER`], as far as they are set.
    pub fn flags(self) -> u32 {
        self.high & FLAGS
    }
}

/// A span for each document; takes no memory while all are missing.
#[derive(Default)]
pub struct Sparse(Vec<Span>);

impl Sparse {
    /// The span of a document, missing where none was given.
    pub fn get(&self, position: usize) -> Span {
        self.0.get(position).copied().unwrap_or(Span::MISSING)
    }

    /// Whether no document has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes the span of a document missing.
    pub fn clear(&mut self, position: usize) {
        if let Some(span) = self.0.get_mut(position) {
            *span = Span::MISSING;
        }
    }

    /// Keeps the spans of the kept documents.
    pub fn retain(&mut self, stays: &[bool]) {
        retain(&mut self.0, stays);
    }

    /// Takes the spans of the documents from `first` on.
    pub fn append(&mut self, first: usize, spans: &[Span]) {
        if spans.iter().any(|span| !span.is_missing()) {
            self.0.resize(first, Span::MISSING);
            self.0.extend_from_slice(spans);
        }
    }
}

/// Keeps the values of the kept documents.
pub fn retain<T>(values: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    values.retain(|_| stays.next().is_some_and(|&stays| stays));
}

/// Documents that came one after another from neighbouring rows of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    row: u64,
    first: u32,
    source: u32,
}

/// The source and row of each document: a table of runs; there is one run if no row was skipped.
#[derive(Default)]
pub struct Places {
    runs: Vec<Run>,
    count: u32,
}

impl Places {
    /// Takes the next document.
    pub fn push(&mut self, source: u32, row: u64) {
        let goes_on = self.runs.last().is_some_and(|run| run.source == source && run.row_of(self.count) == row);
        if !goes_on {
            self.runs.push(Run { row, first: self.count, source });
        }
        self.count += 1;
    }

    /// Adds documents of another table in the same order, with another source and rows counted from `row`.
    pub fn append(&mut self, source: u32, others: &Places, row: u64) {
        for run in others.each() {
            self.push(source, row + run.row);
            self.count += run.len - 1;
        }
    }

    /// The source and the row of a document.
    pub fn get(&self, position: usize) -> (u32, u64) {
        let position = position as u32;
        let run = &self.runs[self.runs.partition_point(|run| run.first <= position) - 1];
        (run.source, run.row_of(position))
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// The runs in their order, each with its length.
    pub fn each(&self) -> impl Iterator<Item = Together> {
        let ends = self.runs.iter().skip(1).map(|run| run.first).chain([self.count]);
        self.runs.iter().zip(ends).map(|(run, end)| Together { source: run.source, row: run.row, len: end - run.first })
    }
}

impl Run {
    /// The row of a document of this run.
    fn row_of(&self, position: u32) -> u64 {
        self.row + u64::from(position - self.first)
    }
}

/// Some documents of neighbouring rows.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    /// Their source.
    pub source: u32,
    /// The row of the first.
    pub row: u64,
    /// Their number.
    pub len: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_keeps_what_it_is_given_in_twelve_bytes() {
        assert_eq!(size_of::<Span>(), 12);
        for start in [0, 1, u64::from(u32::MAX), 1 << 32, (1 << 62) - 1] {
            for flags in [0, ESCAPED, INTEGER, ESCAPED | INTEGER] {
                let span = Span::new(start, 7, flags);
                assert_eq!((span.start(), span.len(), span.flags(), span.is_missing()), (start, 7, flags, false));
            }
        }
        assert!(Span::MISSING.is_missing() && !Span::new(0, 0, 0).is_missing());
    }

    #[test]
    fn spans_that_nobody_has_take_nothing() {
        let mut sparse = Sparse::default();
        sparse.append(0, &[Span::MISSING; 3]);
        assert!(sparse.is_empty() && sparse.get(2).is_missing());
        sparse.append(3, &[Span::MISSING, Span::new(9, 1, 0)]);
        sparse.append(5, &[Span::MISSING; 2]);
        sparse.append(7, &[Span::new(5, 1, 0)]);
        let held: Vec<usize> = (0..9).filter(|&at| !sparse.get(at).is_missing()).collect();
        assert_eq!((held, sparse.get(4).start(), sparse.get(7).start()), (vec![4, 7], 9, 5));
    }

    #[test]
    fn places_are_those_given_whatever_was_left_out() {
        let given = [(0, 1), (0, 2), (0, 4), (0, 5), (0, 6), (2, 7), (2, 1), (2, 2), (0, 3)];
        let mut places = Places::default();
        given.iter().for_each(|&(source, row)| places.push(source, row));
        assert_eq!((0..given.len()).map(|at| places.get(at)).collect::<Vec<_>>(), given);
        assert_eq!((places.len(), places.runs.len()), (9, 5));
        let spelt = places.each().flat_map(|run| (0..u64::from(run.len)).map(move |at| (run.source, run.row + at)));
        assert_eq!(spelt.collect::<Vec<_>>(), given);
    }

    #[test]
    fn places_of_a_piece_go_on_where_the_last_ended() {
        let (mut all, mut piece) = (Places::default(), Places::default());
        [0, 1, 3].iter().for_each(|&row| piece.push(0, row));
        all.append(4, &piece, 1);
        all.append(4, &piece, 5);
        let want = [1, 2, 4, 5, 6, 8].map(|row| (4, row));
        assert_eq!((0..6).map(|at| all.get(at)).collect::<Vec<_>>(), want);
        assert_eq!(all.runs.len(), 3);
    }
}
