//! The device's clock: off the host's by a rate that wanders, counted in ticks, set back now and then.

use crate::random::Random;

const SECOND: i64 = 1_000_000_000;

/// A clock that is off the host's by a rate that wanders, counts in ticks, and is set back now and then.
#[derive(Debug)]
pub struct DeviceClock {
    tick: i64,
    wrap: i64,
    walk_ppm: f64,
    base_ppm: f64,
    off_ppm: f64,
    random: Random,
    /// For each second of the host's, what the device's clock is ahead at its beginning, and its rate. From
    /// the second `first` on.
    ahead: Vec<(f64, f64)>,
    first: i64,
    /// When the counter was set to 0.
    resets: Vec<i64>,
}

impl DeviceClock {
    /// A clock whose rate is off by `ppm`, and wanders by `walk_ppm` a second.
    #[must_use]
    pub fn new(seed: u64, tick: i64, ppm: f64, walk_ppm: f64) -> Self {
        let mut clock = Self {
            tick,
            wrap: 0,
            walk_ppm,
            base_ppm: ppm,
            off_ppm: 0.0,
            random: Random::new(seed),
            ahead: Vec::new(),
            first: 0,
            resets: Vec::new(),
        };
        clock.ahead.push((0.0, ppm));
        clock
    }

    /// Begins anew at so many nanoseconds, unless they are 0.
    #[must_use]
    pub fn wrapping_at(self, wrap: i64) -> Self {
        Self { wrap, ..self }
    }

    /// Sets the counter to 0 at this moment of the host's.
    pub fn reset(&mut self, host: i64) {
        self.resets.push(host);
    }

    /// What the counter shows, in nanoseconds, at a moment of the host's. Moments more than a minute before
    /// the latest one asked for are forgotten.
    pub fn read(&mut self, host: i64) -> i64 {
        let since_reset = self.resets.iter().rev().find(|reset| **reset <= host).copied();
        let start = since_reset.map_or(0, |reset| self.continuous(reset) as i64);
        let value = host - since_reset.unwrap_or(0) + (self.continuous(host) as i64 - start);
        let value = if self.wrap > 0 { value.rem_euclid(self.wrap) } else { value };
        value.div_euclid(self.tick) * self.tick
    }

    /// How far ahead the clock would be without resets.
    fn continuous(&mut self, host: i64) -> f64 {
        let second = host.div_euclid(SECOND).max(self.first);
        while self.first + self.ahead.len() as i64 <= second {
            let (ahead, ppm) = self.ahead.last().copied().unwrap_or_default();
            self.off_ppm += self.random.normal() * self.walk_ppm;
            self.ahead.push((ahead + ppm * 1e3, self.base_ppm + self.off_ppm));
        }
        let (ahead, ppm) = self.ahead[(second - self.first) as usize];
        let value = ahead + (host - second * SECOND) as f64 * ppm / 1e6;
        if self.ahead.len() > 7_200 {
            self.ahead.drain(..3_600);
            self.first += 3_600;
        }
        value
    }
}
