//! Locations live as long as the program, or are interned.

use zonecast_tracing::FutureExt;

fn main() {
    let name = String::from("made at run time");
    let location = zonecast::Location::new(None, c"f", c"file", name.len() as u32, 0);
    let _ = async {}.in_zone(&location);
}
