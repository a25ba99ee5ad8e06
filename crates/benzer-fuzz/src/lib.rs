//! Properties of the native core that hold for any input.
//!
//! A target is a function of some bytes that panics where a property does not hold. It compares the core with a second,
//! simpler way to the same result. `fuzz/` runs the targets under libFuzzer; the tests of this crate run them on
//! the seeds in `fuzz/corpus` and on mutations of these, on a stable compiler.
//!
//! | target | checks |
//! |---|---|
//! | [`jsonl`] | rows and values of JSON lines, on each instruction set, in any pieces, against `serde_json` |
//! | [`text`] | shingle hashes on each instruction set against the definition; places of tokens in the original |
//! | [`corpus`] | exact joins, candidate pairs, identical documents and decisions against comparing all pairs |
//! | [`evidence`] | passages that two texts share |
//! | [`stored`] | postings, blocks and documents of an index, sound and damaged |

mod corpus;
mod decided;
mod documents;
mod evidence;
mod input;
mod jsonl;
mod stored;
mod text;

pub use corpus::corpus;
pub use evidence::evidence;
pub use jsonl::jsonl;
pub use stored::stored;
pub use text::text;

/// A function that panics where a property does not hold for some bytes.
pub type Target = fn(&[u8]);

/// All targets by name; their seeds are in `fuzz/corpus/<name>`.
pub const TARGETS: [(&str, Target); 5] =
    [("jsonl", jsonl), ("text", text), ("corpus", corpus), ("evidence", evidence), ("stored", stored)];

/// Makes this thread the only one of the global pool, so that no target waits for another thread.
pub fn on_one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.expect("no other pool has been made");
}
