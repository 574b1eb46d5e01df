//! Reads what ML runtimes record of their kernels: what they touched, when they ran, and all that is needed to
//! run them again.
//!
//! * [`child`] runs what is not trusted in a process of its own, with limits.

pub mod child;
