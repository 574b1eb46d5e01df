//! How much may be done for one file.

use crate::Error;

use super::super::Result;

const LINEAR: &str = "debug information whose parts do not refer to each other without end";

/// What is left to do. Tables in debug information are shared by reference, so that a small file can ask for work
/// without end; an honest one is done with in a few steps for each of its bytes.
pub(crate) struct Work {
    left: usize,
}

impl Work {
    pub(crate) fn for_bytes(length: usize) -> Self {
        Self { left: length.saturating_mul(16).saturating_add(1 << 16) }
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => self.left = left,
            None => {
                self.left = 0;
                return Err(Error::damaged(0, LINEAR));
            }
        }
        Ok(())
    }
}
