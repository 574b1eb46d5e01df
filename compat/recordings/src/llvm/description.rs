//! The JSON file of a recording.

use std::path::Path;

use serde_json::{Map, Value};

use crate::Error;

/// More than a launch on any device takes.
const MOST_ARGUMENTS: usize = 1 << 16;
/// Longer than what any compiler makes of a C++ name.
const LONGEST_NAME: usize = 1 << 20;

/// The keys that are understood, of any generation.
const KEYS: [&str; 17] = [
    "Name",
    "NumArgs",
    "NumTeamsClause",
    "ThreadLimitClause",
    "NumTeams",
    "NumThreads",
    "SharedMemorySize",
    "LoopTripCount",
    "DeviceId",
    "DeviceMemorySize",
    "BumpAllocVAStart",
    "VAllocAddr",
    "VAllocSize",
    "TeamsLimits",
    "ThreadsLimits",
    "ArgPtrs",
    "ArgOffsets",
];

/// What a recording says of its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// The kernel's symbol in the image.
    pub kernel: String,
    /// How many teams (blocks) ran, along x; the other dimensions are not recorded.
    pub teams: u64,
    /// How many threads each had, along x; 0 if the kernel chose.
    pub threads: u64,
    /// Bytes of dynamic shared memory; `None` in generations that do not record it.
    pub shared_memory: Option<u64>,
    /// The trip count of the kernel's loop; 0 if it has none.
    pub trip_count: u64,
    /// The device. The second generation writes the one that was initialised last.
    pub device: i64,
    /// Where the recorded memory begins on the device; `None` in the first generation.
    pub base: Option<u64>,
    /// How many bytes were reserved there; `None` before the third generation.
    pub reserved: Option<u64>,
    /// How many bytes of memory were written; `None` in the third generation, which writes as many as the file has.
    pub memory_size: Option<u64>,
    /// How many teams the kernel admits; `None` if not recorded.
    pub teams_limits: Option<Limits>,
    /// How many threads the kernel admits in a team; `None` if not recorded.
    pub threads_limits: Option<Limits>,
    /// The 8-byte words that were passed. In the second generation they are **addresses of the host's own
    /// variables**, which are of no use any more.
    pub arguments: Vec<u64>,
    /// Keys that are not understood.
    pub unknown_keys: Vec<String>,
    pub(super) renamed: bool,
}

/// The least and the most of something that a kernel admits; both are 0 if anything goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Limits {
    /// Whether the kernel admits that many.
    pub fn admit(self, count: u64) -> bool {
        self.most == 0 || (self.least..=self.most).contains(&count)
    }
}

impl Description {
    /// Reads a description. `file` is what errors name.
    ///
    /// # Errors
    ///
    /// If it is no JSON object with a launch's keys, or they contradict each other.
    pub fn parse(json: &[u8], file: &Path) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(json).map_err(|error| {
            Error::unknown(format!("description of a kernel launch: {error}")).in_file(file)
        })?;
        let keys = match value {
            Value::Object(keys) if keys.contains_key("Name") && keys.contains_key("ArgPtrs") => keys,
            _ => {
                let what = "description of a kernel launch: there are no `Name` and `ArgPtrs` in it";
                return Err(Error::unknown(what).in_file(file));
            }
        };
        Keys { keys: &keys, file }.description()
    }
}

/// The object, and the file that errors name.
struct Keys<'a> {
    keys: &'a Map<String, Value>,
    file: &'a Path,
}

impl Keys<'_> {
    fn description(&self) -> Result<Description, Error> {
        let renamed = self.keys.contains_key("NumTeams");
        let (teams, threads) = match renamed {
            true => ("NumTeams", "NumThreads"),
            false => ("NumTeamsClause", "ThreadLimitClause"),
        };
        let base = self.optional("VAllocAddr")?.or(self.optional("BumpAllocVAStart")?);
        Ok(Description {
            kernel: self.kernel()?,
            teams: self.number(teams)?,
            threads: self.number(threads)?,
            shared_memory: self.optional("SharedMemorySize")?,
            trip_count: self.number("LoopTripCount")?,
            device: self.number("DeviceId")?.cast_signed(),
            base,
            reserved: self.optional("VAllocSize")?,
            memory_size: self.optional("DeviceMemorySize")?,
            teams_limits: self.limits("TeamsLimits")?,
            threads_limits: self.limits("ThreadsLimits")?,
            arguments: self.arguments()?,
            unknown_keys: self.keys.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect(),
            renamed,
        })
    }

    fn damaged(&self, key: &str, expected: &str) -> Error {
        Error::contradiction(format!("{expected} as `{key}`")).in_file(self.file)
    }

    fn kernel(&self) -> Result<String, Error> {
        let name = self.keys["Name"].as_str().ok_or_else(|| self.damaged("Name", "a text"))?;
        // A symbol, which goes to a loader and into file names.
        let hostile = |c: char| c.is_control() || c == '/' || c == '\\';
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains(hostile) {
            let expected = "a symbol of at most 1 MiB, without slashes and control characters,";
            return Err(self.damaged("Name", expected));
        }
        Ok(name.to_owned())
    }

    fn number(&self, key: &str) -> Result<u64, Error> {
        self.optional(key)?.ok_or_else(|| self.damaged(key, "a number"))
    }

    fn optional(&self, key: &str) -> Result<Option<u64>, Error> {
        let number = |value| integer(value).ok_or_else(|| self.damaged(key, "an integer of 64 bits"));
        self.keys.get(key).map(number).transpose()
    }

    fn array(&self, key: &str) -> Result<Option<Vec<u64>>, Error> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        let wrong = || self.damaged(key, "an array of integers of 64 bits");
        let items = value.as_array().ok_or_else(wrong)?;
        items.iter().map(|item| integer(item).ok_or_else(wrong)).collect::<Result<_, _>>().map(Some)
    }

    fn limits(&self, key: &str) -> Result<Option<Limits>, Error> {
        match self.array(key)?.as_deref() {
            None => Ok(None),
            Some(&[least, most]) if least <= most && (least == 0) == (most == 0) => {
                Ok(Some(Limits { least, most }))
            }
            Some(_) => Err(self.damaged(key, "the least and the most, or twice 0,")),
        }
    }

    fn arguments(&self) -> Result<Vec<u64>, Error> {
        let arguments = self.array("ArgPtrs")?.unwrap_or_default();
        if arguments.len() > MOST_ARGUMENTS || arguments.len() as u64 != self.number("NumArgs")? {
            return Err(self.damaged("ArgPtrs", "`NumArgs` words"));
        }
        match self.array("ArgOffsets")? {
            Some(offsets)
                if offsets.len() == arguments.len() && offsets.iter().all(|&offset| offset == 0) =>
            {
                Ok(arguments)
            }
            _ => Err(self.damaged("ArgOffsets", "as many zeros as there are arguments")),
        }
    }
}

/// Addresses from 2^63 up are written as negative numbers.
fn integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_i64().map(i64::cast_unsigned))
}
