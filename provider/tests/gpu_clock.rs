//! Hours on the simulated device's clock, in seconds.
//!
//! `ZONECAST_GPU_HOURS=24` simulates a day.

mod gpu_sim;

use std::sync::Arc;

use gpu_sim::{Simulated, from_env, keeper};
use zonecast::gpu::{Collector, DEFAULT_LIMIT, Gpu};
use zonecast::location;
use zonecast_fake_driver::{Rounding, Settings};

const SECOND: i64 = 1_000_000_000;

/// The medians of the errors of each minute, in nanoseconds: the first one's, and how far the others' are from it
/// at most.
fn simulate(settings: Settings, seconds: u64) -> (i64, i64) {
    let keeper = keeper();
    let tick = settings.tick;
    let simulated = Simulated::new(settings);
    let collector = Collector::by_hand(Arc::new(simulated.clone()));
    let gpu = Gpu::with(simulated.clone(), &collector, DEFAULT_LIMIT).unwrap();
    let stream = simulated.stream();
    // SAFETY: the stream is the device's and is not destroyed.
    let context = unsafe { gpu.context(stream, "stream") };
    let mut minutes: Vec<Vec<i64>> = Vec::new();
    let mut zones = 0;
    for quarter in 0..seconds * 4 {
        {
            let _zone = context.zone(location!("kernel"));
            simulated.launch(stream, 100_000 + (quarter as i64 * 7_919) % 15_000_000);
        }
        collector.poll();
        simulated.sim().advance(SECOND / 4);
        for seen in keeper.take() {
            zones += 1;
            let start = simulated.truth(seen.launched.0).unwrap();
            let end = simulated.truth(seen.launched.1).unwrap();
            let bound = seen.error;
            assert!(bound < 40_000, "a bound of {bound} ns says little");
            assert!((seen.start - start).abs() <= bound, "{} ns off, {bound} allowed", seen.start - start);
            assert!((seen.end - end).abs() <= bound, "{} ns off, {bound} allowed", seen.end - end);
            assert!(seen.launched.0.ns() <= seen.start && seen.start < seen.end);
            // A device off by 50 ppm counts as many nanoseconds more or less; and to the tick.
            let drift = (end - start) / 15_000 + 1;
            assert!(
                (seen.measured - (end - start)).abs() <= drift + tick,
                "{} {}",
                seen.measured,
                end - start
            );
            assert_eq!(seen.measured % tick, 0, "a duration is a whole number of ticks");
            let minute = (quarter / 240) as usize;
            minutes.resize(minute + 1, Vec::new());
            minutes[minute].push(seen.start - start);
        }
    }
    assert!(zones + 16 > seconds * 4, "{zones} zones in {seconds} s");
    let outcome = context.outcome();
    assert_eq!((outcome.failed, outcome.over_limit, outcome.in_capture), (0, 0, 0));
    let medians: Vec<i64> =
        minutes.iter_mut().filter(|minute| minute.len() > 200).map(|minute| median(minute)).collect();
    let drift = medians.iter().map(|median| (median - medians[0]).abs()).max().unwrap();
    (medians[0], drift)
}

fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    values[values.len() / 2]
}

#[test]
fn times_do_not_drift_away() {
    let hours = from_env("ZONECAST_GPU_HOURS", 0);
    let seconds = if hours == 0 { 200 } else { hours * 3_600 };
    for (tick, rounding) in [(1, Rounding::Cuda), (32, Rounding::Hip), (1_000, Rounding::HipClamped)] {
        let settings = Settings { seed: 7, tick, rounding, ..Settings::default() };
        let (first, drift) = simulate(settings, seconds);
        println!("tick {tick} ns, {seconds} s: first minute {first} ns off, further {drift} ns");
        assert!(drift <= 1_000 + tick, "tick {tick}: {drift} ns");
    }
}

#[test]
fn a_pause_of_hours_and_a_reset_are_survived() {
    let keeper = keeper();
    let simulated = Simulated::new(Settings::default());
    let collector = Collector::by_hand(Arc::new(simulated.clone()));
    let gpu = Gpu::with(simulated.clone(), &collector, DEFAULT_LIMIT).unwrap();
    let stream = simulated.stream();
    // SAFETY: the stream is the device's and is not destroyed.
    let context = unsafe { gpu.context(stream, "pauses") };
    let run = |zones: usize| {
        for _ in 0..zones {
            {
                let _zone = context.zone(location!("kernel"));
                simulated.launch(stream, 300_000);
            }
            collector.poll();
            simulated.sim().advance(SECOND / 10);
        }
    };
    run(50);
    simulated.sim().advance(5 * 3_600 * SECOND);
    run(50);
    simulated.sim().reset_counter();
    run(50);
    simulated.sim().advance(SECOND);
    collector.settle();
    let outcome = context.outcome();
    assert_eq!(outcome.recorded + outcome.failed, 150, "{outcome:?}");
    assert!(outcome.failed <= 1, "only what ran during the reset: {outcome:?}");
    let mut seen = 0;
    for zone in keeper.take() {
        let start = simulated.truth(zone.launched.0).unwrap();
        let bound = zone.error;
        assert!((zone.start - start).abs() <= bound, "{} ns off, {bound} allowed", zone.start - start);
        seen += 1;
    }
    assert_eq!(seen, outcome.recorded);
}

/// The host's threads are interrupted at any moment, for any time.
#[test]
fn a_busy_machine_is_told_the_truth_and_loses_nothing() {
    let keeper = keeper();
    for seed in 0..from_env("ZONECAST_GPU_BUSY", 40) {
        let tick = [1, 32, 1_000][seed as usize % 3];
        let simulated = Simulated::new(Settings { seed, tick, ..Settings::default() });
        simulated.sim().faults.interrupted_once_in = [50, 500, 5_000][seed as usize / 3 % 3];
        let collector = Collector::by_hand(Arc::new(simulated.clone()));
        let gpu = Gpu::with(simulated.clone(), &collector, DEFAULT_LIMIT).unwrap();
        let stream = simulated.stream();
        // SAFETY: the stream is the device's and is not destroyed.
        let context = unsafe { gpu.context(stream, "busy") };
        for zone in 0..300_i64 {
            {
                let _zone = context.zone(location!("kernel"));
                simulated.launch(stream, 1_000 + zone * 7_919_993 % 40_000_000);
            }
            simulated.sim().advance(zone * 104_729 % 50_000_000);
            collector.poll();
        }
        let mut rest = 300;
        while collector.settle() > 0 && rest > 0 {
            simulated.sim().advance(SECOND / 20);
            rest -= 1;
        }
        assert_eq!(context.outcome().recorded, 300, "seed {seed}: {:?}", context.outcome());
        for (zone, truth) in keeper.take().iter().zip(simulated.truths().chunks(2)) {
            let off = (zone.start - truth[0]).abs().max((zone.end - truth[1]).abs());
            assert!(off <= zone.error, "seed {seed}: {off} ns off, {} told", zone.error);
        }
    }
}
