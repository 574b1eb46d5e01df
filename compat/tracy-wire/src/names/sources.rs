//! Source files, each asked for once per path, at first sight.

use hashbrown::HashMap;
use std::sync::Arc;

use super::{Questions, TextId, Texts, Unasked};
use crate::ask::Question;

/// The source files of one connection.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Whether the client may be asked at all.
    pub(crate) enabled: bool,
    files: HashMap<TextId, Source>,
    /// Paths in the order asked, which is also the number of the question.
    asked: Vec<TextId>,
}

#[derive(Debug)]
enum Source {
    Asked,
    Unavailable,
    Text(Arc<[u8]>),
}

impl Sources {
    pub(crate) fn notice(&mut self, path: TextId, texts: &Texts, questions: &mut Questions) {
        if !self.enabled || self.files.contains_key(&path) {
            return;
        }
        let id = self.asked.len() as u32;
        self.files.insert(path, Source::Asked);
        self.asked.push(path);
        for question in Question::source_code(texts.bytes(path), id) {
            questions.ask(question);
        }
    }

    pub(crate) fn answer(&mut self, id: u64, text: Option<&[u8]>) -> Result<(), Unasked> {
        let path = usize::try_from(id).ok().and_then(|id| self.asked.get(id)).ok_or(Unasked)?;
        match self.files.get_mut(path) {
            Some(source @ Source::Asked) => {
                *source = text.map_or(Source::Unavailable, |text| Source::Text(text.into()));
                Ok(())
            }
            _ => Err(Unasked),
        }
    }

    pub(crate) fn get(&self, path: TextId) -> Option<&[u8]> {
        match self.files.get(&path)? {
            Source::Text(text) => Some(text),
            Source::Asked | Source::Unavailable => None,
        }
    }

    /// Every path that was asked for, in that order, and its text if the client had it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (TextId, Option<&[u8]>)> {
        self.asked.iter().map(|path| (*path, self.get(*path)))
    }
}
