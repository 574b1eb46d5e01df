//! How a server turns a GPU's ticks into its own time.
//!
//! The rules are those of `ProcessGpuTime`, `ProcessGpuCalibration` and `ProcessGpuTimeSync` in
//! Tracy 0.14's server, odd ones included: a capture must show the times that the profiler shows.

/// The most that a time may go back before a server takes the counter to have wrapped.
const BACKWARD_LIMIT: i64 = 1 << 31;

/// The clock of one GPU context. Results are nanoseconds since the program began.
#[derive(Clone, Debug)]
pub(crate) struct GpuClock {
    period: f64,
    calibrated: bool,
    /// Without calibration: what is added to a GPU time.
    offset: i64,
    /// With calibration: the last pair, and the slope from there on.
    anchor_gpu: i64,
    anchor_cpu: i64,
    slope: f64,
    last: i64,
    /// What one wrap adds, 0 before the first.
    wrap: i64,
    wraps: i64,
}

/// What a time became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) nanoseconds: i64,
    /// Whether the server took this time for a wrapped counter.
    pub(crate) wrapped: bool,
}

impl GpuClock {
    pub(crate) fn new(cpu_ns: i64, gpu_time: i64, period: f32, calibrated: bool) -> Self {
        let period = f64::from(period);
        let gpu_ns = scaled(period, gpu_time);
        Self {
            period,
            calibrated,
            offset: cpu_ns.wrapping_sub(gpu_ns),
            anchor_gpu: gpu_ns,
            anchor_cpu: cpu_ns,
            slope: 1.0,
            last: 0,
            wrap: 0,
            wraps: 0,
        }
    }

    pub(crate) fn read(&mut self, raw: i64) -> Reading {
        let wrapped = raw < self.last.saturating_sub(BACKWARD_LIMIT);
        if wrapped {
            if self.wrap == 0 {
                self.wrap = 1_i64.checked_shl(64 - self.last.leading_zeros()).unwrap_or(0);
            }
            self.wraps += 1;
        }
        self.last = raw;
        let unwrapped = raw.wrapping_add(self.wrap.wrapping_mul(self.wraps));
        Reading { nanoseconds: self.convert(unwrapped), wrapped }
    }

    fn convert(&self, gpu: i64) -> i64 {
        if self.calibrated {
            let since_anchor = if self.period == 1.0 {
                gpu.wrapping_sub(self.anchor_gpu) as f64
            } else {
                self.period * gpu as f64 - self.anchor_gpu as f64
            };
            (since_anchor * self.slope + self.anchor_cpu as f64) as i64
        } else {
            scaled(self.period, gpu).wrapping_add(self.offset)
        }
    }

    /// Takes a new pair. Returns how far the GPU's clock advanced since the last, in nanoseconds.
    pub(crate) fn calibrate(&mut self, cpu_ns: i64, gpu_time: i64, cpu_delta: i64) -> i64 {
        let gpu_ns = scaled(self.period, gpu_time);
        let advance = gpu_ns.wrapping_sub(self.anchor_gpu);
        self.slope = cpu_delta as f64 / advance as f64;
        self.anchor_gpu = gpu_ns;
        self.anchor_cpu = cpu_ns;
        advance
    }

    /// Takes a pair after the counter was reset. The anchor of a calibrated context stays.
    pub(crate) fn synchronize(&mut self, cpu_ns: i64, gpu_time: i64) {
        self.offset = cpu_ns.wrapping_sub(scaled(self.period, gpu_time));
        self.last = 0;
        self.wrap = 0;
        self.wraps = 0;
    }
}

fn scaled(period: f64, ticks: i64) -> i64 {
    if period == 1.0 { ticks } else { (period * ticks as f64) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanoseconds: i64) -> Reading {
        Reading { nanoseconds, wrapped: false }
    }

    #[test]
    fn an_uncalibrated_clock_keeps_its_first_offset() {
        let mut clock = GpuClock::new(1_000, 400, 1.0, false);
        assert_eq!(clock.read(450), at(1_050));
        clock.synchronize(5_000, 0);
        assert_eq!(clock.read(10), at(5_010));
    }

    #[test]
    fn a_period_scales_ticks() {
        let mut clock = GpuClock::new(1_000, 100, 2.0, false);
        assert_eq!(clock.read(150), at(1_100));
    }

    #[test]
    fn calibration_changes_offset_and_slope_of_later_times() {
        let mut clock = GpuClock::new(0, 0, 1.0, true);
        assert_eq!(clock.read(1_000), at(1_000));
        // The CPU saw 2,000 ns pass while the GPU counted 1,000.
        assert_eq!(clock.calibrate(2_500, 1_000, 2_000), 1_000);
        assert_eq!(clock.read(1_500), at(3_500));
    }

    #[test]
    fn a_step_back_of_two_seconds_is_taken_for_a_wrap() {
        let mut clock = GpuClock::new(0, 0, 1.0, false);
        let before = 5_000_000_000;
        assert_eq!(clock.read(before), at(before));
        let after = clock.read(1_000);
        assert!(after.wrapped);
        // The next power of two above the last time.
        assert_eq!(after.nanoseconds, (1 << 33) + 1_000);
        clock.synchronize(0, 0);
        assert_eq!(clock.read(1_000), at(1_000));
    }
}
