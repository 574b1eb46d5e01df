//! Lanes, as a provider sees them.

use std::sync::Mutex;

use zonecast::{Interned, Lane, LaneId, LaneInfo, LaneKind, LaneZone, Provider, Time, location};

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl Provider for Recorder {
    fn lane_create(&self, lane: LaneInfo<'_>) -> LaneId {
        let group = lane.group.map(|group| format!(" in {group}")).unwrap_or_default();
        self.add(format!("create {} {:?}{group}", lane.name, lane.kind));
        LaneId(7)
    }
    fn lane_zones(&self, lane: LaneId, tree: &[LaneZone<'_>]) {
        let zone = |zone: &LaneZone<'_>| {
            let name = zone.name.unwrap_or_else(|| zone.location.title().to_str().unwrap());
            format!("{}{name} {}..{}", ">".repeat(zone.depth as usize), zone.start.ns(), zone.end.ns())
        };
        let zones: Vec<_> = tree.iter().map(zone).collect();
        self.add(format!("lane {}: {}", lane.0, zones.join(" ")));
    }
    fn lane_close(&self, lane: LaneId) {
        self.add(format!("close {}", lane.0));
    }
}

#[test]
fn zones_arrive_whole_and_in_order() {
    static RECORDER: Recorder = Recorder(Mutex::new(Vec::new()));
    zonecast::install(&RECORDER).unwrap();
    let at = Time::from_ns;
    let mut lane = Lane::of_kind("stream 0", LaneKind::Cuda);
    lane.zone_at(location!("a"), at(100), at(200));
    lane.zone_at(location!("overlaps"), at(150), at(300));
    lane.zone_at(location!("is over"), at(150), at(250));
    assert_eq!(lane.left_out(), 1);
    let place = Interned::from(location!("b"));
    lane.zones(&mut [
        LaneZone::new(place.location(), at(300), at(400)),
        LaneZone::new(place.location(), at(310), at(500)).at_depth(1).named("child"),
        LaneZone::new(place.location(), at(400), at(450)),
    ]);
    lane.zone_at_interned(&place, at(500), at(500));
    drop(lane);
    drop(Lane::in_group("GPU 0", "stream 1", LaneKind::Hip));
    assert_eq!(
        *RECORDER.0.lock().unwrap(),
        [
            "create stream 0 Cuda",
            "lane 7: a 100..200",
            "lane 7: overlaps 200..300",
            "lane 7: b 300..400 >child 310..400",
            "lane 7: b 400..450",
            "lane 7: b 500..501",
            "close 7",
            "create stream 1 Hip in GPU 0",
            "close 7",
        ]
    );
}
