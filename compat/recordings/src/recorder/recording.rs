//! A recorded launch, and how it is laid out in a [container](super::container).

use std::path::Path;

use serde_json::{Value, json};

use crate::Error;
use crate::diff::{Element, Region};

use super::container::{Container, REQUIRED, Writer};

/// The parts that this version knows.
const KNOWN: [&str; 4] = ["description", "image", "memory/", "global/"];

/// What was launched, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Who launched it, thus what its image and arguments are: `iree-cpu`, `cuda`.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// The kernel's symbol, or export.
    pub kernel: String,
    /// How many blocks (workgroups) there are, in x, y and z.
    pub grid: [u32; 3],
    /// How many threads each has, in x, y and z; for IREE's kernels for CPUs, the workgroup size, zeros if they know it themselves.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_memory: u64,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// An argument as it was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Which of the recorded buffers it points into, and at which offset.
    pub pointee: Option<(usize, u64)>,
}

/// A piece of memory, or a global variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// A global's symbol; of memory, empty.
    pub name: String,
    /// Where it was.
    pub address: u64,
    /// What it held before the launch.
    pub before: Vec<u8>,
    /// What it held after it. Empty, if that was not recorded.
    pub after: Vec<u8>,
}

/// A launch with all that it takes to run it again, and what it computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// What was launched.
    pub description: Description,
    /// How many launches of the same instance came before.
    pub occurrence: u64,
    /// The device's memory, in order of address; for IREE's kernels, the bindings in order.
    pub memory: Vec<Buffer>,
    /// The module's variables.
    pub globals: Vec<Buffer>,
    /// The module, as it was loaded. Empty, if nobody had it.
    pub image: Vec<u8>,
    /// What the launch may depend on and is not in the recording.
    pub gaps: Vec<String>,
}

