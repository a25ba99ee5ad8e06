//! Tables of band keys, stored by document or by band.

use std::ops::Range;

/// A table of band keys; [`NO_KEY`](crate::bands::NO_KEY) if a document has none.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    values: &'a [u64],
    bands: usize,
    by_band: bool,
}

/// Documents whose keys are transposed at a time: 8 bands take 16 kB.
const TURNED: usize = 256;

impl<'a> Keys<'a> {
    /// The keys of a document are adjacent.
    pub fn by_document(values: &'a [u64], bands: usize) -> Self {
        Keys { values, bands, by_band: false }
    }

    /// The keys of a band are adjacent: a join of one band at a time reads them in order.
    pub fn by_band(values: &'a [u64], bands: usize) -> Self {
        Keys { values, bands, by_band: true }
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.values.len() / self.bands.max(1)
    }

    /// The number of keys of each document.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// The number of bands to read together: those that share a cache line.
    pub(super) fn together(&self) -> usize {
        if self.by_band { 1 } else { 8 }
    }

    #[inline(always)]
    pub(super) fn get(&self, document: u32, band: usize) -> u64 {
        let at = if self.by_band {
            [band, self.documents(), document as usize]
        } else {
            [document as usize, self.bands, band]
        };
        self.values[at[0] * at[1] + at[2]]
    }

    /// The keys of some bands, one band after the other; they are copied to `turned` if they are stored by document.
    pub(super) fn columns<'b>(&'b self, bands: Range<usize>, turned: &'b mut Vec<u64>) -> &'b [u64] {
        let count = self.documents();
        if self.by_band {
            return &self.values[bands.start * count..bands.end * count];
        }
        turned.resize(bands.len() * count, 0);
        for start in (0..count).step_by(TURNED) {
            let documents = start..count.min(start + TURNED);
            let rows = &self.values[documents.start * self.bands..documents.end * self.bands];
            for (column, band) in turned.chunks_exact_mut(count).zip(bands.clone()) {
                let keys = rows.iter().skip(band).step_by(self.bands);
                column[documents.clone()].iter_mut().zip(keys).for_each(|(slot, &key)| *slot = key);
            }
        }
        turned
    }
}
