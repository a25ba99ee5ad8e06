//! The Python shell of the native core: it converts, releases the GIL and maps errors; it holds no algorithm.

mod clusters;
mod columns;
mod contents;
mod convert;
mod corpus;
mod evidence;
mod hashing;
mod interrupt;
mod joins;
mod nearest;
mod parts;
mod postings;
mod question;
mod setjoin;
mod sketching;
mod text;
mod winnow;
mod writing;

use pyo3::prelude::*;

/// The native core of Benzer. Use the documented names of the package instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::clusters::Deciding;
    #[pymodule_export]
    use super::columns::column_signatures;
    #[pymodule_export]
    use super::contents::{Contents, Overlaps, cell_codes};
    #[pymodule_export]
    use super::corpus::Corpus;
    #[pymodule_export]
    use super::evidence::{KnownText, token_spans};
    #[pymodule_export]
    use super::hashing::{hash_parameters, hash_values, murmur3_digest, string_hash, string_hashes};
    #[pymodule_export]
    use super::joins::{candidate_pairs, components, jaccard, usual_limit};
    #[pymodule_export]
    use super::nearest::equal_bytes;
    #[pymodule_export]
    use super::parts::{buckets_of, deal_keys, deal_pairs, distinct_pairs, pairs_within, without_hot};
    #[pymodule_export]
    use super::postings::{Blocks, find_postings};
    #[pymodule_export]
    use super::question::{Question, Rules};
    #[pymodule_export]
    use super::setjoin::{contained, exact_join};
    #[pymodule_export]
    use super::sketching::{band_keys, estimate, merge_signatures, signatures, text_signatures};
    #[pymodule_export]
    use super::text::{TextReader, available_isas, isa, set_isa, unicode_version, value_set_hash, value_sets};
    #[pymodule_export]
    use super::winnow::winnowed;
    #[pymodule_export]
    use super::writing::{copy_documents, write_json_lines};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
