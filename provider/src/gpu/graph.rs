//! Zones inside graphs that are launched again and again.
//!
//! An event that is part of a graph is one event, however often the graph is launched: its times of
//! one launch are overwritten by the next. So each launch gets events of its own, by
//! [`GraphZones::launch`]. Drivers order a node for an event like any other, so it should depend on what it
//! is to come after, and what is to be timed should depend on it; such nodes may keep the driver from
//! running branches side by side.

use crate::Location;

use super::{Context, Error, Event, Graph, GraphExec, Node};

/// The zones of a graph. Made while the graph is being built.
#[derive(Debug, Default)]
pub struct GraphZones {
    zones: Vec<Part>,
    open: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) location: &'static Location,
    pub(super) begin: Node,
    pub(super) end: Node,
    /// The events that the nodes were made with. They are recorded by launches that have no others.
    pub(super) own: [Event; 2],
    pub(super) depth: u32,
}

/// What a launch needs.
pub(super) struct Parts<'a> {
    pub(super) graph: GraphExec,
    pub(super) zones: &'a [Part],
}

impl GraphZones {
    /// No zones yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a zone: adds a node after those given. What belongs to the zone has to depend on it.
    /// Zones are begun in the order in which the graph runs them, and nest.
    ///
    /// # Errors
    /// What the driver reports; no zone is begun then.
    ///
    /// # Safety
    /// `graph` is being built for a device of `context`'s, and the nodes are its.
    pub unsafe fn begin(
        &mut self,
        context: &Context,
        graph: Graph,
        after: &[Node],
        location: &'static Location,
    ) -> Result<Node, Error> {
        // SAFETY: by this function's contract.
        let (begin, event) = unsafe { node(context, graph, after) }?;
        let depth = self.open.len() as u32;
        self.open.push(self.zones.len());
        self.zones.push(Part { location, begin, end: begin, own: [event, Event::NONE], depth });
        Ok(begin)
    }

    /// Ends the zone begun last: adds a node after those given.
    ///
    /// # Errors
    /// What the driver reports, or that no zone is open.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    pub unsafe fn end(&mut self, context: &Context, graph: Graph, after: &[Node]) -> Result<Node, Error> {
        let Some(&zone) = self.open.last() else {
            return Err(Error::unsupported("end of a zone that did not begin"));
        };
        // SAFETY: by this function's contract.
        let (end, event) = unsafe { node(context, graph, after) }?;
        self.zones[zone].end = end;
        self.zones[zone].own[1] = event;
        self.open.pop();
        Ok(end)
    }

    /// Launches the graph once by calling `launch`, in a zone that holds the graph's own. Every launch of the
    /// graph has to go through this: another one would overwrite the times of the launch before.
    ///
    /// # Safety
    /// `graph` was instantiated from the graph that the zones were added to, and `launch` launches it
    /// on `context`'s stream.
    pub unsafe fn launch(
        &self,
        context: &Context,
        graph: GraphExec,
        location: &'static Location,
        launch: impl FnOnce(),
    ) {
        let closed = if self.open.is_empty() { &self.zones[..] } else { &[] };
        context.replay(location, &Parts { graph, zones: closed }, launch);
    }

    /// Destroys the events that the graph was made with. To be called once neither the graph nor an
    /// instance of it is launched any more.
    ///
    /// # Safety
    /// As said, and `context` is that of the calls before.
    pub unsafe fn destroy(self, context: &Context) {
        let Some(device) = context.existing_device() else { return };
        // If the device cannot be used any more, its events are gone.
        let _ = device.with_collector(&mut || {
            for event in self.zones.iter().flat_map(|zone| zone.own).filter(|event| !event.is_none()) {
                // SAFETY: made by this device, and not used any more by this function's contract.
                unsafe { device.destroy_event(event) };
            }
        });
    }
}

/// Adds a node with an event of its own.
///
/// # Safety
/// As for [`GraphZones::begin`].
unsafe fn node(context: &Context, graph: Graph, after: &[Node]) -> Result<(Node, Event), Error> {
    let device = context.existing_device().ok_or_else(|| Error::unsupported("device"))?;
    let event = device.create_event()?;
    // SAFETY: by this function's contract; the event was just made.
    match unsafe { device.add_graph_event(graph, after, event) } {
        Ok(node) => Ok((node, event)),
        Err(error) => {
            // SAFETY: as above, and nobody else has it.
            unsafe { device.destroy_event(event) };
            Err(error)
        }
    }
}
