//! The kernels that are counted.

use crate::inputs::{self, Script};
use benzer_core::bands::band_keys;
use benzer_core::buckets::{Join, Keys, Limit};
use benzer_core::corpus::{Corpus, FieldKind, JsonlColumns, SketchPlan, Sketches};
use benzer_core::hash::strings::StringHash;
use benzer_core::isa::{self, Level, Task};
use benzer_core::jaccard::jaccard;
use benzer_core::jsonl::scan;
use benzer_core::minhash::{self, Algorithm, Sketcher};
use benzer_core::similarity::Weights;
use benzer_core::text::{Case, Form, Reader, Recipe, Scratch, Tokenizer, Unit};
use std::convert::Infallible;

const NUM_HASHES: usize = 128;
const BANDS: usize = 16;
const ROWS: usize = 8;
const DOCUMENTS: usize = 50;
const JOINED: usize = 20_000;

/// The work of a kernel after its input is made; the number depends on all results, so that none is optimized away.
type Work = Box<dyn FnMut() -> u64>;

/// A kernel by name.
pub struct Kernel {
    /// The name in the record.
    pub name: &'static str,
    /// Makes the input.
    pub prepare: fn() -> Work,
}

/// All of them.
pub const ALL: &[Kernel] = &[
    Kernel { name: "words-ascii", prepare: || read(plain(Unit::Word), Script::Ascii) },
    Kernel { name: "words-unicode", prepare: || read(plain(Unit::Word), Script::Unicode) },
    Kernel { name: "words-default-ascii", prepare: || read(usual(Unit::Word, 3), Script::Ascii) },
    Kernel { name: "words-default-unicode", prepare: || read(usual(Unit::Word, 3), Script::Unicode) },
    Kernel { name: "characters-ascii", prepare: || read(plain(Unit::Char), Script::Ascii) },
    Kernel { name: "characters-unicode", prepare: || read(plain(Unit::Char), Script::Unicode) },
    Kernel { name: "characters-default-ascii", prepare: || read(usual(Unit::Char, 5), Script::Ascii) },
    Kernel { name: "characters-default-unicode", prepare: || read(usual(Unit::Char, 5), Script::Unicode) },
    Kernel { name: "sketch-300", prepare: || sketch(300) },
    Kernel { name: "sketch-1500", prepare: || sketch(1500) },
    Kernel { name: "sketch-20", prepare: || sketch(20) },
    Kernel { name: "band-keys", prepare: keys },
    Kernel { name: "band-join", prepare: join },
    Kernel { name: "jaccard", prepare: compare },
    Kernel { name: "jsonl-scan", prepare: scan_lines },
    Kernel { name: "corpus-sketch-words", prepare: || sketch_corpus(Unit::Word) },
    Kernel { name: "corpus-verify-words", prepare: || verify(Unit::Word) },
    Kernel { name: "corpus-verify-characters", prepare: || verify(Unit::Char) },
];

/// The defaults of `Text()`.
fn usual(unit: Unit, shingle_size: usize) -> Recipe {
    Recipe {
        unit,
        shingle_size,
        tokenizer: Tokenizer::Unified,
        form: Form::Nfkc,
        case: Case::Fold,
        keep_punctuation: unit == Unit::Char,
        keep_whitespace: false,
        shingle_hash: StringHash::Benzer,
        four_bytes: false,
        frequencies: false,
    }
}

/// The rules of plain Python, as the comparisons with other tools have them.
fn plain(unit: Unit) -> Recipe {
    let keep_whitespace = unit == Unit::Char;
    Recipe { tokenizer: Tokenizer::Alnum, form: Form::None, case: Case::Lower, keep_whitespace, ..usual(unit, 5) }
}

struct ReadAll<'a> {
    reader: &'a Reader,
    texts: &'a [String],
    scratch: &'a mut Scratch,
}

impl Task for ReadAll<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Level>(self) -> u64 {
        let mut sum = 0;
        for text in self.texts {
            self.reader.read::<L>(text, self.scratch);
            sum ^= self.scratch.shingles.last().copied().unwrap_or_default();
        }
        sum
    }
}

/// Texts to shingle hashes. A first pass fills the buffers, as in any longer run.
fn read(recipe: Recipe, script: Script) -> Work {
    let (reader, texts, mut scratch) = (Reader::new(recipe, &[]), inputs::texts(DOCUMENTS, script), Scratch::default());
    let mut all = move || isa::run(ReadAll { reader: &reader, texts: &texts, scratch: &mut scratch });
    all();
    Box::new(all)
}

