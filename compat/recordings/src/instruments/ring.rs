//! The ring that a module's workgroups write to, read in the order of writing.

use super::record::{Event, Record, Rules, STEP, Workgroup};
use super::runs::Runs;
use crate::{Error, bytes};

/// Behind the ring: room for a record that begins just before its end, and the write head.
pub(super) const PADDING: u64 = 4096;
/// Of those, the last bytes: how much was ever written.
pub(super) const HEAD: u64 = 8;
/// How many sites a module can have whose tables are missing.
const UNNAMED_SITES: u32 = 1 << 16;
/// How far ahead is looked for a record that tells whether the first bytes are a stale half.
const LOOK_AHEAD: usize = 256;

/// A ring, as it was when it was saved.
///
/// Its size is a power of two. Writers reserve room by adding to the head, which never wraps, so that once more
/// than the size was written, the oldest records are gone.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    /// The ring and its padding, without the head.
    bytes: &'a [u8],
    rules: Rules,
    head: u64,
    offset: u64,
    is_sound: bool,
}

impl<'a> Ring<'a> {
    /// `content` is that of a chunk, which begins at `offset` of the file.
    pub(super) fn read(content: &'a [u8], sites: Option<u32>, offset: u64) -> Result<Self, Error> {
        let size = (content.len() as u64).checked_sub(PADDING).filter(|size| size.is_power_of_two());
        let size = size.filter(|&size| size >= STEP);
        let size =
            size.ok_or(Error::damaged(offset, "a ring of a power of two of bytes, with 4,096 behind it"))?;
        let (bytes, head) = content.split_at(content.len() - HEAD as usize);
        let head = bytes::u64(head, 0);
        // A ring is not cleared when it is made, and a device need not have done so.
        let is_sound = head.is_multiple_of(STEP) && head < 1 << 56;
        let rules = Rules { size, sites: sites.unwrap_or(UNNAMED_SITES) };
        Ok(Self { bytes, rules, head, offset, is_sound })
    }

    /// The bytes that it holds.
    pub fn size(&self) -> u64 {
        self.rules.size
    }

    /// How many bytes were ever written to it.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Where in the file its first byte is.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the head can be true. If not, records come in the order of their place, whenever they were
    /// written.
    pub fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// How many bytes of older records were overwritten.
    pub fn lost(&self) -> u64 {
        if self.is_sound { self.head.saturating_sub(self.size()) } else { 0 }
    }

    /// The records, oldest first.
    pub fn records(&self) -> Records<'a> {
        let (at, end) = if self.is_sound { (self.lost(), self.head) } else { (0, self.size()) };
        let torn = u64::from(at > 0 && self.begins_with_a_half(at)) * STEP;
        Records { ring: *self, at, torn, end }
    }

    /// The workgroup that a record at `at` belongs to, by its key; nothing if that was overwritten since.
    #[inline]
    pub fn workgroup(&self, key: u64, at: u64) -> Option<Workgroup> {
        // What stands there now was written last: before the record, or it is another's.
        if self.is_sound && self.last_written(key) >= at {
            return None;
        }
        self.rules.workgroup(self.bytes, usize::try_from(key).ok()?)
    }

    /// How many bytes had been written before those that now stand at `place`.
    #[inline]
    pub(super) fn last_written(&self, place: u64) -> u64 {
        let size = self.size();
        let round = self.head.saturating_sub(place + 1) & !(size - 1);
        round + place
    }

    #[inline]
    fn record(&self, at: u64) -> Option<(Event<'a>, u64)> {
        self.rules.record(self.bytes, (at & (self.size() - 1)) as usize)
    }

    /// Whether the oldest bytes are the second half of a workgroup's record whose first half was overwritten.
    /// Such a half may look like a record; then the grid in it is that of a workgroup soon after.
    fn begins_with_a_half(&self, at: u64) -> bool {
        if self.record(at).is_none() {
            return true;
        }
        let grid = Rules::second_half(self.bytes, (at & (self.size() - 1)) as usize);
        let later = Records { ring: *self, at: at + STEP, torn: 0, end: self.head };
        let mut workgroups = later.take(LOOK_AHEAD).filter_map(|record| match record.event {
            Event::Workgroup(workgroup) => Some(workgroup.count),
            _ => None,
        });
        workgroups.any(|count| count == grid)
    }
}

/// A ring's records. What is between them and is none comes as [`Event::Torn`].
#[derive(Clone, Debug)]
pub struct Records<'a> {
    ring: Ring<'a>,
    at: u64,
    /// So many bytes from `at` are none.
    torn: u64,
    end: u64,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        if self.torn == 0 && self.at < self.end {
            let at = self.at;
            if let Some((event, length)) = self.ring.record(at) {
                self.at += length;
                return Some(Record { at, event });
            }
        }
        self.next_torn()
    }
}

impl Records<'_> {
    /// Leaves out records with which `runs` go on.
    #[inline]
    pub(super) fn skip_runs(&mut self, runs: &mut Runs) {
        if self.torn == 0 && self.at < self.end {
            let place = self.at & (self.ring.size() - 1);
            let length = (self.end - self.at).min(self.ring.size() - place);
            self.at += runs.skip(&self.ring.bytes[place as usize..(place + length) as usize]);
        }
    }
}

impl<'a> Records<'a> {
    #[cold]
    fn next_torn(&mut self) -> Option<Record<'a>> {
        let at = self.at;
        self.at += std::mem::take(&mut self.torn);
        while self.at < self.end && self.ring.record(self.at).is_none() {
            self.at += STEP;
        }
        let length = self.at - at;
        (length > 0).then_some(Record { at, event: Event::Torn { length } })
    }
}
