//! Reads what compilers other than IREE's wrote, whole and damaged.
#![cfg(feature = "_index")]

#[cfg(feature = "offload")]
mod containers;
mod corpus;
mod damage;
#[cfg(feature = "dwarf")]
mod dwarf;
mod expected;
#[cfg(feature = "spirv")]
mod spirv;
#[cfg(feature = "triton")]
mod triton;