fn sketcher() -> Sketcher {
    Sketcher::new(Algorithm::Fast, NUM_HASHES, 0).expect("128 is a number of hashes")
}

struct SketchAll<'a> {
    sketcher: &'a Sketcher,
    sets: &'a [Vec<u64>],
    scratch: &'a mut minhash::Scratch,
    out: &'a mut [u32],
}

impl Task for SketchAll<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Level>(self) -> u64 {
        let mut sum = 0;
        for set in self.sets {
            // SAFETY: `isa::run` runs a task only at a level that the machine has.
            unsafe { self.sketcher.sketch_level::<L>(set, self.scratch, self.out) };
            sum ^= u64::from(self.out[0]);
        }
        sum
    }
}

/// 30,000 elements in sets of `size` to signatures.
fn sketch(size: usize) -> Work {
    let sets: Vec<Vec<u64>> = (0..30_000 / size as u64).map(|seed| inputs::hashes(size, seed)).collect();
    let (sketcher, mut scratch, mut out) = (sketcher(), minhash::Scratch::default(), vec![0; NUM_HASHES]);
    let mut all =
        move || isa::run(SketchAll { sketcher: &sketcher, sets: &sets, scratch: &mut scratch, out: &mut out });
    all();
    Box::new(all)
}

fn keys() -> Work {
    let values = inputs::hashes(NUM_HASHES * 500, 3);
    let signatures: Vec<u32> = values.into_iter().map(|value| value as u32).collect();
    let mut out = vec![0; BANDS];
    Box::new(move || {
        let mut sum = 0;
        for signature in signatures.chunks_exact(NUM_HASHES) {
            band_keys(signature, BANDS, ROWS, 0, &mut out);
            sum ^= out[BANDS - 1];
        }
        sum
    })
}

fn join() -> Work {
    let keys = inputs::band_keys(JOINED, BANDS);
    Box::new(move || {
        let keys = Keys::by_document(&keys, BANDS);
        let join = Join { keys, limit: Limit::Fixed(1000), taking_part: &[], at_once: 0 };
        join.candidates().pairs.len() as u64
    })
}

fn compare() -> Work {
    let [a, b] = inputs::two_sets(1000);
    Box::new(move || (0..50).map(|_| jaccard(std::hint::black_box(&a), std::hint::black_box(&b)).to_bits()).sum())
}

fn scan_lines() -> Work {
    let data = inputs::jsonl(&inputs::texts(4 * DOCUMENTS, Script::Unicode));
    Box::new(move || {
        let mut sum = 0;
        let columns: [&[u8]; 2] = [b"id", b"text"];
        let lines = scan(&data, &columns, isa::current(), |row| {
            let row = row.expect("the lines are rows");
            sum += row.values[1].raw(&data).len() as u64;
            Ok::<(), Infallible>(())
        });
        sum + lines.unwrap_or_default()
    })
}

fn corpus(unit: Unit) -> Corpus {
    let mut corpus = Corpus::new(vec![FieldKind::Text(Reader::new(plain(unit), &[]))]);
    let fields = ["text".to_owned()];
    let columns = JsonlColumns { fields: &fields, id: Some("id"), id_required: true, extra: None };
    corpus.add_jsonl_data(0, inputs::jsonl(&inputs::texts(2 * DOCUMENTS, Script::Unicode)), &columns, 0);
    corpus
}

fn sketch_corpus(unit: Unit) -> Work {
    let (corpus, plan) = (corpus(unit), SketchPlan { sketcher: sketcher(), bands: BANDS, rows: ROWS });
    let count = corpus.len();
    let (mut keys, mut content) = (vec![0; BANDS * count], vec![[0; 2]; count]);
    let (mut sizes, mut units) = (vec![0; count], vec![0; count]);
    Box::new(move || {
        let out = Sketches { keys: &mut keys, content: &mut content, sizes: &mut sizes, units: &mut units };
        corpus.sketch(&plan, 0, out);
        keys[0]
    })
}

/// The near-duplicates that were made, with their similarity.
fn verify(unit: Unit) -> Work {
    let corpus = corpus(unit);
    let right: Vec<u32> = (0..2 * DOCUMENTS as u32).filter(|number| number % 5 == 4).collect();
    let left: Vec<u32> = right.iter().map(|number| number - 1).collect();
    Box::new(move || corpus.similarity(&left, &right, &Weights(&[1.0])).iter().map(|value| value.to_bits() >> 32).sum())
}
