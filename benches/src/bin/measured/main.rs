//! The loops that `cost` and `ratio` measure. See `zonecast_benches::program` for its arguments.

#[cfg(feature = "console-peers")]
mod console_peers;
mod gpu;
#[cfg(feature = "launches")]
mod launches;
mod ours;
#[cfg(feature = "tracy-peers")]
mod spans;
#[cfg(feature = "tracy-peers")]
mod tracy_peers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let _session = zonecast::start();
    #[allow(unused_mut, reason = "builds without peers add none")]
    let mut loops = [ours::LOOPS, gpu::LOOPS].concat();
    #[cfg(feature = "launches")]
    loops.extend_from_slice(launches::LOOPS);
    #[cfg(feature = "tracy-peers")]
    {
        tracy_client::Client::start();
        loops.extend_from_slice(spans::LOOPS);
        loops.extend_from_slice(tracy_peers::LOOPS);
        loops.push(tracy_peers::CXX);
    }
    #[cfg(feature = "console-peers")]
    {
        console_peers::start();
        loops.extend_from_slice(console_peers::LOOPS);
        loops.extend_from_slice(console_peers::C);
    }
    zonecast_benches::program::main(&loops, zonecast::is_connected)
}
