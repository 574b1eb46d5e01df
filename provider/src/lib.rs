//! Trace calls for ML runtimes and compilers, cast to Tracy, to the console or to nothing.
