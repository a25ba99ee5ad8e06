//! Reads mapped files that other programs may change.
//!
//! There is never a reference into the map, because its bytes may change. Every read copies them into a buffer.
//! Reading a missing page (the file was truncated, or its disk failed) makes the system send SIGBUS to the thread;
//! [`bus_errors`] converts it to [`InputChanged`].

use crate::jsonl::newline_from;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::io::Result;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes copied at once to look for a newline.
const STEP: usize = 4096;

/// The payload that a read of a changed file unwinds with; see [`crate::watch`].
#[derive(Debug)]
pub struct InputChanged {
    /// The name of the file.
    pub name: String,
}

/// A file in memory, of the size that it had when it was mapped.
pub(super) struct MappedFile {
    map: MmapRaw,
    name: String,
    path: PathBuf,
    /// Whether a page could not be read; zeros are in its place.
    lost: AtomicBool,
}

impl MappedFile {
    /// Maps a file that is not empty; none for an empty one. `name` is for errors.
    pub(super) fn open(path: &Path, name: &str) -> Result<Option<MappedFile>> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        bus_errors::catch();
        let (map, path) = (MmapOptions::new().map_raw_read_only(&file)?, std::path::absolute(path)?);
        Ok(Some(MappedFile { map, name: name.to_owned(), path, lost: AtomicBool::new(false) }))
    }

    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// Replaces the contents of `out` by some bytes; see [`MappedFile::append_to`].
    pub(super) fn read<'a>(&self, range: Range<usize>, out: &'a mut Vec<u8>) -> &'a [u8] {
        out.clear();
        self.append_to(out, range);
        out
    }

    /// Copies some bytes behind those of `out`.
    ///
    /// # Panics
    /// Where the range leaves the file. Where bytes are gone it unwinds with [`InputChanged`].
    pub(super) fn append_to(&self, out: &mut Vec<u8>, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.len(), "{range:?} of {} bytes", self.len());
        out.reserve(range.len());
        // SAFETY: the range is in the map, and `out` has space for it.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            bus_errors::copy(self.map.as_ptr().add(range.start), to, range.len(), &self.lost);
            out.set_len(out.len() + range.len());
        }
        if self.lost.load(Ordering::SeqCst) {
            self.changed();
        }
    }

    /// Unwinds with [`InputChanged`].
    pub(super) fn changed(&self) -> ! {
        resume_unwind(Box::new(InputChanged { name: self.name.clone() }))
    }

    /// Unwinds with [`InputChanged`] where the file is shorter than when it was mapped. Needed because the end of a page
    /// beyond the end of its file reads as zeros. A file that was removed or renamed is still there in memory.
    pub(super) fn check(&self) {
        if std::fs::metadata(&self.path).is_ok_and(|now| now.len() < self.len() as u64) {
            self.changed();
        }
    }

    /// Maps some bytes into memory in one go: page by page, as they are touched, takes longer. A whole file at once
    /// would be deaf to Ctrl-C while the disk reads it.
    pub(super) fn fetch(&self, range: Range<usize>) {
        // Where the system is too old to know it, the pages come as they are touched.
        #[cfg(target_os = "linux")]
        let _ = self.map.advise_range(memmap2::Advice::PopulateRead, range.start, range.len());
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// The offset of the first newline at or after `at`; the end of the file if there is none.
    pub(super) fn newline_from(&self, at: usize) -> usize {
        let mut copy = Vec::new();
        for from in (at..self.len()).step_by(STEP) {
            let block = self.read(from..(from + STEP).min(self.len()), &mut copy);
            let newline = newline_from(block, 0);
            if newline < block.len() {
                return from + newline;
            }
        }
        self.len()
    }

    /// The offset behind the last newline of a range; its start if there is none.
    pub(super) fn line_start(&self, range: Range<usize>) -> usize {
        let (mut copy, mut end) = (Vec::new(), range.end);
        while end > range.start {
            let from = range.start.max(end.saturating_sub(STEP));
            if let Some(newline) = self.read(from..end, &mut copy).iter().rposition(|&byte| byte == b'\n') {
                return from + newline + 1;
            }
            end = from;
        }
        range.start
    }
}

