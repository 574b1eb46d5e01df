//! Programs to start from: a real model traced with its own source.
