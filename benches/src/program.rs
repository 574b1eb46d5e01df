//! The measured program: runs one of its loops, or lets several take turns.
//!
//! It is started by `cost` and `ratio`, and can be started by hand:
//!
//! ```text
//! measured count LOOP N             runs the loop N times
//! measured turns ROUNDS N LOOP...   lets the loops take turns and prints `LOOP median low high`,
//!                                   ratios of their times to the first one's
//! ```
//!
//! With `MEASURED_CONNECTED` in the environment it first waits for a profiler.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A loop over one trace call.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The name of its symbol.
    pub name: &'static str,
    /// Runs it so many times.
    pub run: extern "C" fn(u64),
}

/// Defines loops, and `LOOPS`, the list of them.
///
/// Each is a function that callgrind can find by its name. Where two have the same body the
/// compiler would make one of them, which would then be found under one name only: each begins with
/// something of its own, outside what is measured.
#[macro_export]
macro_rules! loops {
    ($($(#[$doc:meta])* fn $name:ident($n:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline(never)]
            // SAFETY: nothing else in the programs has a name that begins with `loop_`.
            #[unsafe(no_mangle)]
            extern "C" fn $name($n: u64) {
                std::hint::black_box(stringify!($name));
                $body
            }
        )*
        /// The loops above.
        pub(crate) const LOOPS: &[$crate::program::Loop] =
            &[$($crate::program::Loop { name: stringify!($name), run: $name }),*];
    };
}

/// Does what the command line asks for. `is_connected` tells whether a profiler is.
#[must_use]
pub fn main(loops: &[Loop], is_connected: fn() -> bool) -> ExitCode {
    if std::env::var_os("MEASURED_CONNECTED").is_some() {
        wait_for(is_connected);
    }
    match run(loops, &std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("measured: {e}");
            ExitCode::from(2)
        }
    }
}

fn wait_for(is_connected: fn() -> bool) {
    while !is_connected() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The profiler's first questions are answered before anything is measured.
    std::thread::sleep(Duration::from_millis(300));
}

fn run(loops: &[Loop], arguments: &[String]) -> Result<(), String> {
    let named = |name: &String| {
        loops.iter().find(|l| l.name == name).copied().ok_or_else(|| format!("no loop is named {name}"))
    };
    let number = |text: &String| text.parse::<u64>().map_err(|_| format!("{text} is not a number"));
    match arguments {
        [what, name, n] if what == "count" => (named(name)?.run)(number(n)?),
        [what, rounds, n, names @ ..] if what == "turns" => {
            let loops = names.iter().map(named).collect::<Result<Vec<_>, _>>()?;
            take_turns(&loops, number(rounds)?, number(n)?);
        }
        _ => return Err("expected: count LOOP N, or turns ROUNDS N LOOP...".into()),
    }
    Ok(())
}

/// Between two runs, for whoever drains to catch up.
const PAUSE: Duration = Duration::from_millis(10);

fn take_turns(loops: &[Loop], rounds: u64, n: u64) {
    let mut ratios = vec![Vec::new(); loops.len()];
    for each in loops {
        (each.run)(n / 4 + 1);
    }
    for round in 0..rounds as usize {
        let mut times = vec![0.0; loops.len()];
        for turn in 0..loops.len() {
            // Each round begins with another one, so that none always follows the same.
            let at = (turn + round) % loops.len();
            std::thread::sleep(PAUSE);
            let start = Instant::now();
            (loops[at].run)(n);
            times[at] = start.elapsed().as_secs_f64();
        }
        for (ratios, time) in ratios.iter_mut().zip(&times) {
            ratios.push(time / times[0]);
        }
    }
    for (each, ratios) in loops.iter().zip(&mut ratios) {
        ratios.sort_by(f64::total_cmp);
        let part = |p: usize| ratios.get(ratios.len() * p / 4).copied().unwrap_or(f64::NAN);
        println!("{} {:.4} {:.4} {:.4}", each.name, part(2), part(1), part(3));
    }
}
