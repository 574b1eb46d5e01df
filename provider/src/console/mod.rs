//! Lines of text, JSON or a summary.

/// The console.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console;

impl crate::Provider for Console {}
