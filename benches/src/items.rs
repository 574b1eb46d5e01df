//! What is measured: the one list of items, of the programs that hold them, and of the gates.

use crate::Error;

/// A program: a package built with some features.
#[derive(Debug, PartialEq, Eq)]
pub struct Set {
    /// Its name, and that of its target folder.
    pub name: &'static str,
    /// The package's manifest, from the root of the repository.
    pub manifest: &'static str,
    /// The features of that package.
    pub features: &'static str,
    /// The compiler that its build scripts need: the variable that chooses it, and its usual name.
    pub compiler: Option<(&'static str, &'static str)>,
    /// Whether Tracy is in it: it listens, so it is given a port.
    pub tracy: bool,
}

const CC: Option<(&str, &str)> = Some(("CC", "cc"));
const CXX: Option<(&str, &str)> = Some(("CXX", "c++"));
const OURS: &str = "benches/Cargo.toml";
const PEERS: &str = "benches/peers/Cargo.toml";

static NULL: Set = Set { name: "null", manifest: OURS, features: "null", compiler: None, tracy: false };
static TRACY: Set =
    Set { name: "tracy", manifest: OURS, features: "tracy-peers", compiler: CXX, tracy: true };
static ON_DEMAND: Set = Set {
    name: "tracy-on-demand",
    manifest: OURS,
    features: "tracy-peers,tracy-on-demand",
    compiler: CXX,
    tracy: true,
};
static CONSOLE: Set =
    Set { name: "console", manifest: OURS, features: "console-peers", compiler: CC, tracy: false };
static LAUNCHES: Set =
    Set { name: "launches", manifest: OURS, features: "launches", compiler: None, tracy: false };
static RECORDERS: Set =
    Set { name: "recorders", manifest: PEERS, features: "recorders", compiler: CXX, tracy: true };
static PROFILING: Set =
    Set { name: "profiling", manifest: PEERS, features: "profiling", compiler: CXX, tracy: true };

