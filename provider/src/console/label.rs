//! Who a line is from: the thread, and the fiber it runs. Made when either changes.

use core::ffi::CStr;

use super::config::Format;
use super::escape::{Style, escape};
use super::pen::Put;

/// How wide the column of a text line is. A longer name pushes the rest of its lines to the right.
const WIDTH: usize = 14;

#[derive(Debug, Default)]
pub(super) struct Label {
    text: Vec<u8>,
    json: Vec<u8>,
}

impl Label {
    /// Renews the label. A thread without a name is known by its number.
    pub(super) fn set(&mut self, id: u64, name: Option<&[u8]>, fiber: Option<&CStr>) {
        self.text.clear();
        self.json.clear();
        self.set_text(id, name, fiber);
        self.set_json(id, name, fiber);
    }

    /// The label of a lane.
    pub(super) fn of_lane(number: u64, name: &str) -> Self {
        let mut label = Self::default();
        label.set_text(number, Some(name.as_bytes()), None);
        label.json.put(b",\"lane\":");
        label.json.number(number);
        label.json.put(b",\"lane_name\":\"");
        escape(&mut label.json, name.as_bytes(), Style::Json);
        label.json.put(b"\"");
        label
    }

    fn set_text(&mut self, id: u64, name: Option<&[u8]>, fiber: Option<&CStr>) {
        match name {
            Some(name) => escape(&mut self.text, name, Style::Text),
            None => self.text.number(id),
        }
        if let Some(fiber) = fiber {
            self.text.push(b'/');
            escape(&mut self.text, fiber.to_bytes(), Style::Text);
        }
        // As many spaces as characters are missing, not bytes.
        let width = String::from_utf8_lossy(&self.text).chars().count();
        self.text.spaces(WIDTH.saturating_sub(width));
    }

    fn set_json(&mut self, id: u64, name: Option<&[u8]>, fiber: Option<&CStr>) {
        self.json.put(b",\"thread\":");
        self.json.number(id);
        for (key, value) in [("thread_name", name), ("fiber", fiber.map(CStr::to_bytes))] {
            if let Some(value) = value {
                self.json.put(b",\"");
                self.json.put(key.as_bytes());
                self.json.put(b"\":\"");
                escape(&mut self.json, value, Style::Json);
                self.json.put(b"\"");
            }
        }
    }

    /// As a column of a text line, or as fields of a JSON object with a comma before each.
    #[inline]
    pub(super) fn of(&self, format: Format) -> &[u8] {
        match format {
            Format::Text => &self.text,
            Format::Json => &self.json,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_who() {
        let mut label = Label::default();
        label.set(7, None, None);
        assert_eq!(label.of(Format::Text), b"7             ");
        assert_eq!(label.of(Format::Json), b",\"thread\":7");
        label.set(7, Some("µ\"\n".as_bytes()), Some(c"decode"));
        assert_eq!(label.of(Format::Text), "µ\"\\n/decode   ".as_bytes());
        let json = ",\"thread\":7,\"thread_name\":\"µ\\\"\\n\",\"fiber\":\"decode\"";
        assert_eq!(label.of(Format::Json), json.as_bytes());
    }
}
