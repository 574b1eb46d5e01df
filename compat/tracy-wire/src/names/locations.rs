//! Source locations: those at pointers, and those that came with their texts.

use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;

use super::{Questions, TextRef, Unasked};
use crate::ask::Question;

/// Index of a location in a capture.
pub(crate) type LocationId = u32;

/// A source location, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct LocationData {
    pub(crate) name: TextRef,
    pub(crate) function: TextRef,
    pub(crate) file: TextRef,
    pub(crate) line: u32,
    pub(crate) color: u32,
}

/// The locations of one connection.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    all: Vec<LocationData>,
    pointers: HashMap<u64, LocationId>,
    contents: HashMap<LocationData, LocationId>,
    /// Answers carry no pointer: they come in the order asked.
    asked: VecDeque<LocationId>,
    /// The pointer seen last, and its location: zones come in runs.
    last: Option<(u64, LocationId)>,
    files: HashSet<u64>,
}

impl Locations {
    #[inline]
    pub(crate) fn at_pointer(&mut self, pointer: u64, questions: &mut Questions) -> LocationId {
        match self.last {
            Some((last, id)) if last == pointer => id,
            _ => self.look_up(pointer, questions),
        }
    }

    fn look_up(&mut self, pointer: u64, questions: &mut Questions) -> LocationId {
        let next = self.all.len() as LocationId;
        let id = *self.pointers.entry(pointer).or_insert(next);
        if id == next {
            self.all.push(LocationData::default());
            self.asked.push_back(id);
            questions.ask(Question::SourceLocation(pointer));
        }
        self.last = Some((pointer, id));
        id
    }

    pub(crate) fn with_content(&mut self, content: LocationData) -> LocationId {
        let next = self.all.len() as LocationId;
        let id = *self.contents.entry(content).or_insert(next);
        if id == next {
            self.all.push(content);
        }
        id
    }

    pub(crate) fn answer(&mut self, content: LocationData) -> Result<(), Unasked> {
        let id = self.asked.pop_front().ok_or(Unasked)?;
        self.all[id as usize] = content;
        if let TextRef::Pointer(file) = content.file {
            self.files.insert(file);
        }
        Ok(())
    }

    /// Whether the string at `pointer` is some location's file.
    pub(crate) fn is_file(&self, pointer: u64) -> bool {
        self.files.contains(&pointer)
    }

    pub(crate) fn get(&self, id: LocationId) -> &LocationData {
        &self.all[id as usize]
    }

    pub(crate) fn open(&self) -> usize {
        self.asked.len()
    }
}
