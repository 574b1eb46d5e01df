//! Dispatches of IREE's executables for CPUs.

use zonecast_dispatch::{Binding, Buffer, Dispatch, Library, Workers};
use zonecast_embed::Executable;

use crate::recorder::Recording;

use super::super::job;
use super::super::trace::monotonic;
use super::{Outcomes, Sentence};

pub(super) fn run(job: &job::Dispatch, repeat: u64, outcomes: &mut Outcomes) -> Result<(), Sentence> {
    let recording = Recording::read(&job.file).map_err(sentence)?;
    let launch = &recording.description;
    let executable = match &job.image {
        Some(image) => Executable::open(image),
        None => Executable::from_bytes(recording.image, &launch.kernel),
    };
    let executable = executable.map_err(sentence)?;
    let export = executable.images().flat_map(|image| image.exports());
    let export = export.into_iter().find(|export| export.name() == launch.kernel.as_bytes());
    let export = export.ok_or_else(|| {
        format!("there is no kernel {} in the image; is it of this recording?", launch.kernel)
    })?;
    // SAFETY: that its code runs is what this process is for, and nothing but that depends on it.
    let library = unsafe { Library::load(export.image()) }.map_err(sentence)?;
    let bound = launch.arguments.iter().filter_map(|argument| argument.pointee).map(|(buffer, _)| buffer);
    let bound: Vec<usize> = bound.collect();
    for _ in 0..repeat {
        let before = |buffer: &crate::recorder::Buffer| Buffer::from_slice(&buffer.before);
        let mut memory: Vec<Buffer> = recording.memory.iter().map(before).collect();
        if !bound.iter().copied().eq(0..memory.len()) {
            return Err("the bindings are not the buffers in their order".to_owned());
        }
        let mut bindings: Vec<_> = memory.iter_mut().map(|buffer| Binding::write(buffer)).collect();
        let dispatch = Dispatch {
            ordinal: export.ordinal(),
            workgroups: launch.grid,
            workgroup_size: (launch.block != [0; 3]).then_some(launch.block),
            constants: &job.constants,
            bindings: &mut bindings,
        };
        let start = monotonic();
        // SAFETY: as above.
        unsafe { library.dispatch(dispatch, &Workers::none(), &()) }.map_err(sentence)?;
        let end = monotonic();
        let output: Vec<u8> = memory.iter().flat_map(|buffer| buffer.iter().copied()).collect();
        outcomes.add(start, end, &output).map_err(sentence)?;
    }
    Ok(())
}

fn sentence(error: impl std::fmt::Display) -> Sentence {
    error.to_string()
}
