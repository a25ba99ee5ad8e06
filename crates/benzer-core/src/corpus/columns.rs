//! Adds whole columns of texts in the layout of Arrow, without copying.

use super::{Buffer, Corpus, Id, MAX_TEXT, Span};

/// Bytes of another owner, which do not move or change while this exists.
pub type SharedBytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A column of texts: text `i` is `data[offsets[i]..offsets[i + 1]]`.
pub struct TextColumn<'a> {
    /// Where each text starts, and the end of the last.
    pub offsets: &'a [i64],
    /// The bytes of all texts.
    pub data: SharedBytes,
    /// The texts that are present; all if there is no mask.
    pub valid: Option<&'a [bool]>,
}

/// A column of ids.
pub enum IdColumn<'a> {
    /// Ids are made from the source's name and the row.
    Made,
    /// Texts.
    Texts(TextColumn<'a>),
    /// Integers, and which of them are there.
    Integers(&'a [i64], Option<&'a [bool]>),
}

impl TextColumn<'_> {
    /// Whether there are `count` texts within the data, are UTF-8, and are no longer than a corpus takes.
    fn is_sound(&self, count: usize) -> bool {
        let data = (*self.data).as_ref();
        let masked = self.valid.is_none_or(|valid| valid.len() == count);
        let (Some(&first), Some(&last)) = (self.offsets.first(), self.offsets.last()) else { return false };
        let whole = self.offsets.len() == count + 1 && first >= 0 && last as usize <= data.len();
        let ascending = self.offsets.windows(2).all(|pair| (0..=MAX_TEXT as i64).contains(&(pair[1] - pair[0])));
        if !(masked && whole && ascending) {
            return false;
        }
        let between = |&offset: &i64| data.get(offset as usize).is_none_or(|byte| byte & 0xC0 != 0x80);
        simdutf8::basic::from_utf8(&data[first as usize..last as usize]).is_ok() && self.offsets.iter().all(between)
    }

    /// The span of each text in a buffer that begins at `start`.
    fn spans(&self, start: u64) -> impl Iterator<Item = Span> {
        self.offsets.windows(2).enumerate().map(move |(at, pair)| match self.valid {
            Some(valid) if !valid[at] => Span::MISSING,
            _ => Span::new(start + pair[0] as u64, (pair[1] - pair[0]) as u32, 0),
        })
    }
}

impl Corpus {
    /// Adds documents by columns, one for each field; their rows count on from `first_row`.
    ///
    /// Returns false, and adds nothing, if a column is invalid: offsets that do not ascend or are outside of the
    /// data, bytes that are not UTF-8, a text above [`MAX_TEXT`].
    ///
    /// # Panics
    /// If there are not as many columns as fields, or a field is not a text.
    pub fn add_columns(
        &mut self, source: u32, first_row: u64, count: usize, mut ids: IdColumn<'_>, mut fields: Vec<TextColumn<'_>>,
    ) -> bool {
        assert_eq!(fields.len(), self.fields(), "one column for each field");
        let ids_sound = match &ids {
            IdColumn::Made => true,
            IdColumn::Texts(texts) => texts.is_sound(count),
            IdColumn::Integers(numbers, valid) => {
                numbers.len() == count && valid.is_none_or(|valid| valid.len() == count)
            }
        };
        if !ids_sound || fields.iter().any(|field| !field.is_sound(count)) {
            return false;
        }
        // Shared bytes come before the batch's own bytes, which are the digits of ids.
        let mut start = self.next_start();
        let mut shared = Vec::new();
        let mut share = |column: &mut TextColumn<'_>| {
            let spans: Vec<Span> = column.spans(start).collect();
            let data = std::mem::replace(&mut column.data, Box::new([]));
            start += (*data).as_ref().len() as u64;
            shared.push(Buffer::Shared(data));
            spans
        };
        let texts: Vec<Vec<Span>> = fields.iter_mut().map(&mut share).collect();
        let named = if let IdColumn::Texts(column) = &mut ids { share(column) } else { Vec::new() };
        shared.into_iter().for_each(|buffer| self.keep(buffer));
        let mut batch = self.batch();
        batch.id_spans(named);
        texts.into_iter().enumerate().for_each(|(field, spans)| batch.text_spans(field, spans));
        match ids {
            IdColumn::Texts(_) => {}
            IdColumn::Made => (0..count).for_each(|_| batch.id(None)),
            IdColumn::Integers(numbers, valid) => numbers.iter().enumerate().for_each(|(at, &id)| {
                batch.id(valid.is_none_or(|valid| valid[at]).then_some(Id::Integer(id)));
            }),
        }
        let rows: Vec<u64> = (first_row..first_row + count as u64).collect();
        self.add_batch(source, &rows, batch, Vec::new());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::FieldKind;
    use super::*;
    use crate::text::{Reader, Recipe};

