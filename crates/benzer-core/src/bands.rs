//! Keys of the bands of a signature. Documents with an equal key are in the same bucket.
//!
//! A band is a run of `rows` values of a signature. Documents with equal values in a whole band have an equal key and
//! are a candidate pair. The key depends on the number of the band and of the field, so keys of different bands never
//! mix.

use crate::hash::mix::{K1, K2, K3, K4, mum};
use crate::minhash::EMPTY;

/// The key without a bucket: all bands of an empty signature have it.
pub const NO_KEY: u64 = u64::MAX;

/// Writes the keys of the first `bands * rows` values of `signature` to `out`, one per band.
///
/// `field` is the number of the document's field, from 0. An empty signature gets [`NO_KEY`] everywhere.
///
/// ```
/// # use benzer_core::bands::{NO_KEY, band_keys};
/// let mut keys = [0; 2];
/// band_keys(&[7, 8, 7, 8], 2, 2, 0, &mut keys);
/// assert_ne!(keys[0], keys[1]);
/// band_keys(&[u32::MAX; 4], 2, 2, 0, &mut keys);
/// assert_eq!(keys, [NO_KEY; 2]);
/// ```
///
/// # Panics
/// If `rows` is 0, the signature is shorter than `bands * rows`, or `out` is not `bands` long.
#[inline]
pub fn band_keys(signature: &[u32], bands: usize, rows: usize, field: u64, out: &mut [u64]) {
    assert_eq!(out.len(), bands, "there is one key per band");
    if signature.iter().all(|&value| value == EMPTY) {
        out.fill(NO_KEY);
        return;
    }
    let values = &signature[..bands * rows];
    let mut number = field.wrapping_mul(K3);
    let mut start = || {
        number = number.wrapping_add(K1);
        number
    };
    let (groups, rest) = out.as_chunks_mut::<ABREAST>();
    let (in_groups, in_rest) = values.split_at(groups.len() * ABREAST * rows);
    for (keys, values) in groups.iter_mut().zip(in_groups.chunks_exact(ABREAST * rows)) {
        *keys = keys_abreast(std::array::from_fn(|_| start()), values, rows);
    }
    for (key, values) in rest.iter_mut().zip(in_rest.chunks_exact(rows)) {
        [*key] = keys_abreast([start()], values, rows);
    }
}

/// Bands whose keys are computed together: a key is a chain of products, and each waits for the previous one.
const ABREAST: usize = 4;

/// The keys of `N` bands.
#[inline]
fn keys_abreast<const N: usize>(mut keys: [u64; N], values: &[u32], rows: usize) -> [u64; N] {
    let bands: [&[u32]; N] = std::array::from_fn(|band| &values[band * rows..][..rows]);
    for row in 0..rows {
        for (key, band) in keys.iter_mut().zip(bands) {
            *key = mum(*key ^ u64::from(band[row]), K2);
        }
    }
    keys.map(|h| {
        let h = (h ^ h >> 32).wrapping_mul(K4);
        if h == NO_KEY { 0 } else { h }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(signature: &[u32], bands: usize, rows: usize, field: u64) -> Vec<u64> {
        let mut out = vec![1; bands];
        band_keys(signature, bands, rows, field, &mut out);
        out
    }

    /// The same rule with 128-bit arithmetic and without helpers.
    fn plain_key(number: u128, field: u128, band: &[u32]) -> u64 {
        let word = 1_u128 << 64;
        let mut h = ((number + 1) * u128::from(K1) + field * u128::from(K3)) % word;
        for &value in band {
            let product = (h ^ u128::from(value)) * u128::from(K2);
            h = (product % word) ^ (product / word);
        }
        let h = ((h ^ (h >> 32)) * u128::from(K4) % word) as u64;
        if h == u64::MAX { 0 } else { h }
    }

    #[test]
    fn keys_follow_the_rule_for_every_shape() {
        let signature: Vec<u32> = (0..120_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
        for (bands, rows) in [(1, 1), (1, 120), (120, 1), (7, 3), (23, 5), (9, 13)] {
            for field in [0, 1, 5] {
                let expected: Vec<u64> = (0..bands)
                    .map(|band| plain_key(band as u128, field.into(), &signature[band * rows..][..rows]))
                    .collect();
                assert_eq!(keys(&signature, bands, rows, field), expected, "{bands} x {rows}, field {field}");
            }
        }
    }

    #[test]
    fn equal_rows_share_a_key_only_in_the_same_band_and_field() {
        let (a, b) = (keys(&[1, 2, 1, 2], 2, 2, 0), keys(&[1, 2, 9, 9], 2, 2, 0));
        assert_eq!(a[0], b[0]);
        assert_ne!(a[1], b[1]);
        assert_ne!(a[0], a[1]);
        assert_ne!(a, keys(&[1, 2, 1, 2], 2, 2, 1));
    }

    #[test]
    fn an_empty_signature_is_never_a_candidate() {
        assert_eq!(keys(&[EMPTY; 6], 3, 2, 4), [NO_KEY; 3]);
        assert!(keys(&[5, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY], 3, 2, 4).iter().all(|&key| key != NO_KEY));
    }

    #[test]
    #[should_panic(expected = "one key per band")]
    fn a_wrong_number_of_keys_is_refused() {
        band_keys(&[1, 2], 2, 1, 0, &mut [0; 3]);
    }
}
