//! What is not run, and what is said about it.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use common::{load, open, try_load};
use zonecast_dispatch::{Binding, Buffer, Count, Dispatch, Error, Library, Workers, check};
use zonecast_embed::Executable;

#[test]
fn foreign_architectures_are_named() {
    let error = try_load("mlp.cpu-arm64.g3.vmfb").unwrap_err();
    assert!(matches!(&error, Error::Target { target, .. } if target == "arm_64"));
    assert_eq!(error.to_string(), "mlp_net_linked is for arm_64; this host is x86_64");
}

#[test]
fn libraries_that_need_something_of_their_host_are_refused() {
    let error = try_load("native/required-import.so").unwrap_err();
    assert!(matches!(&error, Error::Imports { names, .. } if names == &["needed_function"]), "{error}");

    let error = try_load("native/undefined-symbol.so").unwrap_err();
    assert!(matches!(error, Error::Loader { .. }), "{error}");
    assert!(error.to_string().contains("function_of_nobody"), "{error}");
}

#[test]
fn libraries_that_contradict_their_file_are_refused() {
    let error = try_load("native/other-version.so").unwrap_err();
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "native_kernels is not what its file said once it is loaded: \
         it does not answer to the version that its header bears"
    );
}

#[test]
fn loaded_images_have_no_file() {
    use zonecast_embed::Loaded;
    // SAFETY: the library is loaded until the end of this test.
    let library = unsafe {
        libloading::Library::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/native/kernels.so"))
    }
    .unwrap();
    // SAFETY: the symbol is IREE's query function, and its library stays until the end of this test.
    let executable = unsafe {
        let query = library.get(b"iree_hal_executable_library_query\0").unwrap();
        Executable::from_loaded(Loaded::IreeQuery(*query), "native")
    }
    .unwrap();
    let error = check(executable.image(0).unwrap()).unwrap_err();
    assert!(matches!(&error, Error::NoFile { library } if library == "native_kernels"), "{error}");
}

#[test]
fn check_passes_what_can_be_loaded() {
    for file in ["mlp.cpu.g3.vmfb", "scale.cpu-v4.g3.vmfb", "scale.cpusys.g3.vmfb"] {
        check(open(file).image(0).unwrap()).unwrap();
    }
}

fn dispatch(library: &Library, dispatch: Dispatch<'_>) -> Error {
    // SAFETY: nothing runs, since the arguments are refused.
    unsafe { library.dispatch(dispatch, &Workers::none(), &()) }.unwrap_err()
}

#[test]
fn wrong_counts_are_refused_where_the_library_knows_them() {
    for (file, version) in [("scale.cpu.g3.vmfb", 6), ("scale.cpu-v5.g3.vmfb", 5)] {
        let library = load(file);
        let (a, mut b) = (Buffer::zeroed(4096), Buffer::zeroed(4096));
        let bindings = &mut [Binding::read(&a), Binding::write(&mut b)];
        let error = dispatch(&library, Dispatch { bindings, ..Dispatch::of(0) });
        assert!(matches!(
            error,
            Error::Count { of: Count::Bindings, takes: 3, given: 2, recorded: true, .. }
        ));
        assert_eq!(
            error.to_string(),
            "scale_dispatch_0_elementwise_1024_f32 takes 3 bindings; 2 were given",
            "version {version}"
        );
        let error = dispatch(&library, Dispatch { constants: &[1], ..Dispatch::of(0) });
        assert!(matches!(
            error,
            Error::Count { of: Count::Constants, takes: 0, given: 1, recorded: true, .. }
        ));
    }
}

#[test]
fn the_limits_of_the_interface_hold_where_it_does_not() {
    let library = load("scale.cpu-v4.g3.vmfb");
    let error = dispatch(&library, Dispatch { constants: &[0; 65], ..Dispatch::of(0) });
    assert!(matches!(
        error,
        Error::Count { of: Count::Constants, takes: 64, given: 65, recorded: false, .. }
    ));
    assert_eq!(
        error.to_string(),
        "scale_dispatch_0_elementwise_1024_f32 takes at most 64 constants; 65 were given"
    );
    let mut bindings: [_; 65] = std::array::from_fn(|_| Binding::read(&[]));
    let error = dispatch(&library, Dispatch { bindings: &mut bindings, ..Dispatch::of(0) });
    assert!(matches!(error, Error::Count { of: Count::Bindings, takes: 64, given: 65, recorded: false, .. }));
}

#[test]
fn unknown_exports_are_refused() {
    let error = dispatch(&load("mlp.cpu.g3.vmfb"), Dispatch::of(3));
    assert!(matches!(error, Error::NoExport { ordinal: 3, exports: 3, .. }));
    assert_eq!(error.to_string(), "mlp_net_linked has no export 3; it has 3, counted from 0");
}

#[test]
fn grids_that_do_not_fit_are_refused() {
    let library = load("native/kernels.so");
    for workgroups in [[1, 1, 1 << 16], [u32::MAX, u32::MAX, 1 << 15]] {
        let mut out = Buffer::zeroed(0);
        let bindings = &mut [Binding::write(&mut out)];
        let error =
            dispatch(&library, Dispatch { workgroups, bindings, constants: &[0, 0], ..Dispatch::of(0) });
        assert!(matches!(&error, Error::Workgroups { export, .. } if export == "report"), "{error}");
    }
}

#[test]
fn misaligned_bindings_are_refused() {
    let library = load("native/kernels.so");
    let mut out = Buffer::zeroed(4096);
    let address = out.as_ptr().addr() + 16;
    let bindings = &mut [Binding::write(&mut out[16..])];
    let error = dispatch(&library, Dispatch { bindings, constants: &[0, 0], ..Dispatch::of(0) });
    assert!(matches!(error, Error::Misaligned { binding: 0, address: at, .. } if at == address), "{error}");
}

#[test]
fn other_devices_are_named() {
    let error = try_load("scale.cuda-sm80.g2.vmfb").unwrap_err();
    assert!(matches!(error, Error::NotForCpus { format: zonecast_embed::Format::IreeCuda, .. }), "{error}");
    assert_eq!(error.to_string(), "image 0 is of format iree-cuda; only iree-cpu can be run here");
}
