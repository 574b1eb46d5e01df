//! Selections that read like the sentence a test wants to say.

use crate::view::{GpuZone, Located, Named, Zone};

/// Some of the things that a capture holds, to be narrowed and then taken.
///
/// It is an iterator as well, so everything that iterators do is there too.
pub struct Select<'a, T> {
    items: Box<dyn Iterator<Item = T> + 'a>,
    /// What was asked for, for the words of a failed test.
    asked: String,
}

impl<'a, T: 'a> Select<'a, T> {
    pub(crate) fn new(items: impl Iterator<Item = T> + 'a) -> Self {
        Self { items: Box::new(items), asked: String::new() }
    }

    fn narrow(self, asked: String, keep: impl FnMut(&T) -> bool + 'a) -> Self {
        let asked = if self.asked.is_empty() { asked } else { format!("{}, {asked}", self.asked) };
        Self { items: Box::new(self.items.filter(keep)), asked }
    }

    /// The one that is left.
    ///
    /// # Panics
    /// If there is none, or more than one. The message says what was asked for and how many there
    /// were, so that a test may leave it at that.
    #[track_caller]
    pub fn one(mut self) -> T {
        let first = self.items.next();
        let others = self.items.count();
        match (first, others) {
            (Some(only), 0) => only,
            (None, _) => panic!("nothing here is {}", self.asked),
            (Some(_), others) => panic!("{} here are {}, not one", others + 1, self.asked),
        }
    }
}

impl<'a, T: Named + 'a> Select<'a, T> {
    /// Those with this name; for messages, with this text.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let name = name.to_owned();
        self.narrow(format!("named {name:?}"), move |item| item.name() == name)
    }
}

impl<'a, T: Located<'a> + 'a> Select<'a, T> {
    /// Those that lie in this file.
    #[must_use]
    pub fn in_file(self, path: &str) -> Self {
        let path = path.to_owned();
        self.narrow(format!("in file {path:?}"), move |item| item.location().file() == path)
    }

    /// Those that lie in this function.
    #[must_use]
    pub fn in_function(self, function: &str) -> Self {
        let function = function.to_owned();
        self.narrow(format!("in function {function:?}"), move |item| item.location().function() == function)
    }
}

impl<'a> Select<'a, Zone<'a>> {
    /// Those on the thread or fiber of this name.
    #[must_use]
    pub fn on_thread(self, name: &str) -> Self {
        let name = name.to_owned();
        self.narrow(format!("on thread {name:?}"), move |zone| zone.thread().name() == name)
    }

    /// Those that are enclosed by no other.
    #[must_use]
    pub fn outermost(self) -> Self {
        self.narrow("outermost".to_owned(), |zone| zone.depth() == 0)
    }
}

impl<'a> Select<'a, GpuZone<'a>> {
    /// Those of the context of this name.
    #[must_use]
    pub fn in_context(self, name: &str) -> Self {
        let name = name.to_owned();
        self.narrow(format!("in context {name:?}"), move |zone| zone.context().name() == Some(&name))
    }
}

impl<T> Iterator for Select<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}
