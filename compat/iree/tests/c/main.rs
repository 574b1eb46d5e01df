//! C and C++ programs that use the header: compiled, linked with this build's library, run, and seen
//! through the provider of this build. Needs gcc and g++; uses clang, pkg-config and cmake where they are.

#[cfg(feature = "tracy")]
mod devices;
mod install;
mod support;
mod usage;
#[cfg(feature = "tracy")]
mod wire;
