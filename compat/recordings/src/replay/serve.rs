//! The child's side: the one place where recorded code runs.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use twox_hash::XxHash3_64;

use crate::child;

use super::job::{Answer, Job, Order, RawRun, Words, output_name};
use super::trace::monotonic;

/// How many different outcomes are kept.
const KEPT_OUTCOMES: u64 = 8;

/// A page of any system that this runs on is no longer.
const PAGE: u64 = 1 << 16;

mod dispatch;

type Sentence = String;

/// Reads a job from standard input and does it.
pub(super) fn serve() -> Result<(), Sentence> {
    let set_up = |error| format!("the child cannot set itself up: {error}");
    child::enter().map_err(set_up)?;
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text).map_err(set_up)?;
    let order = Order::parse(&text).ok_or("this is to be started by a replay, not by hand")?;
    let answers = own_output().map_err(set_up)?;
    let mut outcomes = Outcomes { folder: order.folder, answers, known: HashMap::new() };
    match order.job {
        Job::Words(words) => run_words(&words, order.repeat, &mut outcomes),
        Job::Dispatch(dispatch) => dispatch::run(&dispatch, order.repeat, &mut outcomes),
    }
}

/// What was standard output becomes the parent's alone; what the kernel prints goes to standard error.
fn own_output() -> io::Result<File> {
    let answers = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(answers))
}

/// What the runs have computed so far.
struct Outcomes {
    folder: PathBuf,
    answers: File,
    /// By hash, the number of each.
    known: HashMap<u64, u64>,
}

impl Outcomes {
    /// Takes in what a run has computed, and tells the parent.
    fn add(&mut self, start: i64, end: i64, memory: &[u8]) -> io::Result<()> {
        let next = self.known.len() as u64;
        let hash = XxHash3_64::oneshot(memory);
        let output = match self.known.get(&hash) {
            Some(&known) => known,
            None if next < KEPT_OUTCOMES => {
                fs::write(self.folder.join(output_name(next)), memory)?;
                self.known.insert(hash, next);
                next
            }
            None => KEPT_OUTCOMES,
        };
        self.answer(&Answer::Run(RawRun { start, end, output }))
    }

    fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        self.answers.write_all(format!("{}\n", answer.to_json()).as_bytes())
    }
}

fn run_words(job: &Words, repeat: u64, outcomes: &mut Outcomes) -> Result<(), Sentence> {
    let failed = |error: io::Error| format!("the child cannot do its work: {error}");
    let mut memory = match Memory::map(job.base, job.length) {
        Ok(memory) => memory,
        Err(Errno::EXIST) => return outcomes.answer(&Answer::Taken).map_err(failed),
        Err(error) => return Err(format!("no {} bytes at {:#x}: {error}", job.length, job.base)),
    };
    // SAFETY: that its code runs is what this process is for, and nothing but that depends on it.
    let image = unsafe { Library::open(Some(&job.image), RTLD_NOW | RTLD_LOCAL) }.map_err(reason)?;
    let kernel = symbol(&image, &job.kernel)?;
    let globals = Globals::find(&image, job)?;
    for _ in 0..repeat {
        memory.restore(&job.input).map_err(|error| format!("{}: {error}", job.input.display()))?;
        globals.restore();
        let start = monotonic();
        // SAFETY: as above. The image says that there is a function of this name.
        unsafe { call(kernel, &job.words) }?;
        let end = monotonic();
        if !memory.is_alone() {
            return Err("the kernel wrote outside of the recorded memory".to_owned());
        }
        outcomes.add(start, end, memory.bytes()).map_err(failed)?;
    }
    Ok(())
}

fn reason(error: libloading::Error) -> Sentence {
    let message = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
    let hint = match message.contains("cannot open shared object file") {
        true => "; give the folder that has it as library path",
        false => "",
    };
    format!("the image cannot be loaded: {message}{hint}")
}

fn symbol(image: &Library, name: &str) -> Result<*mut c_void, Sentence> {
    // SAFETY: it is only an address until it is used.
    let found = unsafe { image.get::<*mut c_void>(name.as_bytes()) };
    found.map(|symbol| symbol.into_raw()).map_err(|_| format!("the image has no {name}"))
}

/// The recorded memory, where it was, within a mapping of whole pages that are otherwise zero.
struct Memory {
    mapping: *mut u8,
    size: usize,
    /// Where in the mapping it is.
    range: Range<usize>,
}

