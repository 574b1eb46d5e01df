//! GPUs: whether zones can be recorded on those of this machine.

use std::fs;
use std::path::Path;

use zonecast::gpu::{Diagnosis, ErrorKind, diagnose};

use super::Findings;

const DEVICES: &str = "/sys/bus/pci/devices";

/// Looks at the drivers. That one, or its device, is missing is wrong if there is a card for it, or if
/// `is_wanted` and no other has a device.
pub(super) fn check(is_wanted: bool, findings: &mut Findings) {
    let all = diagnose();
    let is_lacking = is_wanted && all.iter().all(|found| found.devices.is_err());
    for found in &all {
        match found.devices.as_ref().map_err(|error| error.kind()) {
            Ok(_) => {}
            Err(ErrorKind::LibraryMissing { .. } | ErrorKind::NoDevice { .. })
                if !is_lacking && !has_card(found) => {}
            Err(_) => findings.add(found.to_string()),
        }
    }
}

/// Whether a card of the backend's maker is in this machine.
fn has_card(found: &Diagnosis) -> bool {
    let maker = match found.backend {
        "CUDA" => "0x10de",
        _ => "0x1002",
    };
    let devices = fs::read_dir(DEVICES).into_iter().flatten().flatten();
    devices.map(|device| device.path()).any(|device| is_card(&device, maker))
}

/// Whether a device shows pictures (class 3) or computes (class 18), and is of this maker.
fn is_card(device: &Path, maker: &str) -> bool {
    let reads = |name: &str| fs::read_to_string(device.join(name)).unwrap_or_default();
    let class = reads("class");
    reads("vendor").trim() == maker && (class.starts_with("0x03") || class.starts_with("0x12"))
}
