//! The profiler that is installed: whether it speaks the protocol of programs that are built with zonecast.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use zonecast_tracy_wire::protocol::{PROTOCOL_VERSION, SHIBBOLETH, handshake, tracy_release};

use super::Findings;

/// The one program of Tracy's that has no window. It comes with the profiler, in the same version.
const PROGRAM: &str = "tracy-capture";
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn check(findings: &mut Findings) {
    match protocol() {
        Some(protocol) if protocol != PROTOCOL_VERSION => findings.add(format!(
            "{PROGRAM} speaks protocol {protocol} ({}), and programs that are built with zonecast speak \
             {PROTOCOL_VERSION} ({}), so this profiler refuses them; install Tracy {}",
            release(protocol),
            release(PROTOCOL_VERSION),
            tracy_release(PROTOCOL_VERSION).unwrap_or_default()
        )),
        _ => {}
    }
}

fn release(protocol: u32) -> String {
    tracy_release(protocol).map_or_else(|| "another Tracy".to_owned(), |release| format!("Tracy {release}"))
}

/// The protocol in which the profiler on the `PATH` greets a program. `None` if there is none.
fn protocol() -> Option<u32> {
    let listener = TcpListener::bind("127.0.0.1:0").ok()?;
    listener.set_nonblocking(true).ok()?;
    let port = listener.local_addr().ok()?.port().to_string();
    let folder = tempfile::tempdir().ok()?;
    let mut profiler = Command::new(PROGRAM)
        .args(["-a", "127.0.0.1", "-p", &port, "-o"])
        .arg(folder.path().join("capture.tracy"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let protocol = accept(&listener, &mut profiler).and_then(|stream| greeting(stream).ok()?);
    // It may have ended by itself.
    let _ = profiler.kill();
    let _ = profiler.wait();
    protocol
}

fn accept(listener: &TcpListener, profiler: &mut Child) -> Option<TcpStream> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match listener.accept() {
            Ok((stream, _)) => return Some(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
        if profiler.try_wait().is_ok_and(|ended| ended.is_some()) {
            // What it did just before it ended.
            return listener.accept().ok().map(|(stream, _)| stream);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

fn greeting(mut stream: TcpStream) -> std::io::Result<Option<u32>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut greeting = [0; SHIBBOLETH.len() + 4];
    stream.read_exact(&mut greeting)?;
    // Lets it end in order.
    let _ = stream.write_all(&[handshake::PROTOCOL_MISMATCH]);
    let (mark, [a, b, c, d]) = greeting.split_at(SHIBBOLETH.len()) else { return Ok(None) };
    Ok((mark == SHIBBOLETH).then(|| u32::from_le_bytes([*a, *b, *c, *d])))
}
