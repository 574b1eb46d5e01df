//! What builds with a provider remember: run-time locations and names, and where source texts are.

pub(crate) mod intern;
pub(crate) mod registry;
