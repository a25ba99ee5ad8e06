//! Counts the instructions of a hot kernel: runs it once, at one level, under a tool that counts.
//!
//! `benzer-counts` lists the kernels; `benzer-counts KERNEL LEVEL` makes the input of the kernel, the same on every
//! machine, and runs the kernel inside [`counted`], the function whose instructions are counted, including callees.
//! `python -m benchmarks.instructions` does that under callgrind and compares with a record.

mod inputs;
mod kernels;

use benzer_core::isa::{self, Isa};
use std::process::ExitCode;

/// Runs `work`. The counting tool finds it by its symbol, so it is neither renamed nor inlined.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
#[inline(never)]
fn benzer_counted(work: &mut dyn FnMut() -> u64) -> u64 {
    std::hint::black_box(work())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            kernels::ALL.iter().for_each(|kernel| println!("{}", kernel.name));
            ExitCode::SUCCESS
        }
        [name, level] => count(name, level),
        _ => failure("benzer-counts [KERNEL LEVEL]"),
    }
}

fn count(name: &str, level: &str) -> ExitCode {
    let Some(kernel) = kernels::ALL.iter().find(|kernel| kernel.name == name) else {
        return failure(&format!("there is no kernel {name}"));
    };
    if !Isa::from_name(level).is_some_and(|level| isa::set(Some(level))) {
        return failure(&format!("this machine has no level {level}"));
    }
    // The thread that counts does the work itself.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    if let Err(cause) = pool {
        return failure(&format!("no pool: {cause}"));
    }
    let mut work = (kernel.prepare)();
    println!("{}", benzer_counted(&mut *work));
    ExitCode::SUCCESS
}

fn failure(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::FAILURE
}
