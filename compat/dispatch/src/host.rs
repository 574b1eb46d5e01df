//! Whether this machine can run an executable.

use zonecast_embed::Image;

use crate::Error;

/// This machine, by the name that IREE gives to its architecture: `x86_64`, `arm_64`, …
pub const fn host_target() -> &'static str {
    if cfg!(target_arch = "x86_64") {
        "x86_64"
    } else if cfg!(target_arch = "aarch64") {
        "arm_64"
    } else if cfg!(target_arch = "x86") {
        "x86_32"
    } else if cfg!(target_arch = "arm") {
        "arm_32"
    } else if cfg!(target_arch = "riscv64") {
        "riscv_64"
    } else if cfg!(target_arch = "riscv32") {
        "riscv_32"
    } else {
        std::env::consts::ARCH
    }
}

/// Says whether [`Library::load`](crate::Library::load) can work at all, without loading anything.
///
/// # Errors
///
/// If the image is for another kind of device or another architecture, if it needs something of its host
/// that this crate has not, or if executables cannot be loaded on this system.
///
/// ```
/// use zonecast_embed::Executable;
///
/// let executable = Executable::open("tests/data/mlp.cpu-arm64.g3.vmfb")?;
/// # if cfg!(target_arch = "x86_64") {
/// let error = zonecast_dispatch::check(executable.image(0).unwrap()).unwrap_err();
/// assert_eq!(error.to_string(), "mlp_net_linked is for arm_64; this host is x86_64");
/// # }
/// # Ok::<(), zonecast_embed::Error>(())
/// ```
pub fn check(image: Image<'_>) -> Result<(), Error> {
    let name = || name(image);
    let Some(library) = image.cpu_library() else {
        return Err(Error::NotForCpus { library: name(), format: image.format() });
    };
    if image.bytes().is_none() {
        return Err(Error::NoFile { library: name() });
    }
    let target = image.target().map(String::from_utf8_lossy);
    if target.as_deref() != Some(host_target()) {
        let target = target.unwrap_or("an unknown architecture".into()).into_owned();
        return Err(Error::Target { library: name(), target });
    }
    if library.constants > 0 {
        return Err(Error::LibraryConstants { library: name(), count: library.constants });
    }
    if cfg!(target_os = "linux") { Ok(()) } else { Err(Error::System) }
}

/// The image's name; what is not UTF-8 is replaced. Those for GPUs have none, so they are numbered.
pub(crate) fn name(image: Image<'_>) -> String {
    match image.name() {
        b"" => format!("image {}", image.index()),
        name => String::from_utf8_lossy(name).into_owned(),
    }
}