/// Copies out of maps whose pages may be gone.
///
/// A thread notes what it copies. If SIGBUS comes from there, the handler marks the file and maps zeros over the rest
/// of the copied range, so that the copy ends. Every other SIGBUS goes to the handler that was there before.
#[cfg(unix)]
mod bus_errors {
    use std::cell::Cell;
    use std::mem::{transmute, zeroed};
    use std::ptr::{copy_nonoverlapping, null_mut};
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};
    use std::sync::{Mutex, PoisonError};

    /// The range that a thread copies now.
    struct Copying {
        start: AtomicUsize,
        end: AtomicUsize,
        lost: AtomicPtr<AtomicBool>,
        /// Whether the handler that was there before is running.
        passing_on: Cell<bool>,
    }

    thread_local! {
        /// Made at compile time and never dropped, so that a signal handler may look at it.
        static COPYING: Copying = const {
            Copying {
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                lost: AtomicPtr::new(null_mut()),
                passing_on: Cell::new(false),
            }
        };
    }

    static PAGE: AtomicUsize = AtomicUsize::new(0);
    /// The handler that was there before; never freed, because a thread may be about to call it.
    static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());
    /// Where the last SIGBUS came from that was passed on.
    static PASSED_ON: AtomicUsize = AtomicUsize::new(0);

    type Handler = unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// Copies `len` bytes. Where some are gone, `lost` is set and zeros are copied.
    ///
    /// # Safety
    /// `from` to `from + len` is in a read-only map of a file, and `to` has space for it.
    pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize, lost: &AtomicBool) {
        COPYING.with(|copying| {
            copying.lost.store((&raw const *lost).cast_mut(), Ordering::Relaxed);
            copying.start.store(from as usize, Ordering::Relaxed);
            copying.end.store(from as usize + len, Ordering::Relaxed);
            // The handler runs in this thread: only the compiler could reorder.
            compiler_fence(Ordering::SeqCst);
            // SAFETY: the caller's promise. Concurrent changes result in arbitrary bytes.
            unsafe { copy_nonoverlapping(from, to, len) };
            compiler_fence(Ordering::SeqCst);
            copying.end.store(0, Ordering::Relaxed);
        });
    }

    /// Installs the handler, where it is not in place: another one may have been installed since, such as the one of
    /// Python's `faulthandler`.
    pub fn catch() {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let handler: Handler = on_bus_error;
        // SAFETY: the pointers are of live values, and the handler only does what a signal handler may do.
        unsafe {
            let mut before: libc::sigaction = zeroed();
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) != 0
                || before.sa_sigaction == handler as usize
            {
                return;
            }
            PAGE.store(libc::sysconf(libc::_SC_PAGESIZE) as usize, Ordering::SeqCst);
            BEFORE.store(Box::into_raw(Box::new(before)), Ordering::SeqCst);
            let mut ours: libc::sigaction = zeroed();
            ours.sa_sigaction = handler as usize;
            // Other handlers raise the signal once more to end the process, and must be able to.
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(libc::SIGBUS, &ours, null_mut());
        }
    }

    /// # Safety
    /// Called by the system, with what it gives to handlers that have `SA_SIGINFO`.
    unsafe extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system gives a valid `info`. A positive code is that of a fault, which has an address.
        let address = unsafe { if (*info).si_code > 0 { (*info).si_addr() as usize } else { 0 } };
        if !replaced(address) {
            // SAFETY: what the system gave.
            unsafe { pass_on(signal, info, context, address) };
        }
    }

    /// Whether the address is in the range that this thread copies, and zeros are mapped there now.
    fn replaced(address: usize) -> bool {
        COPYING.with(|copying| {
            let page = PAGE.load(Ordering::SeqCst);
            let (start, end) = (copying.start.load(Ordering::Relaxed), copying.end.load(Ordering::Relaxed));
            if address < start || address >= end {
                return false;
            }
            let from = address / page * page;
            let len = end.next_multiple_of(page) - from;
            // SAFETY: `copy` has set it, and has not returned. Before the zeros are there, so that readers of the
            // zeros see it.
            unsafe { (*copying.lost.load(Ordering::Relaxed)).store(true, Ordering::SeqCst) };
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: the pages belong to the map, which is read only by `copy` and is released as a whole.
            let zeros = unsafe { libc::mmap(from as *mut libc::c_void, len, libc::PROT_READ, flags, -1, 0) };
            zeros != libc::MAP_FAILED
        })
    }

    /// Calls the handler that was there before. Where there is none, or the signal came back, the process ends.
    ///
    /// # Safety
    /// The arguments are those of the system.
    unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void, address: usize) {
        let came_back = address != 0 && PASSED_ON.swap(address, Ordering::SeqCst) == address;
        COPYING.with(|copying| {
            // SAFETY: `catch` has set it before it installed the handler.
            let before = unsafe { &*BEFORE.load(Ordering::SeqCst) };
            if before.sa_sigaction == libc::SIG_IGN && address == 0 {
                return;
            }
            if before.sa_sigaction <= libc::SIG_IGN || came_back || copying.passing_on.get() {
                // SAFETY: both may be called in a signal handler.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
                return;
            }
            copying.passing_on.set(true);
            // SAFETY: it is a handler with the arguments that its flags say.
            unsafe {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    transmute::<usize, Handler>(before.sa_sigaction)(signal, info, context);
                } else {
                    transmute::<usize, extern "C" fn(libc::c_int)>(before.sa_sigaction)(signal);
                }
            }
            copying.passing_on.set(false);
        });
    }
}

