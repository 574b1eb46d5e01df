//! A program's own table: this one's.

use zonecast_embed::Executable;

use crate::{check_example, table_in};

zonecast_embed::embed_table!("../data/tables/example.zonecast");

#[test]
#[cfg(target_os = "linux")]
fn this_program_has_a_table() {
    let executable = Executable::open(std::env::current_exe().unwrap()).unwrap();
    check_example(table_in(&executable));
    let own = Executable::of_program().unwrap();
    assert_eq!(own.images().len(), 1);
    check_example(own.image(0).unwrap());
    assert_eq!(own.name(), executable.name());
}
