//! Random numbers of Java's generator.

/// The generator of `java.util.Random`: a linear congruence of 48 bits, which returns the upper 32 bits.
#[derive(Clone, Debug)]
pub struct JavaRandom {
    state: u64,
}

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    /// The generator of a seed; only its low 48 bits are used.
    pub fn new(seed: u64) -> Self {
        JavaRandom { state: (seed ^ Self::MULTIPLIER) & Self::MASK }
    }

    /// The result of `nextInt()` as an unsigned number.
    pub fn next_u32(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        (self.state >> 16) as u32
    }
}
