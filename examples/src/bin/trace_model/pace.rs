//! How often to run the model.

use std::time::Instant;

use crate::args::Args;

/// Yields once for each run, at least once.
pub(crate) struct Pace {
    first: bool,
    left: Left,
}

enum Left {
    Times(u64),
    Until(Instant),
}

impl Pace {
    /// From now on, as asked for on the command line.
    pub(crate) fn new(args: &Args) -> Self {
        // A time too far off to be told is as good as no end.
        let until = args.seconds.map(|seconds| Instant::now().checked_add(seconds));
        let left = match until {
            None => Left::Times(args.repeat),
            Some(Some(end)) => Left::Until(end),
            Some(None) => Left::Times(u64::MAX),
        };
        Self { first: true, left }
    }
}

impl Iterator for Pace {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        let first = std::mem::take(&mut self.first);
        match &mut self.left {
            Left::Times(0) => None,
            Left::Times(left) => {
                *left -= 1;
                Some(())
            }
            Left::Until(end) => (first || Instant::now() < *end).then_some(()),
        }
    }
}
