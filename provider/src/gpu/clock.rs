//! From the device's nanoseconds to the host's, with a bound on the error.
//!
//! Nobody can read both clocks at once. What is known are bounds: an event that the host asked for at
//! one moment and saw done at another took place in between. Each side of many such bounds makes a
//! fence, and within a few seconds two quartz clocks run along a straight line between the fences. So
//! at the middle of such a window, no line can pass above the lowest polygon stretched under the upper
//! bounds, nor below the highest one over the lower bounds; half way between is the estimate, half
//! their distance the bound on its error. Long latencies only widen the fences elsewhere: what counts is
//! the quickest answers.
//!
//! These estimates, half a second apart, are the knots of a mapping that is continuous and, but at the
//! end of a program, only interpolated: a time is told when there are knots on both sides of it. A counter
//! that was reset starts another mapping.
//!
//! The bound holds however late the host asks or looks. It assumes that the two clocks' rates are no
//! further apart than [`MAX_SKEW`], and change by no more than [`WANDER`] in a second, ten times worse than the
//! crystals of computers do. So the host's clock here is a steady one ([`HostClock`](super::HostClock)), which
//! nobody sets. Where the fences cross, so that this cannot be true, only what is nearer is looked at.

use std::collections::VecDeque;

use super::history::{History, on_line};

/// How far before and after a knot bounds are looked at.
const HALF_WINDOW: i64 = 1_000_000_000;
/// How far knots are apart.
const KNOT_STEP: i64 = 500_000_000;
/// Of the bounds that lie in so many nanoseconds, the tightest is kept.
const BUCKET: i64 = 16_000_000;
/// How much the rates may change in a second.
const WANDER: f64 = 1e-7;
/// How far the rates may be apart.
const MAX_SKEW: f64 = 500e-6;
/// Of how many resets the mappings are remembered.
const MAPS: usize = 4;

/// A moment on both clocks.
type Point = (i64, i64);

#[derive(Debug, Default)]
struct Bucket {
    place: i64,
    lower: Option<Point>,
    upper: Option<Point>,
}

#[derive(Debug)]
struct Knot {
    host: i64,
    error: i64,
}

/// The mapping between two resets.
#[derive(Debug, Default)]
struct Map {
    knots: History<Knot>,
}

/// See [the module](self).
#[derive(Debug)]
pub(super) struct Clock {
    window: VecDeque<Bucket>,
    maps: VecDeque<Map>,
    /// The number of the newest map.
    segment: u32,
    /// Where the next knot is to be.
    next: Option<i64>,
    newest: i64,
    /// What positions and stamps may be wrong by, besides.
    pub(super) slack_ns: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            window: VecDeque::new(),
            maps: VecDeque::from([Map::default()]),
            segment: 0,
            next: None,
            newest: i64::MIN,
            slack_ns: 0,
        }
    }
}

impl Clock {
    /// The event at `position` took place between these two moments of the host's. Positions of
    /// successive calls may go back a little, but are all of the newest segment.
    pub(super) fn bound(&mut self, position: i64, earliest: i64, latest: i64) {
        self.make_room(position);
        self.lower(position, earliest);
        self.upper(position, latest);
        self.newest = self.newest.max(position);
        self.tie_due_knots();
    }

    /// The event at `position`, not far from those of [`bound`](Self::bound), took place no earlier.
    pub(super) fn lower(&mut self, position: i64, earliest: i64) {
        if let Some(bucket) = self.bucket(position)
            && bucket.lower.is_none_or(|old| earliest - position > old.1 - old.0)
        {
            bucket.lower = Some((position, earliest));
        }
    }

    /// As [`lower`](Self::lower): it took place no later.
    pub(super) fn upper(&mut self, position: i64, latest: i64) {
        if let Some(bucket) = self.bucket(position)
            && bucket.upper.is_none_or(|old| latest - position < old.1 - old.0)
        {
            bucket.upper = Some((position, latest));
        }
    }

    /// After a pause, a new window begins.
    fn make_room(&mut self, position: i64) {
        if self.window.is_empty() || position.saturating_sub(self.newest) > HALF_WINDOW {
            self.settle();
            self.window.clear();
            let after = self.maps.back().and_then(|map| map.knots.last()).map_or(position, |last| last.0 + 1);
            self.next = Some(position.max(after));
        }
    }

    /// The bucket of a position; none for one that is long past.
    fn bucket(&mut self, position: i64) -> Option<&mut Bucket> {
        let place = position.div_euclid(BUCKET);
        let index = self.window.partition_point(|bucket| bucket.place < place);
        if self.window.get(index).is_none_or(|bucket| bucket.place != place) {
            if index == 0 && !self.window.is_empty() {
                return None;
            }
            self.window.insert(index, Bucket { place, ..Bucket::default() });
        }
        self.window.get_mut(index)
    }