/// Elsewhere a mapped file cannot be truncated.
#[cfg(not(unix))]
mod bus_errors {
    use std::sync::atomic::AtomicBool;

    pub fn catch() {}

    /// # Safety
    /// `from` to `from + len` is in a read-only map of a file, and `to` has space for it.
    pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize, _lost: &AtomicBool) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
    }
}

/// Has reads of mapped files notice that bytes are gone, also where another handler of SIGBUS was installed since.
pub fn catch_bus_errors() {
    bus_errors::catch();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn file(name: &str, content: &[u8]) -> (PathBuf, MappedFile) {
        let path = std::env::temp_dir().join(format!("benzer-mapped-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        let file = MappedFile::open(&path, "a name").unwrap().unwrap();
        (path, file)
    }

    fn changed(work: impl FnOnce()) -> bool {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(()) => false,
            Err(panic) => panic.downcast::<InputChanged>().unwrap().name == "a name",
        }
    }

    #[test]
    fn lines_are_found_across_steps() {
        let content = [vec![b'a'; STEP + 5], vec![b'\n'], vec![b'b'; 3 * STEP]].concat();
        let (path, file) = file("lines", &content);
        assert_eq!((file.newline_from(0), file.newline_from(STEP + 6)), (STEP + 5, content.len()));
        assert_eq!(file.line_start(0..content.len()), STEP + 6);
        assert_eq!((file.line_start(7..STEP), file.line_start(0..STEP + 6)), (7, STEP + 6));
        std::fs::remove_file(path).unwrap();
        file.check();
        assert_eq!(file.read(STEP + 4..STEP + 7, &mut Vec::new()), b"a\nb");
    }

    #[test]
    #[cfg(unix)]
    fn pages_that_are_gone_are_noticed_in_every_thread() {
        let (path, file) = file("gone", &vec![b'x'; 1 << 20]);
        File::options().write(true).open(&path).unwrap().set_len(1 << 19).unwrap();
        let read = &|from: usize| changed(|| assert_eq!(file.read(from..from + 9, &mut Vec::new()), b"xxxxxxxxx"));
        assert!(!read(5));
        assert!(changed(|| file.check()));
        let threads = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|at| scope.spawn(move || read((1 << 19) + (at << 10)))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<bool>>()
        });
        assert_eq!(threads, [true; 8]);
        assert!(read(5), "what was lost once stays lost");
        std::fs::remove_file(path).unwrap();
    }
}
