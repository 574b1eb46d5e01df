//! Loads IREE CPU executables and calls their kernels.