impl Recording {
    /// Writes it to a file, which appears whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written; a file that was there before is then still there.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut writer = Writer::create(path)?;
        writer.part("description", REQUIRED, self.to_json().to_string().as_bytes())?;
        for (kind, buffers) in [("memory", &self.memory), ("global", &self.globals)] {
            for (index, buffer) in buffers.iter().enumerate() {
                writer.part(&format!("{kind}/{index}/before"), REQUIRED, &buffer.before)?;
                writer.part(&format!("{kind}/{index}/after"), 0, &buffer.after)?;
            }
        }
        writer.part("image", 0, &self.image)?;
        writer.finish()
    }

    /// Reads it back. All of it is checked.
    ///
    /// # Errors
    ///
    /// If the file is no recording, is damaged anywhere, or needs a newer version of this crate.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut container = Container::open(path, &KNOWN)?;
        let description = container.read("description")?;
        let contradiction = || Error::contradiction("a description of a launch").in_file(path);
        let json = serde_json::from_slice(&description).map_err(|_| contradiction())?;
        let mut recording = Self::from_json(&json).ok_or_else(contradiction)?;
        for (kind, buffers) in [("memory", &mut recording.memory), ("global", &mut recording.globals)] {
            for (index, buffer) in buffers.iter_mut().enumerate() {
                buffer.before = container.read(&format!("{kind}/{index}/before"))?;
                buffer.after = container.read(&format!("{kind}/{index}/after"))?;
            }
        }
        recording.image = container.read("image")?;
        let is_inside = |argument: &Argument| match argument.pointee {
            Some((buffer, offset)) => {
                recording.memory.get(buffer).is_some_and(|buffer| offset <= buffer.before.len() as u64)
            }
            None => true,
        };
        if !recording.description.arguments.iter().all(is_inside) {
            return Err(contradiction());
        }
        // What a newer version added is of no use here, and damaged or not.
        container.verify()?;
        Ok(recording)
    }

    /// Whether what it computed was recorded.
    pub fn has_output(&self) -> bool {
        self.memory.iter().all(|buffer| buffer.after.len() == buffer.before.len())
    }

    /// What it computed: the memory after the launch, buffer after buffer.
    pub fn output(&self) -> Vec<u8> {
        self.memory.iter().flat_map(|buffer| buffer.after.iter().copied()).collect()
    }

    /// The pieces of [`output`](Self::output), to be compared: each is named after the arguments that point into it, and looked
    /// at as what `element` says of those.
    pub fn regions(&self, element: impl Fn(&[usize]) -> Element) -> Vec<Region> {
        let mut start = 0;
        let mut regions = Vec::with_capacity(self.memory.len());
        for (number, buffer) in self.memory.iter().enumerate() {
            let arguments = self.description.arguments.iter().enumerate();
            let of = arguments.filter(|(_, argument)| argument.pointee.is_some_and(|(b, _)| b == number));
            let of: Vec<usize> = of.map(|(index, _)| index).collect();
            let name = of.iter().map(|index| format!("argument {index}")).collect::<Vec<_>>().join(", ");
            let name = if of.is_empty() { format!("buffer {number}") } else { name };
            let range = start..start + buffer.before.len() as u64;
            start = range.end;
            regions.push(Region { name, range, element: element(&of) });
        }
        regions
    }

    /// Tells which arguments of eight bytes point into the memory, where the backend has not.
    pub(super) fn find_pointees(&mut self) {
        let memory = &self.memory;
        for argument in self.description.arguments.iter_mut().filter(|argument| argument.pointee.is_none()) {
            let Ok(word) = argument.bytes.as_slice().try_into().map(u64::from_le_bytes) else { continue };
            let offset = |buffer: &Buffer| word.checked_sub(buffer.address);
            let is_in = |buffer: &Buffer| offset(buffer).is_some_and(|at| at < buffer.before.len() as u64);
            let buffer = memory.iter().position(is_in);
            argument.pointee = buffer.and_then(|index| Some((index, offset(&memory[index])?)));
        }
    }

    fn to_json(&self) -> Value {
        let Description { backend, device, kernel, grid, block, shared_memory, arguments } =
            &self.description;
        let argument =
            |argument: &Argument| json!([argument.bytes, argument.pointee.map(|(b, at)| json!([b, at]))]);
        let buffer = |buffer: &Buffer| json!([buffer.name, buffer.address]);
        json!({
            "backend": backend,
            "device": device,
            "kernel": kernel,
            "grid": grid,
            "block": block,
            "shared_memory": shared_memory,
            "arguments": arguments.iter().map(argument).collect::<Vec<_>>(),
            "occurrence": self.occurrence,
            "memory": self.memory.iter().map(buffer).collect::<Vec<_>>(),
            "globals": self.globals.iter().map(buffer).collect::<Vec<_>>(),
            "gaps": self.gaps,
        })
    }

    /// `None` if something is missing or of another type. Keys that a newer version added are left out.
    fn from_json(json: &Value) -> Option<Self> {
        let text = |value: &Value| Some(value.as_str()?.to_owned());
        let size = |value: &Value| usize::try_from(value.as_u64()?).ok();
        let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
        let argument = |value: &Value| {
            let pointee = match &value[1] {
                Value::Null => None,
                pointee => Some((size(&pointee[0])?, pointee[1].as_u64()?)),
            };
            Some(Argument { bytes: all(&value[0], byte)?, pointee })
        };
        let buffer = |value: &Value| {
            Some(Buffer { name: text(&value[0])?, address: value[1].as_u64()?, ..Buffer::default() })
        };
        let triple = |value: &Value| {
            let numbers = all(value, |number| u32::try_from(number.as_u64()?).ok())?;
            numbers.try_into().ok()
        };
        Some(Self {
            description: Description {
                backend: text(&json["backend"])?,
                device: text(&json["device"])?,
                kernel: text(&json["kernel"])?,
                grid: triple(&json["grid"])?,
                block: triple(&json["block"])?,
                shared_memory: json["shared_memory"].as_u64()?,
                arguments: all(&json["arguments"], argument)?,
            },
            occurrence: json["occurrence"].as_u64()?,
            memory: all(&json["memory"], buffer)?,
            globals: all(&json["globals"], buffer)?,
            image: Vec::new(),
            gaps: all(&json["gaps"], text)?,
        })
    }
}

fn all<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}
