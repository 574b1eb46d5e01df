//! Questions that a server asks a client: 13 bytes each.

/// One question. Every question but the two that end a connection gets exactly one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Ends the connection; the client may exit.
    Terminate,
    /// The string at a pointer.
    String(u64),
    /// A thread's name.
    ThreadName(u64),
    /// The source location at a pointer.
    SourceLocation(u64),
    /// The plot name at a pointer.
    PlotName(u64),
    /// The frame set name at a pointer.
    FrameName(u64),
    /// Sets a parameter of the program.
    Parameter {
        /// Which.
        index: u32,
        /// To what.
        value: i32,
    },
    /// The fiber name at a pointer.
    FiberName(u64),
    /// The process and name of a thread outside the program.
    ExternalName(u64),
    /// Ends the recording; the client answers what is open, says it is done, and waits for
    /// [`Terminate`](Self::Terminate).
    Disconnect,
    /// What function and line a code address belongs to.
    CallstackFrame(u64),
    /// Where a function is defined.
    Symbol(u64),
    /// A function's machine code.
    SymbolCode {
        /// Where it begins.
        symbol: u64,
        /// How long it is.
        size: u32,
    },
    /// The text of the file whose path was transferred.
    SourceCode {
        /// Comes back with the answer.
        id: u32,
    },
    /// A text of so many bytes follows in parts.
    DataTransfer(u64),
    /// Twelve bytes of it.
    DataTransferPart(u64, u32),
}

impl Question {
    /// Bytes of a question on the wire.
    pub const SIZE: usize = 13;

    /// The question as a client reads it.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let (kind, pointer, extra) = self.fields();
        let mut bytes = [0; Self::SIZE];
        bytes[0] = kind;
        bytes[1..9].copy_from_slice(&pointer.to_le_bytes());
        bytes[9..].copy_from_slice(&extra.to_le_bytes());
        bytes
    }

    /// Reads a question as a client does; `None` for a kind that does not exist.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Option<Self> {
        let [kind, pointer @ .., e0, e1, e2, e3] = bytes;
        let pointer = u64::from_le_bytes(pointer);
        let extra = u32::from_le_bytes([e0, e1, e2, e3]);
        Some(match kind {
            0 => Self::Terminate,
            1 => Self::String(pointer),
            2 => Self::ThreadName(pointer),
            3 => Self::SourceLocation(pointer),
            4 => Self::PlotName(pointer),
            5 => Self::FrameName(pointer),
            6 => Self::Parameter { index: (pointer >> 32) as u32, value: pointer as i32 },
            7 => Self::FiberName(pointer),
            8 => Self::ExternalName(pointer),
            9 => Self::Disconnect,
            10 => Self::CallstackFrame(pointer),
            11 => Self::Symbol(pointer),
            12 => Self::SymbolCode { symbol: pointer, size: extra },
            13 => Self::SourceCode { id: pointer as u32 },
            14 => Self::DataTransfer(pointer),
            15 => Self::DataTransferPart(pointer, extra),
            _ => return None,
        })
    }

    fn fields(self) -> (u8, u64, u32) {
        match self {
            Self::Terminate => (0, 0, 0),
            Self::String(pointer) => (1, pointer, 0),
            Self::ThreadName(thread) => (2, thread, 0),
            Self::SourceLocation(pointer) => (3, pointer, 0),
            Self::PlotName(pointer) => (4, pointer, 0),
            Self::FrameName(pointer) => (5, pointer, 0),
            Self::Parameter { index, value } => (6, u64::from(index) << 32 | u64::from(value as u32), 0),
            Self::FiberName(pointer) => (7, pointer, 0),
            Self::ExternalName(thread) => (8, thread, 0),
            Self::Disconnect => (9, 0, 0),
            Self::CallstackFrame(address) => (10, address, 0),
            Self::Symbol(address) => (11, address, 0),
            Self::SymbolCode { symbol, size } => (12, symbol, size),
            Self::SourceCode { id } => (13, u64::from(id), 0),
            Self::DataTransfer(length) => (14, length, 0),
            Self::DataTransferPart(low, high) => (15, low, high),
        }
    }

    /// Whether a server lets the question overtake those that may take the client long.
    pub(crate) fn is_urgent(self) -> bool {
        self.fields().0 < 9
    }

    /// The questions that ask for the text of the file at `path`.
    pub(crate) fn source_code(path: &[u8], id: u32) -> impl Iterator<Item = Self> {
        let with_nul: Vec<u8> = path.iter().copied().chain([0]).collect();
        let length = with_nul.len() as u64;
        let parts = with_nul.chunks(12).map(part).collect::<Vec<_>>();
        std::iter::once(Self::DataTransfer(length)).chain(parts).chain([Self::SourceCode { id }])
    }
}

fn part(chunk: &[u8]) -> Question {
    let mut bytes = [0; 12];
    bytes[..chunk.len()].copy_from_slice(chunk);
    let [low @ .., h0, h1, h2, h3] = bytes;
    Question::DataTransferPart(u64::from_le_bytes(low), u32::from_le_bytes([h0, h1, h2, h3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_survive_the_wire() {
        for question in [
            Question::Terminate,
            Question::String(0x7fff_1234),
            Question::Parameter { index: 3, value: -5 },
            Question::SymbolCode { symbol: 9, size: 77 },
            Question::SourceCode { id: 1 },
            Question::DataTransferPart(u64::MAX, 5),
            Question::Disconnect,
        ] {
            assert_eq!(Question::from_bytes(question.to_bytes()), Some(question));
        }
        assert_eq!(Question::from_bytes([16; 13]), None);
    }

    #[test]
    fn a_path_travels_in_parts_of_twelve() {
        let asked: Vec<Question> = Question::source_code(b"kernels/a.cl", 4).collect();
        assert_eq!(asked.len(), 4, "a length, two parts for 13 bytes, the question");
        assert_eq!(asked[0], Question::DataTransfer(13));
        assert_eq!(
            asked[1],
            Question::DataTransferPart(u64::from_le_bytes(*b"kernels/"), u32::from_le_bytes(*b"a.cl"))
        );
        assert_eq!(asked[2], Question::DataTransferPart(0, 0));
        assert_eq!(asked[3], Question::SourceCode { id: 4 });
    }
}
