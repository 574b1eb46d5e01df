//! The console, as whoever reads its file sees it.
//!
//! What the console does is settled at a process's first call, and some of it shows at a process's
//! end only. So each test runs this very program again as a child that does one thing
//! (`programs.rs`), and reads what it wrote.

mod child;
mod ends;
mod formats;
mod names;
mod programs;
mod settings;
mod threads;
