//! Reads what compilers other than IREE's wrote, whole and damaged.
#![cfg(feature = "_index")]

mod corpus;
mod damage;
#[cfg(feature = "dwarf")]
mod dwarf;
mod expected;
