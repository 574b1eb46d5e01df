//! Which protocol a client speaks that refused ours.
//!
//! A client that is greeted in another protocol says that it does not match, and not what it speaks.
//! But most clients announce themselves by UDP, and do so again as soon as a greeting has failed.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Where clients announce themselves unless they were built otherwise.
pub(crate) const BROADCAST_PORT: u16 = 8086;
/// Clients announce themselves every three seconds.
const ANNOUNCED_WITHIN: Duration = Duration::from_millis(3_500);

/// Listens for announcements. `None` if the port is taken, by a profiler for instance.
pub(crate) fn listen(port: u16) -> Option<UdpSocket> {
    UdpSocket::bind(("0.0.0.0", port)).ok()
}

/// The protocol that the client listening at `client_port` announces.
pub(crate) fn protocol_of(client_port: u16, socket: &UdpSocket) -> Option<u32> {
    let deadline = Instant::now() + ANNOUNCED_WITHIN;
    let mut message = [0; 128];
    loop {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        socket.set_read_timeout(Some(left)).ok()?;
        let length = socket.recv(&mut message).ok()?;
        match read(&message[..length]) {
            Some((port, protocol)) if port == client_port => return Some(protocol),
            _ => {}
        }
    }
}

/// The port and protocol of an announcement, of any version since the first that tells the port.
fn read(message: &[u8]) -> Option<(u16, u32)> {
    let word = |at: usize| Some(u32::from_le_bytes(message.get(at..at + 4)?.try_into().ok()?));
    let version = word(0)? & 0xFFFF;
    match version {
        1 => Some((u16::try_from(word(8)?).ok()?, word(4)?)),
        2 | 3 => Some(((word(0)? >> 16) as u16, word(4)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_the_announcement_is_read() {
        let third =
            [&3_u16.to_le_bytes()[..], &8087_u16.to_le_bytes(), &76_u32.to_le_bytes(), &[0; 76]].concat();
        assert_eq!(read(&third), Some((8087, 76)));
        let first = [1_u32, 57, 8088, 3].map(u32::to_le_bytes).concat();
        assert_eq!(read(&first), Some((8088, 57)));
        assert_eq!(read(&third[..7]), None);
        assert_eq!(read(&[9; 100]), None);
    }
}
