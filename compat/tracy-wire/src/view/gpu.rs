//! What can be read off a GPU context and its zones.

use super::{GpuContext, GpuZone, StackFrame, callstack};
use crate::capture::ended;
use crate::model::NONE;
use crate::names::UNKNOWN;

impl<'a> GpuContext<'a> {
    /// The context's number.
    #[must_use]
    pub fn id(&self) -> u8 {
        self.data().id
    }

    /// Its name, if it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.data().name.map(|name| self.capture.names.texts.get(name))
    }

    /// What it belongs to.
    #[must_use]
    pub fn sort(&self) -> GpuSort {
        GpuSort::from_byte(self.data().sort)
    }

    /// The thread that owns it; 0 where each thread field of a zone is a row of its own.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.data().thread
    }

    /// Nanoseconds per tick.
    #[must_use]
    pub fn period(&self) -> f32 {
        self.data().period
    }

    /// Whether it takes calibrations.
    #[must_use]
    pub fn is_calibrated(&self) -> bool {
        self.data().calibrated
    }

    /// How many calibrations came.
    #[must_use]
    pub fn calibration_count(&self) -> u32 {
        self.data().calibrations
    }

    /// Its zones, in the order of their beginning.
    pub fn zones(&self) -> impl Iterator<Item = GpuZone<'a>> + use<'a> {
        let this = *self;
        this.capture.gpu_zones().filter(move |zone| zone.data().context as usize == this.index)
    }
}

/// What a GPU context belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names of interfaces")]
#[non_exhaustive]
pub enum GpuSort {
    Invalid,
    OpenGl,
    Vulkan,
    OpenCl,
    Direct3D12,
    Direct3D11,
    Metal,
    Custom,
    Cuda,
    Rocprof,
    WebGpu,
    /// A number that Tracy 0.14 does not know.
    Unknown(u8),
}

impl GpuSort {
    fn from_byte(byte: u8) -> Self {
        const KNOWN: [GpuSort; 11] = [
            GpuSort::Invalid,
            GpuSort::OpenGl,
            GpuSort::Vulkan,
            GpuSort::OpenCl,
            GpuSort::Direct3D12,
            GpuSort::Direct3D11,
            GpuSort::Metal,
            GpuSort::Custom,
            GpuSort::Cuda,
            GpuSort::Rocprof,
            GpuSort::WebGpu,
        ];
        KNOWN.get(usize::from(byte)).copied().unwrap_or(GpuSort::Unknown(byte))
    }
}

impl<'a> GpuZone<'a> {
    /// The zone's name: its location's, or else its function.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.location().name().unwrap_or_else(|| self.location().function())
    }

    /// The function it lies in.
    #[must_use]
    pub fn function(&self) -> &'a str {
        self.location().function()
    }

    /// The file it lies in.
    #[must_use]
    pub fn file(&self) -> &'a str {
        self.location().file()
    }

    /// The line in the file.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.location().line()
    }

    /// The context it belongs to.
    #[must_use]
    pub fn context(&self) -> GpuContext<'a> {
        GpuContext { capture: self.capture, index: self.data().context as usize }
    }

    /// Its thread field: the launching thread, or a stream.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.data().thread
    }

    /// The query that its beginning was sent with.
    #[must_use]
    pub fn query(&self) -> u16 {
        self.data().query
    }

    /// How many zones of its row enclose it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.data().depth
    }

    /// The zone around it.
    #[must_use]
    pub fn parent(&self) -> Option<GpuZone<'a>> {
        let parent = self.data().parent;
        (parent != NONE).then_some(GpuZone { capture: self.capture, index: parent as usize })
    }

    /// When its beginning was launched.
    #[must_use]
    pub fn cpu_start_ns(&self) -> i64 {
        self.data().cpu_start
    }

    /// When its end was launched, if it was.
    #[must_use]
    pub fn cpu_end_ns(&self) -> Option<i64> {
        ended(self.data().cpu_end)
    }

    /// When it began on the GPU, in nanoseconds of the CPU's clock, if that has come.
    #[must_use]
    pub fn start_ns(&self) -> Option<i64> {
        ended(self.data().start)
    }

    /// When it ended on the GPU, if that has come.
    #[must_use]
    pub fn end_ns(&self) -> Option<i64> {
        ended(self.data().end)
    }

    /// How long it took on the GPU.
    #[must_use]
    pub fn duration_ns(&self) -> Option<i64> {
        Some(self.end_ns()?.saturating_sub(self.start_ns()?))
    }

    /// Its numbers: (name, value).
    pub fn notes(&self) -> impl Iterator<Item = (&'a str, f64)> + use<'a> {
        let (capture, index) = (self.capture, self.index);
        let names = &self.context().data().note_names;
        capture.tables.gpu_notes.iter().filter(move |note| note.zone as usize == index).map(move |note| {
            (names.get(&note.note).map_or(UNKNOWN, |name| capture.names.texts.get(*name)), note.value)
        })
    }

    /// Where it was launched from, innermost first; empty if it was not asked to say.
    #[must_use]
    pub fn callstack(&self) -> Vec<StackFrame<'a>> {
        callstack(self.capture, self.data().callstack)
    }
}
