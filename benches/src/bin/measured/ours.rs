//! zonecast's calls: what they cost depends on the provider that the program is built with.

use std::hint::black_box;
use std::sync::OnceLock;

use zonecast::dispatch::{Site, sites};
use zonecast::{embed::Executable, location, message, plot, sources, zone};

zonecast_benches::loops! {
    /// What the loop itself costs.
    fn loop_empty(n) {
        for i in 0..n {
            black_box(i);
        }
    }

    fn loop_zone(n) {
        for i in 0..n {
            let _zone = zone!("zone");
            black_box(i);
        }
    }

    /// Zones inside another one, as nearly all of a runtime's are: a console writes when the
    /// outermost one ends, and now and then.
    fn loop_zone_inside(n) {
        let _outer = zone!("outer");
        for i in 0..n {
            let _zone = zone!("zone");
            black_box(i);
        }
    }

    /// A zone in a zone: on a console the outer one has two lines, the inner one has one.
    fn loop_zone_nested(n) {
        let _outermost = zone!("outermost");
        for i in 0..n {
            let _outer = zone!("outer");
            let _zone = zone!("zone");
            black_box(i);
        }
    }

    /// The phases of a computation, back to back.
    fn loop_switch(n) {
        let mut zone = zone!("zone");
        for i in 0..n {
            black_box(i);
            zone.switch(location!("next"));
        }
    }

    /// The kernels of a module in turn, each at its own place. `n` is rounded down to whole turns.
    fn loop_dispatch(n) {
        let kernels = kernels();
        for i in 0..n / KERNELS as u64 {
            for kernel in kernels {
                let _zone = kernel.zone();
                black_box(i);
            }
        }
    }

    fn loop_text(n) {
        for i in 0..n {
            let zone = zone!("zone");
            zone.text("batch 7 of 1000");
            black_box(i);
        }
    }

    fn loop_value(n) {
        for i in 0..n {
            let zone = zone!("zone");
            zone.value(i);
            black_box(i);
        }
    }

    fn loop_message(n) {
        for i in 0..n {
            message!("weights are loaded");
            black_box(i);
        }
    }

    fn loop_plot(n) {
        for i in 0..n {
            plot!("queue length", i);
            black_box(i);
        }
    }
}

const KERNELS: usize = 12;

fn kernels() -> &'static [Site] {
    static SITES: OnceLock<Box<[Site]>> = OnceLock::new();
    SITES.get_or_init(|| {
        let module = include_bytes!("../../../../embed/tests/data/iree/many.cpu.g3.vmfb");
        let module = Executable::from_bytes(&module[..], "many").expect("the corpus is readable");
        let kernels = sites(&sources::register(module));
        let kernel = |at| kernels.get(0, at).expect("the module has twelve kernels").clone();
        (0..KERNELS).map(kernel).collect()
    })
}
