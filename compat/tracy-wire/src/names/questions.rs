//! Questions that wait to be sent, and how many are on their way.

use std::collections::VecDeque;

use crate::ask::Question;

/// How many questions may be on their way at once. A client reads them between two frames of its
/// own; with more than its socket holds, both sides would wait for each other.
const WINDOW: usize = 4096;

/// Questions in the order they will be sent: those that are quick to answer first.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    urgent: VecDeque<Question>,
    slow: VecDeque<Question>,
    on_their_way: usize,
}

impl Questions {
    pub(crate) fn ask(&mut self, question: Question) {
        let queue = if question.is_urgent() { &mut self.urgent } else { &mut self.slow };
        queue.push_back(question);
    }

    /// An answer came. Streams built by hand may answer what was never sent.
    pub(crate) fn answered(&mut self) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
    }

    /// The next question that may be sent now.
    pub(crate) fn next(&mut self) -> Option<Question> {
        if self.on_their_way >= WINDOW {
            return None;
        }
        let question = self.urgent.pop_front().or_else(|| self.slow.pop_front())?;
        self.on_their_way += 1;
        Some(question)
    }

    /// Whether everything was asked and answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.on_their_way == 0 && self.urgent.is_empty() && self.slow.is_empty()
    }
}
