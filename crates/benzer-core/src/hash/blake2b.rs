//! BLAKE2b (RFC 7693) without a key, with a digest of 128 bits: a hash without known collisions.
//!
//! All other hashes of this crate are fast, but an attacker who chooses the input can forge them. Use this one where
//! equal hashes must mean equal content. It takes about a nanosecond per byte.

/// Bytes in a block.
const BLOCK: usize = 128;

/// Words in a block.
const WORDS: usize = BLOCK / 8;

/// Bytes in the digest.
const DIGEST: u64 = 16;

/// The first 64 bits of the fractions of the square roots of the first eight primes.
const START: [u64; 8] = [
    0x6A09_E667_F3BC_C908,
    0xBB67_AE85_84CA_A73B,
    0x3C6E_F372_FE94_F82B,
    0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1,
    0x9B05_688C_2B3E_6C1F,
    0x1F83_D9AB_FB41_BD6B,
    0x5BE0_CD19_137E_2179,
];

/// The order of the words of a block in each round; the last two rounds have the first two orders.
const SIGMA: [[usize; WORDS]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// A digest in the making, of words of 64 bits that are read as their bytes, the least first.
#[derive(Clone, Debug)]
pub struct Blake2b {
    state: [u64; 8],
    block: [u64; WORDS],
    /// Words in `block`.
    filled: usize,
    /// Words in the blocks before it.
    before: u64,
}

impl Default for Blake2b {
    fn default() -> Self {
        let mut state = START;
        state[0] ^= 0x0101_0000 ^ DIGEST;
        Blake2b { state, block: [0; WORDS], filled: 0, before: 0 }
    }
}

impl Blake2b {
    /// Appends words.
    pub fn update(&mut self, mut words: &[u64]) {
        while !words.is_empty() {
            // The last block is marked as such, so a full one waits until more comes.
            if self.filled == WORDS {
                self.before += WORDS as u64;
                compress(&mut self.state, &self.block, self.before * 8, false);
                self.filled = 0;
            }
            let (now, later) = words.split_at(words.len().min(WORDS - self.filled));
            self.block[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            words = later;
        }
    }

    /// The digest: its 16 bytes as two words, the least byte first.
    pub fn finish(mut self) -> [u64; 2] {
        self.block[self.filled..].fill(0);
        compress(&mut self.state, &self.block, (self.before + self.filled as u64) * 8, true);
        [self.state[0], self.state[1]]
    }
}

/// Takes in one block, of the input that ends `count` bytes after its start.
fn compress(state: &mut [u64; 8], block: &[u64; WORDS], count: u64, last: bool) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&START);
    v[12] ^= count;
    if last {
        v[14] = !v[14];
    }
    // The order of the words is known to the compiler in each round, so that all of `v` stays in registers.
    round::<0>(&mut v, block);
    round::<1>(&mut v, block);
    round::<2>(&mut v, block);
    round::<3>(&mut v, block);
    round::<4>(&mut v, block);
    round::<5>(&mut v, block);
    round::<6>(&mut v, block);
    round::<7>(&mut v, block);
    round::<8>(&mut v, block);
    round::<9>(&mut v, block);
    round::<0>(&mut v, block);
    round::<1>(&mut v, block);
    for (at, word) in state.iter_mut().enumerate() {
        *word ^= v[at] ^ v[at + 8];
    }
}

#[inline(always)]
fn round<const ORDER: usize>(v: &mut [u64; 16], block: &[u64; WORDS]) {
    let order = const { &SIGMA[ORDER] };
    mix(v, [0, 4, 8, 12], [block[order[0]], block[order[1]]]);
    mix(v, [1, 5, 9, 13], [block[order[2]], block[order[3]]]);
    mix(v, [2, 6, 10, 14], [block[order[4]], block[order[5]]]);
    mix(v, [3, 7, 11, 15], [block[order[6]], block[order[7]]]);
    mix(v, [0, 5, 10, 15], [block[order[8]], block[order[9]]]);
    mix(v, [1, 6, 11, 12], [block[order[10]], block[order[11]]]);
    mix(v, [2, 7, 8, 13], [block[order[12]], block[order[13]]]);
    mix(v, [3, 4, 9, 14], [block[order[14]], block[order[15]]]);
}

#[inline(always)]
fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], [x, y]: [u64; 2]) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(words: &[u64], step: usize) -> [u64; 2] {
        let mut hash = Blake2b::default();
        words.chunks(step).for_each(|part| hash.update(part));
        hash.finish()
    }

    /// Digests that `hashlib.blake2b(data, digest_size=16)` of Python gives.
    #[test]
    fn digests_are_those_of_other_implementations() {
        let words: Vec<u64> = (0..1000).map(|at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let known = [
            (0, [0x40BD_EFD9_4169_E6CA, 0x7076_A68E_7588_4D4E]),
            (1, [0xE337_C38E_19CE_04C8, 0xCEAE_091A_DD2B_76DC]),
            (15, [0x91F8_D28E_8A48_0F64, 0xF76C_D3FF_68D5_63DB]),
            (16, [0x87E3_2046_82FA_8BA7, 0x2BD7_63CC_8A58_CE3A]),
            (17, [0x7626_B5DB_2467_E1C0, 0x9278_AC71_165D_491D]),
            (32, [0xA93C_8D69_505E_A158, 0x51BA_7384_D49D_4E9B]),
            (33, [0x0F0B_B344_16CB_52EF, 0xE551_ED75_90F9_A9C3]),
            (1000, [0x0924_B8E1_BCF2_2B9F, 0x7430_F43E_1CED_F18A]),
        ];
        for (count, want) in known {
            for step in [1, 7, 16, 1000] {
                assert_eq!(digest(&words[..count], step), want, "{count} words, {step} at a time");
            }
        }
    }
}
