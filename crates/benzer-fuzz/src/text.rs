//! Texts: the shingle hashes of the fast reader are those of the definition, and each token is at its reported position.

use benzer_core::hash::shingle::{char_shingle, token_hash, word_shingle};
use benzer_core::hash::strings::StringHash;
use benzer_core::isa::{Isa, Level, Task, run_at};
use benzer_core::text::elements::occurrence;
use benzer_core::text::{Case, Form, Reader, Recipe, Scratch, Tokenizer, Unit};
use std::cell::RefCell;
use std::collections::HashMap;

use crate::input::Input;

thread_local! {
    /// Used for text after text, as a run does: what one leaves must not show in the next.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Checks the reader of a recipe, which the first three bytes choose, on the text of the others.
pub fn text(data: &[u8]) {
    let mut input = Input::new(data);
    let recipe = recipe(&mut input);
    let stop_words = if input.byte() & 1 > 0 && recipe.unit == Unit::Word { &["The".to_owned()][..] } else { &[] };
    let text = input.text();
    let reader = Reader::new(recipe, stop_words);
    check_hashes(&reader, &text);
    check_units(&reader, &text);
}

fn recipe(input: &mut Input<'_>) -> Recipe {
    let [choices, flags] = [input.byte(), input.byte()];
    let flag = |bit: u8| flags >> bit & 1 > 0;
    Recipe {
        unit: if flag(0) { Unit::Char } else { Unit::Word },
        shingle_size: [1, 2, 3, 5, 8, 64][usize::from(choices / 9) % 6],
        tokenizer: if flag(1) { Tokenizer::Alnum } else { Tokenizer::Unified },
        form: [Form::Nfkc, Form::Nfc, Form::None][usize::from(choices % 3)],
        case: [Case::Fold, Case::Lower, Case::Keep][usize::from(choices / 3 % 3)],
        keep_punctuation: flag(2),
        keep_whitespace: flag(3),
        shingle_hash: if flag(4) { StringHash::Xxh3 } else { StringHash::Benzer },
        four_bytes: flag(5),
        frequencies: flag(6),
    }
}

/// What is read of a text on one instruction set: the hashes, and the number of units.
struct Read<'a>(&'a Reader, &'a str, &'a mut Scratch);

impl Task for Read<'_> {
    type Output = (Vec<u64>, usize);

    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let Read(reader, text, scratch) = self;
        reader.read::<L>(text, scratch);
        (scratch.shingles.clone(), scratch.units)
    }
}

fn check_hashes(reader: &Reader, text: &str) {
    let expected = defined(reader, text);
    for isa in Isa::available() {
        let read = SCRATCH.with_borrow_mut(|scratch| run_at(isa, Read(reader, text, scratch)));
        assert_eq!(read, expected, "{isa:?}, {:?}, {text:?}", reader.recipe());
    }
}

/// The hashes and the number of units by the definition: the tokens, or the characters of the normalized text.
fn defined(reader: &Reader, text: &str) -> (Vec<u64>, usize) {
    let recipe = reader.recipe();
    let units: Vec<String> = match recipe.unit {
        Unit::Word => reader.tokens(text),
        Unit::Char => squeezed(recipe, text).chars().map(String::from).collect(),
    };
    let size = recipe.shingle_size.min(units.len()).max(1);
    let hash = |shingle: &[String]| match (recipe.shingle_hash, recipe.unit) {
        (StringHash::Benzer, Unit::Word) => {
            word_shingle(&shingle.iter().map(|token| token_hash(token.as_bytes())).collect::<Vec<_>>())
        }
        (StringHash::Benzer, Unit::Char) => char_shingle(shingle.concat().as_bytes()),
        (named, Unit::Word) => named.hash(shingle.join(" ").as_bytes(), 0),
        (named, Unit::Char) => named.hash(shingle.concat().as_bytes(), 0),
    };
    let mask = if recipe.four_bytes { u64::from(u32::MAX) } else { u64::MAX };
    let mut hashes: Vec<u64> = units.windows(size).map(|shingle| hash(shingle) & mask).collect();
    if recipe.frequencies {
        let mut seen: HashMap<u64, u64> = HashMap::new();
        for hash in &mut hashes {
            let nth = seen.entry(*hash).or_default();
            *hash = if *nth == 0 { *hash } else { occurrence(*hash, *nth) & mask };
            *nth += 1;
        }
    }
    (hashes, units.len())
}

fn squeezed(recipe: &Recipe, text: &str) -> String {
    let (mut normal, mut spare) = (String::new(), String::new());
    recipe.normalize(text, &mut normal);
    recipe.squeeze(&mut normal, &mut spare);
    normal
}

/// The units with places are those of the definition, in ascending places, and are what is read there.
fn check_units(reader: &Reader, text: &str) {
    let recipe = reader.recipe();
    let units = reader.units(text);
    let actual: Vec<&str> = units.iter().collect();
    match recipe.unit {
        Unit::Word => assert_eq!(actual, reader.tokens(text), "{text:?} by {recipe:?}"),
        Unit::Char => assert_eq!(actual.concat(), squeezed(recipe, text), "{text:?} by {recipe:?}"),
    }
    let borders: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
    assert_eq!(units.places.len(), actual.len());
    let mut before = [0, 0];
    for (&[start, end], unit) in units.places.iter().zip(actual) {
        assert!(before[0] <= start && before[1] <= end && start < end, "{text:?} by {recipe:?}: {:?}", units.places);
        assert!((end as usize) < borders.len(), "{text:?} by {recipe:?}: {:?}", units.places);
        before = [start, end];
        // The lower case of a sigma depends on what is around it.
        if recipe.unit == Unit::Word && recipe.case != Case::Lower {
            let original = &text[borders[start as usize]..borders[end as usize]];
            let read = reader.tokens(original);
            assert!(read.iter().any(|token| token == unit), "{unit:?} of {text:?} at {original:?} by {recipe:?}");
        }
    }
}
