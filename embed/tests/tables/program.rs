//! A program's own table: this one's.

use zonecast_embed::Executable;

use crate::{check_example, table_in};

zonecast_embed::embed_table!("../data/tables/example.zonecast");

#[test]
#[cfg(target_os = "linux")]
fn this_program_has_a_table() {
    let executable = Executable::open(std::env::current_exe().unwrap()).unwrap();
    check_example(table_in(&executable));
}
