//! What a Tracy server sees of the Tracy provider, in every build that has it: from the first event
//! on, on demand, with fibers, beside other providers.
//!
//! Each test traces in a process of its own, which a receiver captures.

mod calls;
mod locks;
mod on_demand;
mod support;

// Of Tracy's queues, in which other providers have no part: they are tried in builds with Tracy
// alone.
#[cfg(not(any(feature = "console", feature = "custom")))]
mod bound;
#[cfg(not(any(feature = "console", feature = "custom")))]
mod c_api;
#[cfg(not(any(feature = "console", feature = "custom")))]
mod ends;
#[cfg(not(any(feature = "console", feature = "custom")))]
mod threads;
