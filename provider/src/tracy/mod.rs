//! Zones for the Tracy profiler.

/// Tracy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracy;

impl crate::Provider for Tracy {}
