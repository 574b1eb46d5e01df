//! A hostile profile: read, and put on a timeline.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::executions::Executions;
use zonecast_recordings::places::Places;
use zonecast_recordings::profile::Profile;

fuzz_target!(|input: &[u8]| {
    let Ok(profile) = Profile::read(input) else { return };
    let timeline = profile.timeline(&Places::default(), &Executions::default());
    let _ = (profile.gaps(), timeline.begin());
    for row in &timeline.rows {
        assert!(row.zones.iter().all(|zone| zone.begin <= zone.end));
    }
});
