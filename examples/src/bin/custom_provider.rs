//! A provider of one's own: NVTX ranges, as NVIDIA's Nsight tools show them.
//!
//! `cargo run --bin custom_provider --features custom`. The library, libnvToolsExt, is loaded at run time,
//! so that the program needs no CUDA toolkit to build and says so where the library is missing.

use std::error::Error;
use std::ffi::{CString, c_char, c_int};

use libloading::{Library, Symbol};
use zonecast::{Location, Message, Provider, ZoneId, message, zone};

/// The names under which CUDA toolkits and their packages install it.
const LIBRARIES: [&str; 3] = ["libnvToolsExt.so.1", "libnvToolsExt.so", "nvToolsExt64_1.dll"];

/// The functions of NVTX that are used, as nvToolsExt.h declares them.
struct Nvtx {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    mark: unsafe extern "C" fn(*const c_char),
}

impl Nvtx {
    /// Finds the library, or says why it cannot be used.
    fn load() -> Result<Self, libloading::Error> {
        // SAFETY: NVIDIA's library is safe to load, and whoever puts another one of that name into the
        // loader's path vouches for it.
        let open = |name: &str| unsafe { Library::new(name) };
        let [first, others @ ..] = LIBRARIES;
        let other = || others.iter().find_map(|name| open(name).ok());
        let library = open(first).or_else(|error| other().ok_or(error))?;
        // It stays loaded, since the provider lives as long as the program.
        let library = Box::leak(Box::new(library));
        // SAFETY: nvToolsExt.h declares these functions with these types.
        unsafe {
            Ok(Self {
                push: *symbol(library, b"nvtxRangePushA\0")?,
                pop: *symbol(library, b"nvtxRangePop\0")?,
                mark: *symbol(library, b"nvtxMarkA\0")?,
            })
        }
    }
}

/// # Safety
///
/// The symbol is of type `T`.
unsafe fn symbol<T>(library: &'static Library, name: &[u8]) -> Result<Symbol<'static, T>, libloading::Error> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get(name) }
}

/// A zone is a range; only its name is passed on. What is not here, such as texts and plots, NVTX has no
/// like of, and the trait's own defaults leave it out.
impl Provider for Nvtx {
    fn is_connected(&self) -> bool {
        true
    }

    fn zone_begin(&self, location: &'static Location) -> ZoneId {
        // SAFETY: the title ends in NUL, and NVTX copies it.
        unsafe { (self.push)(location.title().as_ptr()) };
        ZoneId { mark: 1, data: 0 }
    }

    fn zone_end(&self, _: ZoneId) {
        // SAFETY: every zone ends on the thread that it began on, after those inside it.
        unsafe { (self.pop)() };
    }

    fn message(&self, message: Message<'_>) {
        // A text with a NUL inside is left out.
        if let Ok(text) = CString::new(message.text) {
            // SAFETY: the text ends in NUL, and NVTX copies it.
            unsafe { (self.mark)(text.as_ptr()) };
        }
    }
}

fn main() {
    match Nvtx::load() {
        // Leaked: a provider lives as long as the program.
        Ok(nvtx) => match zonecast::install(Box::leak(Box::new(nvtx))) {
            Ok(()) => println!("zones go to NVTX; look at them with `nsys profile --trace=nvtx`"),
            Err(error) => println!("zones do not go to NVTX: {error}"),
        },
        Err(error) => println!("zones do not go to NVTX: {}", reason(&error)),
    }
    let _session = zonecast::start();
    forward();
}

/// What the system's loader says; the error itself only says which call failed.
fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The program to trace. It knows nothing of the provider.
fn forward() {
    let _outer = zone!("forward");
    for layer in 0..3 {
        let _inner = zone!("layer");
        message!("layer {layer}");
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::sync::Mutex;

    use super::*;

    static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn note(call: &str, text: *const c_char) {
        // SAFETY: the provider passes texts that end in NUL.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        CALLS.lock().unwrap().push(format!("{call} {text}"));
    }

    unsafe extern "C" fn push(text: *const c_char) -> c_int {
        note("push", text);
        0
    }

    unsafe extern "C" fn pop() -> c_int {
        note("pop", c"".as_ptr());
        0
    }

    unsafe extern "C" fn mark(text: *const c_char) {
        note("mark", text);
    }

    #[test]
    fn zones_become_ranges_and_messages_marks() {
        static NVTX: Nvtx = Nvtx { push, pop, mark };
        zonecast::install(&NVTX).unwrap();
        forward();
        let layers =
            (0..3).flat_map(|layer| ["push layer".into(), format!("mark layer {layer}"), "pop ".into()]);
        let expected = std::iter::once("push forward".into()).chain(layers).chain(["pop ".into()]);
        assert_eq!(*CALLS.lock().unwrap(), expected.collect::<Vec<String>>());
    }
}