    fn tie_due_knots(&mut self) {
        while let Some(at) = self.next.filter(|at| self.newest - at >= HALF_WINDOW) {
            self.tie(at, HALF_WINDOW);
            self.next = Some(at + KNOT_STEP);
            let past = (at + KNOT_STEP - HALF_WINDOW).div_euclid(BUCKET);
            while self.window.front().is_some_and(|bucket| bucket.place < past) {
                self.window.pop_front();
            }
        }
    }

    /// Makes the mapping reach to the newest bound, less exactly than if it waited for more.
    pub(super) fn settle(&mut self) {
        let Some(next) = self.next else { return };
        let last = self.maps.back().and_then(|map| map.knots.last()).map_or(i64::MIN, |knot| knot.0);
        if self.newest > last && !self.window.is_empty() {
            self.tie(self.newest, 2 * HALF_WINDOW);
            self.next = Some(next.max(self.newest + 1));
        }
    }

    /// The counter was reset: positions from here on belong to another segment.
    pub(super) fn reset(&mut self) {
        self.settle();
        self.window.clear();
        self.next = None;
        self.newest = i64::MIN;
        self.segment += 1;
        self.maps.push_back(Map::default());
        if self.maps.len() > MAPS {
            self.maps.pop_front();
        }
    }

    fn tie(&mut self, at: i64, reach: i64) {
        let Some((host, error)) = (0..7).find_map(|halvings| self.fences(at, HALF_WINDOW >> halvings)) else {
            return;
        };
        let knot = Knot { host, error: error + bend(reach) + self.slack_ns };
        let Some(map) = self.maps.back_mut() else { return };
        if map.knots.last().is_none_or(|last| last.0 < at && last.1.host < host) {
            map.knots.push(at, knot, drop);
        }
    }

    /// Half way between the fences at `at`, made of what is no further away than `reach`, and half
    /// their distance. None if they cross.
    fn fences(&self, at: i64, reach: i64) -> Option<(i64, i64)> {
        let near = |point: &Point| (point.0 - at).abs() <= reach;
        let lower = self.window.iter().filter_map(|bucket| bucket.lower).filter(near);
        let upper = self.window.iter().filter_map(|bucket| bucket.upper).filter(near);
        let mirrored = lower.map(|(position, host)| (position, -(host - position) + position));
        let (below, above) = (-under(mirrored, at)?, under(upper, at)?);
        let host = at + ((above + below) / 2.0).round() as i64;
        (below <= above).then_some((host, ((above - below) / 2.0).ceil() as i64))
    }

    /// The number of the segment that positions belong to now.
    pub(super) const fn segment(&self) -> u32 {
        self.segment
    }

    /// The host's time up to which positions are mapped.
    pub(super) fn known_until(&self) -> i64 {
        self.maps.back().and_then(|map| map.knots.last()).map_or(i64::MIN, |knot| knot.1.host)
    }

    /// The host's time of a position, and by how much it may be wrong.
    pub(super) fn host(&self, segment: u32, position: i64) -> Option<(i64, i64)> {
        let age = self.segment.checked_sub(segment)? as usize;
        let knots = &self.maps.get(self.maps.len().checked_sub(age + 1)?)?.knots;
        match knots.around(position) {
            Some([from, to]) if (from.0..=to.0).contains(&position) => {
                let host = on_line(position, (from.0, from.1.host), (to.0, to.1.host));
                Some((host, from.1.error.max(to.1.error) + bend((to.0 - from.0) / 2)))
            }
            _ => beyond(knots, position),
        }
    }

    /// By how much the newest knot may be wrong.
    pub(super) fn error_ns(&self) -> Option<i64> {
        self.maps.back().and_then(|map| map.knots.last()).map(|knot| knot.1.error)
    }
}

/// How far from a line the clocks may get in so many nanoseconds, as their rates wander.
fn bend(ns: i64) -> i64 {
    (WANDER * (ns as f64 / 1e9).powi(2) / 2.0 * 1e9).ceil() as i64
}

/// The host's time of a position before or after all knots: from the nearest one on, at the rate that it
/// has from another some way off, as far as that is known better than any clock's.
fn beyond(knots: &History<Knot>, position: i64) -> Option<(i64, i64)> {
    let last = knots.last()?;
    let is_after = position > last.0;
    let end = if is_after { last } else { knots.points().first()? };
    let other = if is_after { knots.until(end.0 - HALF_WINDOW) } else { knots.from(end.0 + HALF_WINDOW) };
    let away = position - end.0;
    let rate = other.map_or((0.0, MAX_SKEW), |other| rate(other, end, away));
    let (skew, uncertain) = if rate.1 < MAX_SKEW { rate } else { (0.0, MAX_SKEW) };
    let host = end.1.host + away + (away as f64 * skew).round() as i64;
    Some((host, end.1.error + (away.unsigned_abs() as f64 * uncertain).ceil() as i64))
}

/// By how much the host is faster, from one knot to another and `away` nanoseconds further, and by
/// how much that may be wrong.
fn rate(from: &(i64, Knot), to: &(i64, Knot), away: i64) -> (f64, f64) {
    let run = (to.0 - from.0) as f64;
    let skew = ((to.1.host - from.1.host) as f64 - run) / run;
    let wander = WANDER * (run.abs() / 2.0 + away.unsigned_abs() as f64) / 1e9;
    (skew, (from.1.error + to.1.error) as f64 / run.abs() + wander)
}

