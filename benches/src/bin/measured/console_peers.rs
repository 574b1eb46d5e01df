//! Lines of text by other means: a console in C, and the `tracing` crate's formatter.

use std::fs::File;
use std::hint::black_box;
use std::io::BufWriter;
use std::sync::Mutex;

use tracing_subscriber::fmt::format::FmtSpan;
use zonecast_benches::program::Loop;

/// A console in C.
pub(crate) const C: &[Loop] = &[
    Loop { name: "loop_console_c", run: loop_console_c },
    Loop { name: "loop_console_c_nested", run: loop_console_c_nested },
    Loop { name: "loop_console_c_flushed", run: loop_console_c_flushed },
];

unsafe extern "C" {
    // foreign/console.c; they take any number.
    safe fn loop_console_c(n: u64);
    safe fn loop_console_c_nested(n: u64);
    safe fn loop_console_c_flushed(n: u64);
}

/// `tracing` writes a line when a span is entered and one when it is left, buffered as C's are.
pub(crate) fn start() {
    let path = std::env::var_os("MEASURED_FILE").expect("MEASURED_FILE names a file to write to");
    let path = std::path::Path::new(&path).with_extension("tracing");
    let file = File::create(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let subscriber = tracing_subscriber::fmt()
        .with_span_events(FmtSpan::ENTER | FmtSpan::EXIT)
        .with_ansi(false)
        .with_writer(Mutex::new(BufWriter::new(file)))
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("nobody else sets one");
}

zonecast_benches::loops! {
    fn loop_tracing_fmt(n) {
        for i in 0..n {
            let _span = tracing::info_span!("zone").entered();
            black_box(i);
        }
    }
}