impl Memory {
    /// Maps it; `EXIST` if something else is there.
    fn map(base: u64, length: u64) -> Result<Self, Errno> {
        let start = base - base % PAGE;
        let end = base.checked_add(length).and_then(|end| end.checked_next_multiple_of(PAGE));
        let size = end.and_then(|end| usize::try_from(end - start).ok()).ok_or(Errno::NOMEM)?;
        let head = (base - start) as usize;
        let range = head..head + length as usize;
        if length == 0 {
            return Ok(Self { mapping: ptr::NonNull::dangling().as_ptr(), size: 0, range: 0..0 });
        }
        let place = ptr::with_exposed_provenance_mut(usize::try_from(start).map_err(|_| Errno::NOMEM)?);
        // SAFETY: the mapping replaces none.
        let mapped = unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE | MapFlags::NORESERVE;
            mmap_anonymous(place, size, ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        // A kernel before 4.17 takes the address for a wish.
        if mapped != place {
            return Err(Errno::EXIST);
        }
        Ok(Self { mapping: mapped.cast(), size, range })
    }

    fn all(&self) -> &[u8] {
        // SAFETY: it was mapped (or is empty), and the kernel that writes to it has returned.
        unsafe { std::slice::from_raw_parts(self.mapping, self.size) }
    }

    fn bytes(&self) -> &[u8] {
        &self.all()[self.range.clone()]
    }

    /// Whether what lies around it, as far as it is mapped, is as it was.
    fn is_alone(&self) -> bool {
        let (head, tail) = (&self.all()[..self.range.start], &self.all()[self.range.end..]);
        head.iter().chain(tail).all(|&byte| byte == 0)
    }

    /// Makes it what it was before the launch; what lies behind the file's end becomes zero.
    fn restore(&mut self, input: &Path) -> io::Result<()> {
        // SAFETY: as above; nobody else has a reference to it.
        let all = unsafe { std::slice::from_raw_parts_mut(self.mapping, self.size) };
        let mut rest = &mut all[self.range.clone()];
        let mut file = File::open(input)?;
        while !rest.is_empty() {
            match file.read(rest)? {
                0 => break,
                read => rest = &mut rest[read..],
            }
        }
        rest.fill(0);
        Ok(())
    }
}

/// Global variables, and what they were.
struct Globals {
    recorded: Vec<(*mut u8, Vec<u8>)>,
}

impl Globals {
    fn find(image: &Library, job: &Words) -> Result<Self, Sentence> {
        let Some(file) = &job.globals_file else { return Ok(Self { recorded: Vec::new() }) };
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let global = |global: &crate::llvm::Global| {
            let bytes = bytes.get(global.range.clone()).ok_or("the globals have changed meanwhile")?;
            Ok((symbol(image, &global.name)?.cast(), bytes.to_vec()))
        };
        Ok(Self { recorded: job.globals.iter().map(global).collect::<Result<_, Sentence>>()? })
    }

    fn restore(&self) {
        for (place, bytes) in &self.recorded {
            // SAFETY: the parent has seen that the image has a global of this size at that symbol.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), *place, bytes.len()) };
        }
    }
}

/// Declares the type of a function of so many words, and a call of it.
macro_rules! words {
    ($($index:literal)*) => {
        type Kernel = unsafe extern "C" fn($(word!($index)),*);
        /// As many words as a kernel can be called with.
        const MOST: usize = [$($index),*].len();

        /// # Safety
        /// As [`call`].
        unsafe fn call_all(kernel: Kernel, words: &[u64; MOST]) {
            // SAFETY: the caller's.
            unsafe { kernel($(words[$index]),*) }
        }
    };
}

macro_rules! word {
    ($index:literal) => {
        u64
    };
}

words!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);

/// Calls a kernel. It is passed zeros after its own arguments: in the calling conventions of this crate's platforms the caller
/// clears away what it passed, so a function does not notice that there are more than it takes.
///
/// # Safety
///
/// `kernel` is a function that takes integers of up to 64 bits, or pointers.
unsafe fn call(kernel: *mut c_void, words: &[u64]) -> Result<(), Sentence> {
    let mut all = [0; MOST];
    let Some(first) = all.get_mut(..words.len()) else {
        return Err(format!("the kernel takes {} arguments; {MOST} can be passed", words.len()));
    };
    first.copy_from_slice(words);
    // SAFETY: the caller says that it is a function. That its type has fewer arguments, see above.
    unsafe { call_all(std::mem::transmute::<*mut c_void, Kernel>(kernel), &all) };
    Ok(())
}
