//! Recordings of zonecast's own recorder.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use zonecast_embed::Executable;
use zonecast_recordings::recorder::{Argument, Buffer, Recording};

use super::Image;
use crate::sources::plain;

pub(super) fn text(out: &mut impl Write, file: &Path, recording: &Recording) -> io::Result<()> {
    let launch = &recording.description;
    let mut line = |key: &str, value: String| writeln!(out, "  {key:<13} {value}");
    line("file", file.display().to_string())?;
    line("kernel", plain(launch.kernel.as_bytes()))?;
    line(
        "recorded by",
        format!("zonecast, on {} ({})", plain(launch.backend.as_bytes()), plain(launch.device.as_bytes())),
    )?;
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    let block =
        if launch.block == [0; 3] { "their own size".to_owned() } else { format!("{bx} x {by} x {bz}") };
    let shared = launch.shared_memory;
    line("launch", format!("{gx} x {gy} x {gz} blocks of {block}, {shared} bytes of shared memory"))?;
    line("occurrence", format!("{}, counted from 0", recording.occurrence))?;
    for (index, argument) in launch.arguments.iter().enumerate() {
        line(&format!("argument {index}"), passed(argument))?;
    }
    for (index, buffer) in recording.memory.iter().enumerate() {
        line(&format!("buffer {index}"), held(buffer))?;
    }
    for global in &recording.globals {
        line("global", format!("{}, {}", plain(global.name.as_bytes()), held(global)))?;
    }
    match image(recording) {
        Some(image) => line("image", image.to_string())?,
        None => line("image", "not recorded".to_owned())?,
    }
    for gap in &recording.gaps {
        line("note", plain(gap.as_bytes()))?;
    }
    writeln!(out)
}

fn passed(argument: &Argument) -> String {
    // Most words are integers, which make floats that nobody would pass.
    let float = |float: f64| match (1e-6..1e12).contains(&float.abs()) {
        true => format!(", as a float {float}"),
        false => String::new(),
    };
    match (argument.pointee, <[u8; 4]>::try_from(&*argument.bytes), <[u8; 8]>::try_from(&*argument.bytes)) {
        (Some((buffer, offset)), ..) => format!("buffer {buffer} at offset {offset:#x}"),
        (None, Ok(word), _) => {
            let float = float(f32::from_le_bytes(word).into());
            format!("{:#x} ({}{float})", u32::from_le_bytes(word), i32::from_le_bytes(word))
        }
        (None, _, Ok(word)) => {
            let float = float(f64::from_le_bytes(word));
            format!("{:#x} ({}{float})", u64::from_le_bytes(word), i64::from_le_bytes(word))
        }
        _ => format!("{} bytes", argument.bytes.len()),
    }
}

fn held(buffer: &Buffer) -> String {
    let changed = match buffer.after.len() == buffer.before.len() {
        true if buffer.before == buffer.after => "unchanged",
        true => "changed",
        false => "no output",
    };
    format!("{} bytes at {:#x}, {changed}", buffer.before.len(), buffer.address)
}

pub(super) fn object(file: &Path, recording: &Recording) -> Value {
    let launch = &recording.description;
    let argument = |argument: &Argument| {
        let pointee = argument.pointee.map(|(buffer, at)| json!({ "buffer": buffer, "offset": at }));
        json!({ "bytes": argument.bytes, "pointee": pointee })
    };
    let buffer = |buffer: &Buffer| {
        json!({
            "name": buffer.name,
            "address": buffer.address,
            "bytes": buffer.before.len(),
            "changed": buffer.before != buffer.after,
        })
    };
    json!({
        "file": file.to_string_lossy(),
        "kernel": launch.kernel,
        "recorded_by": "zonecast",
        "backend": launch.backend,
        "device": launch.device,
        "grid": launch.grid,
        "block": launch.block,
        "shared_memory": launch.shared_memory,
        "occurrence": recording.occurrence,
        "arguments": launch.arguments.iter().map(argument).collect::<Vec<_>>(),
        "buffers": recording.memory.iter().map(buffer).collect::<Vec<_>>(),
        "globals": recording.globals.iter().map(buffer).collect::<Vec<_>>(),
        "image": image(recording).map(|image| image.object()),
        "notes": recording.gaps,
    })
}

fn image(recording: &Recording) -> Option<Image> {
    let bytes = &recording.image;
    let executable = Executable::from_bytes(bytes.clone(), "image").unwrap_or_else(|_| Executable::empty(""));
    let kernel = &recording.description.kernel;
    (!bytes.is_empty()).then(|| Image::of(bytes, bytes.len() as u64, &executable, kernel))
}
