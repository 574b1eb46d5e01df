//! Only futures wait.

use zonecast_tracing::FutureExt;

fn main() {
    let _ = (|| 1).in_zone(zonecast::location!("closure"));
}
