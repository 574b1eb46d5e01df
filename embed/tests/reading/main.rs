//! Reads real files, whole and damaged.
#![cfg(feature = "iree")]

mod behaviour;
mod corpus;
mod damage;
mod expected;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod loaded;
