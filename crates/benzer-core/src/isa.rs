//! The instruction sets that the kernels may use.
//!
//! Every kernel returns bit-identical results on all of them; one is selected for each batch at run time.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction-set level. A higher level includes the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust, whatever the compiler makes of it for the build target.
    Portable = 1,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT (x86-64-v3).
    Avx2 = 2,
    /// AVX-512 F, BW, CD, DQ, VL, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512 = 3,
}

impl Isa {
    /// The name used in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Isa> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().find(|isa| isa.name() == name)
    }

    /// The highest level this machine offers.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Isa {
        macro_rules! has {
            ($($feature:tt),+) => { $(is_x86_feature_detected!($feature))&&+ };
        }
        if !has!("avx2", "bmi1", "bmi2", "lzcnt", "popcnt") {
            return Isa::Portable;
        }
        if has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2") {
            return Isa::Avx512;
        }
        Isa::Avx2
    }

    /// The highest level this machine offers.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Isa {
        Isa::Portable
    }

    /// All levels this machine offers, lowest first.
    pub fn available() -> Vec<Isa> {
        let best = Isa::detect();
        [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|&isa| isa <= best).collect()
    }
}

static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// The level in use: the one set by [`set`], else the best this machine offers.
pub fn current() -> Isa {
    match CHOSEN.load(Ordering::Relaxed) {
        1 => Isa::Portable,
        2 => Isa::Avx2,
        3 => Isa::Avx512,
        _ => {
            let best = Isa::detect();
            CHOSEN.store(best as u8, Ordering::Relaxed);
            best
        }
    }
}

/// Uses `isa` from now on (`None`: the best there is). Returns false, and changes nothing, where the machine lacks it.
pub fn set(isa: Option<Isa>) -> bool {
    let wanted = isa.unwrap_or_else(Isa::detect);
    if wanted > Isa::detect() {
        return false;
    }
    CHOSEN.store(wanted as u8, Ordering::Relaxed);
    true
}

/// A level known at compile time: kernels are generic over it and are compiled once for each.
///
/// Only this module names the types that are levels and can make new ones; others get them from [`run`] in a [`Task`].
/// So code that has a level `L` runs on a machine that offers it, and may use its instructions.
///
/// ```compile_fail
/// use benzer_core::isa::Avx512;
/// ```
///
/// ```compile_fail
/// # use benzer_core::isa::{Isa, Level};
/// #[derive(Clone, Copy)]
/// struct Mine;
/// impl Level for Mine {
///     const ISA: Isa = Isa::Avx512;
/// }
/// ```
pub trait Level: Copy + Send + Sync + sealed::Sealed {
    /// The level's value.
    const ISA: Isa;
}

mod sealed {
    pub trait Sealed {}
}

/// Defines the type of a level.
macro_rules! level {
    ($($visibility:vis $level:ident),+) => { $(
        #[derive(Clone, Copy)]
        $visibility struct $level;
        impl sealed::Sealed for $level {}
        impl Level for $level {
            const ISA: Isa = Isa::$level;
        }
    )+ };
}

level!(pub(crate) Portable);
#[cfg(target_arch = "x86_64")]
level!(Avx2, Avx512);

/// Work that is to be compiled once for each level; see [`run`].
pub trait Task {
    /// Its result.
    type Output;
    /// Does the work with the instructions of `L`; must be `#[inline(always)]` to be compiled for them.
    fn run<L: Level>(self) -> Self::Output;
}

/// Runs `task` compiled for the level in use.
pub fn run<T: Task>(task: T) -> T::Output {
    run_at(current(), task)
}

/// Runs `task` compiled for `isa`, or for the best level of this machine where that is lower.
pub fn run_at<T: Task>(isa: Isa, task: T) -> T::Output {
    match isa.min(Isa::detect()) {
        // SAFETY: the level is at most what the machine offers.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { run_avx512(task) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { run_avx2(task) },
        _ => task.run::<Portable>(),
    }
}

/// # Safety
/// The machine offers [`Isa::Avx512`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx512<T: Task>(task: T) -> T::Output {
    task.run::<Avx512>()
}

/// # Safety
/// The machine offers [`Isa::Avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx2<T: Task>(task: T) -> T::Output {
    task.run::<Avx2>()
}
