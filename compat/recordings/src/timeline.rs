//! What a recording says of time, whatever recorded it: zones on rows, memory, messages, and source texts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Zones at their own times, for any viewer.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Rows of zones. On each, zones follow or contain one another.
    pub rows: Vec<Row>,
    /// What was taken from pools of memory and given back, in order. Each address is taken once before it is
    /// given back.
    pub memory: Vec<Memory>,
    /// Things that happened at a moment, in order.
    pub messages: Vec<Message>,
    /// The texts of files that zones name.
    pub sources: BTreeMap<String, Vec<u8>>,
}

/// A row of zones.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Its zones: by their beginning, and each before those within it.
    pub zones: Vec<Zone>,
}

/// Something that took time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// What.
    pub name: String,
    /// Where in the source, if that is known.
    pub place: Option<Place>,
    /// When it began, in nanoseconds of the host's clock.
    pub begin: i64,
    /// When it ended; not before it began.
    pub end: i64,
    /// How many zones it lies within.
    pub depth: u32,
    /// What else there is to say, a fact per line.
    pub text: String,
}

/// Where in the source something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's path, or its name.
    pub file: String,
    /// The line, counted from 1; 0 if it is not known.
    pub line: u32,
}

/// Memory that was taken or given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// When.
    pub time: i64,
    /// The pool.
    pub pool: String,
    /// What stands for its address.
    pub address: u64,
    /// How much was taken; nothing if it was given back.
    pub taken: Option<u64>,
}

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When.
    pub time: i64,
    /// What.
    pub text: String,
}

impl Timeline {
    /// The first moment that anything is said of.
    pub fn begin(&self) -> i64 {
        let zones = self.rows.iter().filter_map(|row| Some(row.zones.first()?.begin));
        let memory = self.memory.first().map(|event| event.time);
        let messages = self.messages.first().map(|message| message.time);
        zones.chain(memory).chain(messages).min().unwrap_or(0)
    }

    /// Adds zones in any order, on a row of this name: on as many as it takes for them to follow or contain one
    /// another.
    pub fn add(&mut self, name: &str, mut zones: Vec<Zone>) {
        zones.sort_by_key(|zone| (zone.begin, Reverse(zone.end)));
        let mut rows: Vec<(Row, Vec<i64>)> = Vec::new();
        for mut zone in zones {
            let fitting = rows.iter_mut().position(|(_, open)| {
                // What ended before this began is closed; of no length is closed at once.
                while open.last().is_some_and(|&end| end <= zone.begin && zone.end > end || end < zone.begin)
                {
                    open.pop();
                }
                open.last().is_none_or(|&end| zone.end <= end)
            });
            let row = fitting.unwrap_or(rows.len());
            if row == rows.len() {
                let name = if row == 0 { name.to_owned() } else { format!("{name} ({})", row + 1) };
                rows.push((Row { name, zones: Vec::new() }, Vec::new()));
            }
            let (row, open) = &mut rows[row];
            zone.depth = open.len() as u32;
            open.push(zone.end);
            row.zones.push(zone);
        }
        self.rows.extend(rows.into_iter().map(|(row, _)| row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(spans: &[(i64, i64)]) -> Vec<Vec<(i64, i64, u32)>> {
        let zone = |&(begin, end): &(i64, i64)| Zone { begin, end, ..Zone::default() };
        let mut timeline = Timeline::default();
        timeline.add("row", spans.iter().map(zone).collect());
        let zones = |row: &Row| row.zones.iter().map(|zone| (zone.begin, zone.end, zone.depth)).collect();
        timeline.rows.iter().map(zones).collect()
    }

    #[test]
    fn zones_nest_or_go_to_a_further_row() {
        assert_eq!(shape(&[(5, 6), (1, 9), (6, 8)]), [[(1, 9, 0), (5, 6, 1), (6, 8, 1)]]);
        assert_eq!(shape(&[(1, 5), (3, 7), (5, 6)]), [vec![(1, 5, 0), (5, 6, 0)], vec![(3, 7, 0)]]);
        assert_eq!(
            shape(&[(1, 4), (4, 4)]),
            [[(1, 4, 0), (4, 4, 1)]],
            "of no length, within what ends there"
        );
        assert!(shape(&[]).is_empty());
    }
}
