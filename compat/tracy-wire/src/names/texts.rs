//! Texts, each kept once.

use hashbrown::HashMap;
use std::sync::Arc;

/// A text that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(u32);

/// A text that is known, or will be once its pointer is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum TextRef {
    #[default]
    None,
    Pointer(u64),
    Text(TextId),
}

impl TextRef {
    pub(crate) fn pointer(pointer: u64) -> Self {
        if pointer == 0 { Self::None } else { Self::Pointer(pointer) }
    }
}

#[derive(Debug)]
struct Text {
    bytes: Arc<[u8]>,
    /// With � for what is not UTF-8, where that is needed.
    readable: Option<Box<str>>,
}

/// The texts of one connection.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<Text>,
    ids: HashMap<Arc<[u8]>, TextId>,
}

impl Texts {
    pub(crate) fn intern(&mut self, text: &[u8]) -> TextId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = TextId(u32::try_from(self.texts.len()).expect("a stream of 4 billion texts would not fit"));
        let bytes: Arc<[u8]> = text.into();
        let readable = std::str::from_utf8(text).is_err().then(|| String::from_utf8_lossy(text).into());
        self.texts.push(Text { bytes: Arc::clone(&bytes), readable });
        self.ids.insert(bytes, id);
        id
    }

    /// The text, with � for what is not UTF-8.
    pub(crate) fn get(&self, id: TextId) -> &str {
        let text = &self.texts[id.0 as usize];
        match &text.readable {
            Some(readable) => readable,
            None => std::str::from_utf8(&text.bytes).unwrap_or(super::UNKNOWN),
        }
    }

    pub(crate) fn bytes(&self, id: TextId) -> &[u8] {
        &self.texts[id.0 as usize].bytes
    }

    pub(crate) fn find_bytes(&self, text: &[u8]) -> Option<TextId> {
        self.ids.get(text).copied()
    }
}