/// What an item must not cost more than. `--check` leaves 10 % of room, except for `Same`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// So many instructions.
    AtMost(f64),
    /// So many more than another item.
    MoreThan(&'static str, f64),
    /// Exactly as many as another item.
    Same(&'static str),
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its name.
    pub name: &'static str,
    /// The program it is in.
    pub set: &'static Set,
    /// The loop in it.
    pub symbol: &'static str,
    /// What it must not cost more than.
    pub gate: Option<Gate>,
    /// What the environment says to it.
    pub environment: Option<(&'static str, &'static str)>,
    /// Whether a profiler is connected.
    pub connected: bool,
}

const fn item(name: &'static str, set: &'static Set, symbol: &'static str) -> Item {
    Item { name, set, symbol, gate: None, environment: None, connected: false }
}

impl Item {
    const fn gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    const fn console(mut self, format: &'static str) -> Self {
        self.environment = Some(("ZONECAST_CONSOLE", format));
        self
    }

    const fn connected(mut self) -> Self {
        self.connected = true;
        self
    }
}

use Gate::{AtMost, MoreThan, Same};

/// All items, in the order of the table.
#[rustfmt::skip]
pub static ITEMS: &[Item] = &[
    item("empty-loop", &NULL, "loop_empty"),
    item("null", &NULL, "loop_zone").gate(Same("empty-loop")),
    item("profiling-off-peer", &RECORDERS, "loop_profiling"),

    item("tracy-raw", &TRACY, "loop_tracy_raw"),
    item("tracy-cxx-inlined", &TRACY, "loop_tracy_cxx"),
    item("tracy-zone", &TRACY, "loop_zone").gate(AtMost(33.0)),
    item("tracy-switch", &TRACY, "loop_switch").gate(AtMost(24.0)),
    item("tracy-dispatch", &TRACY, "loop_dispatch").gate(AtMost(37.0)),
    item("tracy-dispatch-alloc", &TRACY, "loop_tracy_raw_alloc"),
    item("tracy-text", &TRACY, "loop_text").gate(MoreThan("tracy-zone", 140.0)),
    item("tracy-raw-text", &TRACY, "loop_tracy_raw_text"),
    item("tracy-value", &TRACY, "loop_value"),
    item("tracy-raw-value", &TRACY, "loop_tracy_raw_value"),
    item("tracy-message", &TRACY, "loop_message"),
    item("tracy-raw-message", &TRACY, "loop_tracy_raw_message"),
    item("tracy-plot", &TRACY, "loop_plot"),
    item("tracy-raw-plot", &TRACY, "loop_tracy_raw_plot"),
    item("tracy-span-peer", &TRACY, "loop_tracy_span"),
    item("profiling-tracy-peer", &PROFILING, "loop_profiling"),
    item("puffin-peer", &RECORDERS, "loop_puffin"),
    item("fastrace-peer", &RECORDERS, "loop_fastrace"),

    item("tracing-idle", &TRACY, "loop_tracing_idle"),
    item("tracing-registry", &TRACY, "loop_tracing_registry"),
    item("tracing-registry-enter", &TRACY, "loop_tracing_registry_enter"),
    item("tracing-layer", &TRACY, "loop_tracing_layer").gate(AtMost(1000.0)),
    item("tracing-layer-enter", &TRACY, "loop_tracing_layer_enter").gate(AtMost(300.0)),
    item("tracing-subscriber", &TRACY, "loop_tracing_subscriber").gate(AtMost(340.0)),
    item("tracing-subscriber-enter", &TRACY, "loop_tracing_subscriber_enter").gate(AtMost(160.0)),
    item("tracing-tracy-peer", &TRACY, "loop_tracing_tracy"),
    item("tracing-tracy-enter-peer", &TRACY, "loop_tracing_tracy_enter"),

    item("gpu-driver", &TRACY, "loop_gpu_driver"),
    item("gpu-zone", &TRACY, "loop_gpu_zone").gate(MoreThan("gpu-driver", 60.0)),
    item("gpu-zone-inside", &TRACY, "loop_gpu_zone_inside").gate(MoreThan("gpu-driver", 60.0)),
    item("gpu-collector", &TRACY, "loop_gpu_collector").gate(AtMost(5000.0)),

    item("tracy-zone-ondemand-off", &ON_DEMAND, "loop_zone").gate(AtMost(9.0)),
    item("tracy-raw-ondemand-off", &ON_DEMAND, "loop_tracy_raw"),
    item("tracy-zone-ondemand-on", &ON_DEMAND, "loop_zone").gate(AtMost(46.0)).connected(),
    item("tracy-raw-ondemand-on", &ON_DEMAND, "loop_tracy_raw").connected(),

    item("console-file", &CONSOLE, "loop_zone_inside").console("text").gate(AtMost(1000.0)),
    item("console-file-nested", &CONSOLE, "loop_zone_nested").console("text").gate(MoreThan("console-file", 1000.0)),
    item("console-file-outermost", &CONSOLE, "loop_zone").console("text"),
    item("console-json", &CONSOLE, "loop_zone_inside").console("json").gate(AtMost(1000.0)),
    item("console-summary", &CONSOLE, "loop_zone_inside").console("summary").gate(AtMost(60.0)),
    item("console-c-peer", &CONSOLE, "loop_console_c"),
    item("console-c-nested-peer", &CONSOLE, "loop_console_c_nested"),
    item("console-c-flushed-peer", &CONSOLE, "loop_console_c_flushed"),
    item("tracing-fmt-peer", &CONSOLE, "loop_tracing_fmt"),

    item("launch", &LAUNCHES, "loop_launch"),
    item("launch-off", &LAUNCHES, "loop_launch_off").gate(Same("launch")),
    item("launch-paused", &LAUNCHES, "loop_launch_paused").gate(AtMost(60.0)),
    item("memory-copied", &LAUNCHES, "loop_copy"),
    item("memory-recorded", &LAUNCHES, "loop_record"),
];

/// Items that take turns in one process; times are relative to the first one's.
#[derive(Debug)]
pub struct Comparison {
    /// The items, by name. They are in the last one's program, where the first one has its like.
    pub items: &'static [&'static str],
    /// How often a loop runs in each of its turns: few enough that a turn seldom loses the processor.
    pub runs: u64,
    /// Whether a profiler drains meanwhile.
    pub drained: bool,
}

