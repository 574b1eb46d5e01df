//! What is in a module: its kernels, where they come from, and the texts it carries.

use std::borrow::Cow;
use std::fmt;

use zonecast::embed::{Executable, Export, Format, Image, SourceLocation};

/// Tells what is in an executable; `Display` gives several lines.
#[derive(Debug)]
pub struct Listing<'a>(pub &'a Executable);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.images().next().is_none() {
            writeln!(f, "no executable that zonecast understands")?;
        }
        for image in self.0.images() {
            write_image(f, image)?;
        }
        for note in self.0.notes() {
            writeln!(f, "note: {note}")?;
        }
        if self.0.images().any(could_have_sources) {
            writeln!(
                f,
                "note: compile at debug level 3 to have source texts embedded, see examples/models/README.md"
            )?;
        }
        Ok(())
    }
}

/// Whether the compiler was not asked for sources, though it embeds them in this format.
fn could_have_sources(image: Image<'_>) -> bool {
    image.sources().is_empty() && image.format() != Format::IreeVmvx
}

fn write_image(f: &mut fmt::Formatter<'_>, image: Image<'_>) -> fmt::Result {
    let target = image.target().map(String::from_utf8_lossy);
    let for_target = target.map(|target| format!(" for {target}")).unwrap_or_default();
    let number = format!("image {}", image.index());
    let name = if image.name().is_empty() { number.into() } else { text(image.name()) };
    writeln!(f, "{name} ({}{for_target})", image.format())?;
    for export in image.exports() {
        write_export(f, export)?;
    }
    let sources = image.sources();
    if sources.is_empty() {
        return writeln!(f, "  no source texts");
    }
    let bytes: usize = sources.iter().map(|source| source.text().len()).sum();
    writeln!(f, "  {} source texts, {bytes} bytes:", sources.len())?;
    for source in sources.iter() {
        writeln!(f, "    {:>7}  {}", source.text().len(), text(source.path()))?;
    }
    Ok(())
}

fn write_export(f: &mut fmt::Formatter<'_>, export: Export<'_>) -> fmt::Result {
    let place = export.location().map(place).unwrap_or_else(|| "unknown place".into());
    writeln!(f, "  kernel {}: {} at {place}", export.ordinal(), text(export.name()))?;
    for stage in export.stages() {
        if let Some(location) = stage.location {
            writeln!(f, "    {:<12}  {}", text(stage.name), self::place(location))?;
        }
    }
    Ok(())
}

fn place(location: SourceLocation<'_>) -> String {
    format!("{}:{}", text(location.file), location.line)
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
