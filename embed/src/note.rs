//! What is worth telling about an executable that could be read.

use std::fmt;

use crate::{Error, Format};

/// One thing worth saying about an [`Executable`](crate::Executable); `Display` says it in a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum Note<'a> {
    /// Part of a container looks like an executable, but could not be read. The others could.
    Unreadable(&'a Error),
    /// Image number `image` has a source table that is not in ascending order of path. It is read all
    /// the same, more slowly.
    Unsorted {
        /// The image's index.
        image: usize,
    },
    /// Some record of image number `image` is damaged, and reads as if it were empty. Only in zonecast tables, which are
    /// not read through at opening.
    Damaged {
        /// The image's index.
        image: usize,
        /// What is wrong with the first such record.
        error: Error,
    },
    /// Image number `image` is of a format that never carries sources.
    NeverSources {
        /// The image's index.
        image: usize,
        /// Its format.
        format: Format,
    },
    /// Something that image number `image` lacks, or has in an unusual way.
    Remark {
        /// The image's index.
        image: usize,
        /// What.
        remark: &'a Remark,
    },
}

/// What may be worth telling about an image of a compiler that embeds sources in a common form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// It has no debug information, so that nothing in it has a line.
    NoLines,
    /// Its exports have lines, but it has no text.
    NoTexts,
    /// Its debug information was put into another file, which is not to be found.
    MissingFile {
        /// That file's name.
        name: Vec<u8>,
    },
    /// The compiler was given preprocessed input, and embedded that instead of the source.
    Preprocessed {
        /// The path under which it is found.
        path: Vec<u8>,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLines => {
                write!(f, "has no debug information; compile with -g, or for CUDA with -lineinfo")
            }
            Self::NoTexts => write!(
                f,
                "has lines but no text, so that the text is taken from disk where it is there; \
                 clang embeds it with -gdwarf-5 -gembed-source"
            ),
            Self::MissingFile { name } => write!(
                f,
                "has its debug information in {}, which is not beside it",
                String::from_utf8_lossy(name)
            ),
            Self::Preprocessed { path } => write!(
                f,
                "was compiled from preprocessed input, which is embedded as {} instead of the source; \
                 a compiler cache may do this, and can be told to compile the source",
                String::from_utf8_lossy(path)
            ),
        }
    }
}

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "left out a part that could not be read: {error}"),
            Self::Unsorted { image } => write!(
                f,
                "the source table of image {image} is not sorted by path, so look-ups go through all of it; \
                 the compiler that wrote it should sort it"
            ),
            Self::Damaged { error, .. } => write!(f, "left out a damaged record: {error}"),
            Self::Remark { image, remark } => write!(f, "image {image} {remark}"),
            Self::NeverSources { image, format } => {
                write!(
                    f,
                    "image {image} is of format {format}, whose compiler embeds no sources at any debug level"
                )
            }
        }
    }
}
