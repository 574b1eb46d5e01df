//! The port at which traced programs listen.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use zonecast_tracy_wire::protocol::{SHIBBOLETH, handshake};

use super::Findings;

const VARIABLE: &str = "TRACY_PORT";
const USUAL: u16 = 8086;
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn check(findings: &mut Findings) {
    let wanted = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
    let port = match wanted.as_deref().map(str::parse) {
        None => USUAL,
        Some(Ok(port)) => port,
        Some(Err(_)) => {
            let value = wanted.unwrap_or_default();
            return findings.add(format!(
                "{VARIABLE}={value} is not the number of a port, so no profiler finds a traced program; set it \
                 to one, or unset it"
            ));
        }
    };
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    if !TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse) {
        return;
    }
    let by = if is_tracy(address) { "a program that is being traced" } else { "something that is not Tracy" };
    findings.add(match wanted {
        None => format!(
            "port {port} is taken by {by}, so a program that is traced now listens at the next free port; end \
             the other, or set {VARIABLE} and connect there"
        ),
        Some(_) => format!(
            "{VARIABLE} says {port}, which is taken by {by}, so a program that is traced now finds no port and \
             no profiler finds it; choose another"
        ),
    });
}

/// Whether a Tracy client listens there. It is greeted in a protocol that nobody speaks, so that it refuses and
/// still waits for its profiler.
fn is_tracy(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&[&SHIBBOLETH[..], &u32::MAX.to_le_bytes()].concat())?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        std::io::Result::Ok(answer[0])
    };
    ask().is_ok_and(|answer| matches!(answer, handshake::PROTOCOL_MISMATCH | handshake::NOT_AVAILABLE))
}