/// How much the host may be ahead of the device at most, at `at`, if its line is to pass under all
/// points: the height there of the convex chain under them, or what the clocks' greatest skew allows.
fn under(points: impl Iterator<Item = Point>, at: i64) -> Option<f64> {
    let mut chain: Vec<(f64, f64)> = Vec::new();
    let mut steepest = f64::INFINITY;
    for (position, host) in points {
        let point = ((position - at) as f64, (host - position) as f64);
        steepest = steepest.min(point.1 + point.0.abs() * MAX_SKEW);
        while let [.., a, b] = chain[..] {
            let turn = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0);
            if turn > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(point);
    }
    let right = chain.partition_point(|point| point.0 < 0.0);
    match (right.checked_sub(1).and_then(|left| chain.get(left)), chain.get(right)) {
        (Some(a), Some(b)) => Some(steepest.min(a.1 + (b.1 - a.1) * -a.0 / (b.0 - a.0))),
        (None, None) => None,
        _ => Some(steepest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose clock runs fast by `ppm`, and answers 3 µs after it was asked, and 1 µs more
    /// until that is seen, now and then much later.
    fn run(clock: &mut Clock, seconds: i64, ppm: i64) -> impl Fn(i64) -> i64 + use<> {
        let device = move |host: i64| host + host / 1_000_000 * ppm;
        for step in 0..seconds * 40 {
            let host = step * 25_000_000;
            let late = if step % 7 == 3 { 0 } else { (step * 7_919) % 40_000 };
            clock.bound(device(host), host - 3_000 - late, host + 1_000 + (late * 31) % 9_000);
        }
        device
    }

    #[test]
    fn the_estimate_is_within_its_bound() {
        let mut clock = Clock::default();
        let device = run(&mut clock, 20, 50);
        assert!(clock.known_until() > 18_000_000_000);
        for host in (1_000_000_000..18_000_000_000).step_by(77_777_777) {
            let (told, error) = clock.host(0, device(host)).unwrap();
            assert!((told - host).abs() <= error, "{host}: {told} ± {error}");
            assert!(error < 2_500, "{error}");
            // Asking is 3 µs, seeing 1 µs: half the difference cannot be known. It is the same throughout.
            assert!((told - host + 1_000).abs() < 200, "{host}: {told}");
        }
    }

    /// Answers come after anything from microseconds to seconds, the first one after 20 ms; whatever is
    /// asked at whatever time, the truth is no further off than is told.
    #[test]
    fn what_is_told_is_true_however_late_the_host_is() {
        for seed in 1..200_i64 {
            let mut clock = Clock::default();
            let mut random = seed;
            let mut draw = move |below: i64| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random as u64 >> 33) as i64 % below
            };
            let skew = draw(400) - 200;
            let device = |host: i64| host + host / 1_000_000 * skew;
            let mut now = 0;
            for step in 0..30 {
                let [before, after] = [(); 2].map(|()| {
                    let slowest = if draw(6) == 0 { 20 } else { 4 };
                    2_000 << draw(slowest)
                });
                now += before;
                clock.bound(device(now), now - before, now + if step == 0 { 20_000_000 } else { after });
                for _ in 0..10 {
                    let asked = draw(now + 2_000_000_000);
                    let Some((told, error)) = clock.host(0, device(asked)) else { continue };
                    assert!((told - asked).abs() <= error + 1_000, "seed {seed}: {asked}, {told} ± {error}");
                }
                now += after + draw(300_000_000);
                if draw(8) == 0 {
                    clock.settle();
                }
            }
        }
    }

    #[test]
    fn the_end_can_be_had_at_once() {
        let mut clock = Clock::default();
        let device = run(&mut clock, 3, -30);
        clock.settle();
        let last = 3_000_000_000 - 25_000_000;
        let (told, error) = clock.host(0, device(last)).unwrap();
        assert!((told - last).abs() <= error && error < 40_000, "{told} ± {error}");
        let _ = run(&mut clock, 5, -30);
        assert!(clock.known_until() > 3_000_000_000);
    }

    #[test]
    fn a_reset_starts_another_mapping() {
        let mut clock = Clock::default();
        let _ = run(&mut clock, 4, 0);
        let before = clock.host(0, 1_000_000_000).unwrap();
        clock.reset();
        assert_eq!(clock.segment(), 1);
        assert_eq!(clock.host(0, 1_000_000_000), Some(before));
        assert_eq!(clock.host(1, 0), None);
        assert_eq!(clock.host(2, 0), None);
        for step in 0..100 {
            let host = 9_000_000_000 + step * 25_000_000;
            clock.bound(step * 25_000_000, host - 2_000, host + 2_000);
        }
        let (told, error) = clock.host(1, 0).unwrap();
        assert!((told - 9_000_000_000).abs() <= error && error < 5_000, "{told} ± {error}");
    }
}
