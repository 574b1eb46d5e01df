//! What is embedded where, for people.

use std::io::{self, Write};

use indicatif::{BinaryBytes, HumanCount};
use zonecast_embed::{Export, Image, Source, SourceLocation};

use super::selection::Selection;
use super::{Listing, level, origin, plain};

pub(super) fn write(
    output: &mut dyn Write,
    listings: &[Listing],
    selection: &Selection<'_>,
) -> io::Result<()> {
    // What could not be read was said already.
    for listing in listings.iter().filter(|listing| listing.is_read) {
        writeln!(output, "{}", plain(listing.file.as_bytes()))?;
        for image in listing.executable.images() {
            executable(output, image, selection)?;
        }
        for note in &listing.notes {
            writeln!(output, "  note: {}", plain(note.as_bytes()))?;
        }
    }
    Ok(())
}

fn executable(output: &mut dyn Write, image: Image<'_>, selection: &Selection<'_>) -> io::Result<()> {
    writeln!(output, "  {}", headline(image))?;
    for export in image.exports() {
        let at = export.location().map_or_else(|| "no location".to_owned(), place);
        let origin = origin(export).map(|origin| format!(" ({origin})")).unwrap_or_default();
        writeln!(output, "    {}  {at}{origin}", plain(export.name()))?;
        stages(output, export, selection)?;
    }
    texts(output, "source text", &selection.sources(image))?;
    texts(output, "listing", &selection.listings(image).collect::<Vec<_>>())
}

fn texts(output: &mut dyn Write, what: &str, sources: &[Source<'_>]) -> io::Result<()> {
    if !sources.is_empty() {
        let bytes = sources.iter().map(|source| source.len() as u64).sum();
        let plural = if sources.len() == 1 { "" } else { "s" };
        writeln!(output, "    {} {what}{plural}, {}:", sources.len(), BinaryBytes(bytes))?;
    }
    for source in sources {
        let packed = if source.is_compressed() { " (compressed)" } else { "" };
        let length = HumanCount(source.len() as u64).to_string();
        writeln!(output, "    {length:>11}  {}{packed}", plain(source.path()))?;
    }
    Ok(())
}

/// `image 0: iree-cpu mlp_net_linked for x86_64, debug level 3, 81.1 KiB at offset 0x4d30`
fn headline(image: Image<'_>) -> String {
    let mut line = format!("image {}: {}", image.index(), image.format());
    if !image.name().is_empty() {
        line += &format!(" {}", plain(image.name()));
    }
    if let Some(target) = image.target() {
        line += &format!(" for {}", plain(target));
    }
    if let Some(level) = level(image) {
        line += &format!(", debug level {level}");
    }
    if let (Some(length), Some(offset)) = (image.len(), image.offset()) {
        line += &format!(", {} at offset {offset:#x}", BinaryBytes(length));
    }
    line
}

fn stages(output: &mut dyn Write, export: Export<'_>, selection: &Selection<'_>) -> io::Result<()> {
    for stage in selection.stages(export) {
        let at = stage.location.map_or_else(|| "no location".to_owned(), place);
        writeln!(output, "      {}  {at}", plain(stage.name))?;
    }
    Ok(())
}

fn place(at: SourceLocation<'_>) -> String {
    format!("{}:{}", plain(at.file), at.line)
}