    fn corpus() -> Corpus {
        let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        let mut corpus = Corpus::new(vec![FieldKind::Text(Reader::new(recipe, &[]))]);
        corpus.name_source(0, "table");
        corpus
    }

    fn column<'a>(offsets: &'a [i64], data: &[u8], valid: Option<&'a [bool]>) -> TextColumn<'a> {
        TextColumn { offsets, data: Box::new(data.to_vec()), valid }
    }

    #[test]
    fn columns_become_documents_with_ids_of_any_kind() {
        let mut found = corpus();
        let text = "xoneżółtytwo".as_bytes();
        let offsets = [1, 4, 12, 15];
        assert!(found.add_columns(0, 1, 3, IdColumn::Made, vec![column(&offsets, text, None)]));
        let (valid, ids) = ([true, false, true], [0, 1, 1, 3]);
        let names = IdColumn::Texts(column(&ids, b"abc", Some(&[true, false, true])));
        assert!(found.add_columns(0, 4, 3, names, vec![column(&offsets, text, Some(&valid))]));
        let numbers = IdColumn::Integers(&[-7, 8, 9], Some(&valid));
        assert!(found.add_columns(0, 7, 3, numbers, vec![column(&offsets, text, None)]));
        let texts: Vec<Option<String>> = (0..9).map(|at| found.text(at, 0)).collect();
        let [one, yellow, two] = ["one", "żółty", "two"].map(|text| Some(text.to_owned()));
        let all = [&one, &yellow, &two, &one, &None, &two, &one, &yellow, &two].map(Clone::clone);
        assert_eq!(texts, all);
        let named = |text: &str| Id::Text(text.to_owned());
        let ids: Vec<Id> = (0..9).map(|at| found.id(at)).collect();
        let made = ["table:1", "table:2", "table:3"].map(named);
        let given = [named("a"), named("table:5"), named("bc")];
        assert_eq!(ids[..6], [made, given].concat());
        assert_eq!(ids[6..], [Id::Integer(-7), named("table:8"), Id::Integer(9)]);
        assert_eq!(found.rows().collect::<Vec<u64>>(), (1..=9).collect::<Vec<u64>>());
    }

    #[test]
    fn columns_that_are_not_sound_add_nothing() {
        let mut found = corpus();
        let euro = "€".as_bytes();
        let unsound: [(&[i64], &[u8]); 6] = [
            (&[0, 4], b"abc"),
            (&[0, 2, 1], b"abc"),
            (&[-1, 1], b"abc"),
            (&[0, 3, 3], b"abc"),
            (&[0, 1], b"\xff"),
            (&[0, 1], euro),
        ];
        for (offsets, data) in unsound {
            let count = if offsets == [0, 3, 3] { 1 } else { offsets.len() - 1 };
            assert!(!found.add_columns(0, 1, count, IdColumn::Made, vec![column(offsets, data, None)]), "{offsets:?}");
        }
        // Valid as a whole, but cut within a character.
        assert!(!found.add_columns(0, 1, 2, IdColumn::Made, vec![column(&[0, 1, 3], euro, None)]));
        let texts = || vec![column(&[0, 1], b"a", None)];
        assert!(!found.add_columns(0, 1, 1, IdColumn::Integers(&[], None), texts()));
        assert!(!found.add_columns(0, 1, 1, IdColumn::Texts(column(&[0, 9], b"a", None)), texts()));
        assert!(found.is_empty());
    }
}
