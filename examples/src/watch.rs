//! Each dispatch in the zone of its kernel.

use zonecast::dispatch::{Site, Sites};
use zonecast::{Interned, Location, LocationParts, Zone};
use zonecast_dispatch::{Observer, Running, Workgroup};

/// Begins a zone for each dispatch, and on request one for each workgroup.
///
/// Both name the kernel's own file and line. A workgroup's zone is on the thread that runs it.
#[derive(Debug)]
pub struct Watch<'a> {
    sites: &'a Sites,
    /// The places of the workgroups' zones, by image and ordinal; empty if none are wanted.
    workgroups: Vec<Vec<Interned>>,
}

impl<'a> Watch<'a> {
    /// Watches dispatches of the kernels at these sites.
    #[must_use]
    pub fn dispatches(sites: &'a Sites) -> Self {
        Self { sites, workgroups: Vec::new() }
    }

    /// Watches their workgroups, too.
    #[must_use]
    pub fn workgroups(sites: &'a Sites) -> Self {
        let images = (0..).map_while(|image| sites.get(image, 0).map(|_| image));
        let places =
            |image| (0..).map_while(|ordinal| sites.get(image, ordinal).map(workgroup_place)).collect();
        let workgroups = images.map(places).collect();
        Self { sites, workgroups }
    }
}

/// The kernel's place under a name of its own, so that viewers count dispatches and workgroups apart.
fn workgroup_place(site: &Site) -> Interned {
    let location = site.location();
    Location::intern(LocationParts {
        name: &format!("{} workgroup", site.name()),
        function: site.name(),
        file: &location.file().to_string_lossy(),
        line: location.line(),
        color: location.color(),
    })
}

impl Observer for Watch<'_> {
    type Dispatch = Option<Zone>;
    type Workgroup = Option<Zone>;

    fn dispatch(&self, running: Running<'_>) -> Option<Zone> {
        self.sites.get(running.image, running.ordinal).map(Site::zone)
    }

    fn workgroup(&self, running: Running<'_>, workgroup: Workgroup) -> Option<Zone> {
        let place = self.workgroups.get(running.image)?.get(running.ordinal)?;
        let zone = Zone::begin_interned(place);
        let [x, y, z] = workgroup.id;
        zonecast::zone_text!(zone, "{x},{y},{z}");
        Some(zone)
    }
}
