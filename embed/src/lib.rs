//! Executables as bytes: which kernels they export, where those came from, and the source text that they carry.
