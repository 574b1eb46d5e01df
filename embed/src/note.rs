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
            Self::NeverSources { image, format } => {
                write!(
                    f,
                    "image {image} is of format {format}, whose compiler embeds no sources at any debug level"
                )
            }
        }
    }
}