const ZONES: u64 = 5_000;
const LINES: u64 = 1_000;

/// All comparisons.
#[rustfmt::skip]
pub static COMPARISONS: &[Comparison] = &[
    Comparison { runs: ZONES, drained: true, items: &[
        "tracy-raw", "tracy-cxx-inlined", "tracy-zone", "tracy-switch", "tracy-dispatch",
        "tracy-dispatch-alloc", "tracy-text", "tracy-raw-text", "tracy-value", "tracy-raw-value", "tracy-message",
        "tracy-raw-message", "tracy-plot", "tracy-raw-plot", "tracy-span-peer",
    ] },
    // Fewer, since each of its spans brings strings that have to be drained.
    Comparison { runs: ZONES / 5, drained: true, items: &["tracy-raw", "tracing-tracy-peer", "tracing-tracy-enter-peer"] },
    // Each with a process of its own, since a program has one subscriber.
    Comparison { runs: ZONES / 5, drained: true, items: &["tracy-raw", "tracing-layer", "tracing-layer-enter"] },
    Comparison { runs: ZONES / 5, drained: true, items: &["tracy-raw", "tracing-subscriber", "tracing-subscriber-enter"] },
    Comparison { runs: ZONES, drained: true, items: &["tracy-raw", "puffin-peer", "fastrace-peer", "profiling-off-peer"] },
    Comparison { runs: ZONES, drained: true, items: &["tracy-raw", "profiling-tracy-peer"] },
    Comparison { runs: ZONES, drained: false, items: &["tracy-raw-ondemand-off", "tracy-zone-ondemand-off"] },
    Comparison { runs: ZONES, drained: true, items: &["tracy-raw-ondemand-on", "tracy-zone-ondemand-on"] },
    Comparison { runs: LINES, drained: false, items: &["console-c-peer", "console-file", "tracing-fmt-peer"] },
    Comparison { runs: LINES, drained: false, items: &["console-c-nested-peer", "console-file-nested"] },
    Comparison { runs: LINES, drained: false, items: &["console-c-flushed-peer", "console-file-outermost"] },
    Comparison { runs: LINES, drained: false, items: &["console-c-peer", "console-json"] },
    Comparison { runs: LINES, drained: false, items: &["console-c-peer", "console-summary"] },
    // Of 32 MiB each.
    Comparison { runs: 5, drained: false, items: &["memory-copied", "memory-recorded"] },
];

/// The item of this name.
///
/// # Errors
/// If there is none.
pub fn named(name: &str) -> Result<&'static Item, Error> {
    ITEMS.iter().find(|item| item.name == name).ok_or_else(|| Error::Unknown(name.to_owned()))
}

/// The items of these names, or all.
///
/// # Errors
/// If there is no such item.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Item>, Error> {
    match names {
        [] => Ok(ITEMS.iter().collect()),
        names => names.iter().map(|name| named(name)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<_> = ITEMS.iter().map(|item| item.name).collect();
        assert_eq!(names.len(), ITEMS.len());
        assert_eq!(named("tracy-zone").map(|item| item.symbol).ok(), Some("loop_zone"));
        assert!(matches!(named("tracy-zoo"), Err(Error::Unknown(name)) if name == "tracy-zoo"));
    }

    #[test]
    fn gates_speak_of_items() {
        for gate in ITEMS.iter().filter_map(|item| item.gate) {
            if let MoreThan(other, _) | Same(other) = gate {
                assert!(named(other).is_ok(), "{other}");
            }
        }
    }

    #[test]
    fn what_is_compared_is_in_one_process() {
        for comparison in COMPARISONS {
            let items: Vec<_> = comparison.items.iter().map(|name| named(name).unwrap()).collect();
            assert!(items[1..].iter().all(|item| item.set == items[1].set), "{comparison:?}");
            let settings: HashSet<_> = items.iter().filter_map(|item| item.environment).collect();
            assert!(settings.len() <= 1, "{comparison:?} needs two environments");
        }
    }
}
