//! What a compiler left out of an executable, and how to have it put in.

use zonecast_embed::{Export, Format, Image};

/// How to have IREE embed sources.
pub(crate) const HOW_TO_EMBED: &str = "compile at --iree-hal-executable-debug-level=3; the command iree-compile \
     ignores that flag up to IREE 3.13, so give it through the compiler's Python or C interface";

/// How to have it say where in its texts the exports stand.
pub(crate) const HOW_TO_PLACE: &str =
    "compile without --iree-llvmcpu-debug-symbols=false, which leaves out locations and stages";

/// The debug level that IREE's compiler worked at, as far as it shows.
pub(crate) fn level(image: Image<'_>) -> Option<&'static str> {
    if !has_levels(image.format()) {
        return None;
    }
    let has_location = image.exports().any(|export| export.location().is_some());
    Some(match (lacks_texts(image), has_location) {
        (false, _) => "3",
        (true, true) => "1 or 2",
        (true, false) => "0",
    })
}

/// Whether it carries no source text, though its format can.
pub(crate) fn lacks_texts(image: Image<'_>) -> bool {
    image.format() != Format::IreeVmvx && image.sources().is_empty()
}

fn has_levels(format: Format) -> bool {
    format.as_str().starts_with("iree-") && format != Format::IreeVmvx
}

/// How many exports of an image with texts do not say where in them they stand.
pub(crate) fn unplaced(image: Image<'_>) -> usize {
    let is_placed = |export: Export<'_>| {
        export.location().is_some() || export.stages().any(|stage| stage.location.is_some())
    };
    let is_lost = has_levels(image.format()) && !lacks_texts(image);
    if is_lost { image.exports().filter(|export| !is_placed(*export)).count() } else { 0 }
}

/// A sentence on what is missing of an image.
pub(super) fn missing(image: Image<'_>) -> Option<String> {
    let index = image.index();
    let level = level(image)?;
    if lacks_texts(image) {
        return Some(format!("image {index} has no source text (debug level {level}): {HOW_TO_EMBED}"));
    }
    let lost = unplaced(image);
    (lost > 0).then(|| {
        let of = image.exports().len();
        format!(
            "image {index} has texts, but of {lost} of its {of} exports not the place in them: {HOW_TO_PLACE}"
        )
    })
}
