//! DWARF: where functions are declared, and, if the compiler was asked for it, the text of every file.
//!
//! DWARF 5 line tables may have a column with each file's text (`DW_LNCT_LLVM_source`: clang's `-gembed-source`,
//! rustc's `-Z embed-source`; accepted for DWARF 6). The same goes for host code, for AMD GPUs and for
//! WebAssembly; cubins have lines, and never text.
//!
//! Exports are the functions that a loader would find. Each one's location is the declaration of its subprogram;
//! without one, it is the line of its first instruction, which may be that of another function that was inlined
//! there.

mod amdgpu;
mod binary;
mod companion;
mod cubin;
mod lines;
mod preprocessed;
mod relocate;
mod sections;
mod subprograms;
mod symbols;
mod texts;
mod units;
mod wasm;
mod work;

use std::path::{Path, PathBuf};

use self::binary::Binary;
use self::companion::{Outcome, Search};
use self::sections::{Kept, Sections};
use self::subprograms::{Exports, Files};
use self::symbols::Symbol;
use self::texts::Texts;
use self::units::Units;
use self::work::Work;
use super::Result;
use super::index::{Build, Index, IndexBuilder};
#[cfg(feature = "cubin")]
use super::ptx;
use crate::Remark;
use crate::image::Format;

#[cfg(feature = "offload")]
pub(crate) use self::lines::join;
pub(crate) use self::wasm::is as is_wasm;

/// The reader of bytes' debug information; what offsets and texts it gives are in the bytes.
type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;

/// The stage of what the preprocessor made of a file.
const PREPROCESSED: &[u8] = b"preprocessed";

/// A path and a line.
type Location = (Vec<u8>, u32);

/// What is known of a file with DWARF before it is looked through.
pub(crate) struct Debug {
    format: Format,
    target: Option<Vec<u8>>,
    /// The file itself, beside which its other files are looked for.
    path: Option<PathBuf>,
}

impl Debug {
    /// Whether the file has debug information, or names the file that has it.
    pub(crate) fn is_there(file: &[u8]) -> bool {
        Binary::parse(file).is_ok_and(|binary| binary.has_debug() || binary.debug_link().is_some())
    }

    /// Takes any well-formed file: of one without DWARF, the exports are all there is.
    pub(crate) fn new(file: &[u8], path: Option<&Path>) -> Result<Self> {
        let binary = Binary::parse(file)?;
        Ok(Self { format: binary.format(), target: binary.target(), path: path.map(Path::to_owned) })
    }
}

impl Build for Debug {
    fn format(&self) -> Format {
        self.format
    }

    fn target(&self) -> Option<&[u8]> {
        self.target.as_deref()
    }

    fn build(&self, image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        if let Err(error) = self.look_through(image, &mut builder) {
            builder.damaged(error);
        }
        #[cfg(feature = "cubin")]
        self.add_listing(image, &mut builder);
        builder.finish()
    }
}

impl Debug {
    fn look_through(&self, image: &[u8], builder: &mut IndexBuilder) -> Result<()> {
        let binary = Binary::parse(image)?;
        let symbols = binary.exports();
        match binary.sections() {
            Ok(sections) if sections.is_empty() => self.look_beside(&binary, &symbols, builder),
            Ok(sections) => {
                read(image, sections, &symbols, self.path.as_deref(), builder).add_to(builder, None);
                Ok(())
            }
            Err(error) => {
                add_exports(&symbols, Vec::new(), &Texts::default(), builder);
                Err(error)
            }
        }
    }

    #[cfg(feature = "cubin")]
    fn add_listing(&self, image: &[u8], builder: &mut IndexBuilder) {
        let Ok(binary) = Binary::parse(image) else { return };
        let Some(text) = binary.ptx() else { return };
        let exports = binary.exports();
        let names = exports.iter().enumerate().map(|(index, export)| (&*export.name, index)).collect();
        let base = builder.first_path().or(exports.first().map(|export| export.name.to_vec()));
        let path = ptx::listing_path(&base.unwrap_or_default(), self.target());
        ptx::add_listing(builder, &names, text, &path);
    }

    /// Looks through the file that the debug information was moved to.
    fn look_beside(
        &self,
        binary: &Binary<'_>,
        symbols: &[Symbol<'_>],
        builder: &mut IndexBuilder,
    ) -> Result<()> {
        match companion::find(binary, self.path.as_deref()) {
            Search::Found(file, path) => {
                let sections = Binary::parse(file.bytes())?.sections()?;
                let kept = read(file.bytes(), sections, symbols, Some(&path), builder);
                let home = builder.home(file);
                kept.add_to(builder, Some(home));
                return Ok(());
            }
            Search::Missing(name) => builder.remark(Remark::MissingFile { name }),
            Search::None => builder.remark(Remark::NoLines),
        }
        add_exports(symbols, Vec::new(), &Texts::default(), builder);
        Ok(())
    }
}

/// Reads the debug information of a file, finds the symbols in it, and returns where its texts are.
fn read<'a>(
    file: &'a [u8],
    sections: Sections<'a>,
    symbols: &[Symbol<'_>],
    path: Option<&Path>,
    builder: &mut IndexBuilder,
) -> Kept {
    let mut work = Work::for_bytes(sections.len());
    let mut texts = Texts::default();
    if let Err(error) = texts::collect(&sections, &mut texts, &mut work) {
        builder.damaged(error);
    }
    let locations = locate(&sections.dwarf(), symbols, path, builder, &mut work);
    let has_lines = locations.iter().any(Option::is_some);
    if has_lines && texts.texts.is_empty() {
        builder.remark(Remark::NoTexts);
    }
    add_exports(symbols, locations, &texts, builder);
    let places = sections.places(file, texts.texts);
    sections.keep(places)
}

/// Where the symbols are from, each at its index.
fn locate(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    symbols: &[Symbol<'_>],
    path: Option<&Path>,
    builder: &mut IndexBuilder,
    work: &mut Work,
) -> Vec<Option<Location>> {
    let mut exports = Exports::new(symbols);
    let (mut units, read) = Units::new(dwarf);
    if let Err(error) = read {
        builder.damaged(error);
    }
    for index in 0..units.len() {
        if let Err(error) = look_in(&mut units, index, &mut exports, path, builder, work) {
            builder.damaged(error);
        }
    }
    // As in what NVIDIA's assembler writes.
    if units.len() == 0
        && let Err(error) = lines::search_all(dwarf, 8, &mut exports, work)
    {
        builder.damaged(error);
    }
    exports.into_locations()
}

fn look_in(
    units: &mut Units<'_, '_>,
    index: usize,
    exports: &mut Exports<'_>,
    path: Option<&Path>,
    builder: &mut IndexBuilder,
    work: &mut Work,
) -> Result<()> {
    let unit = units.get(index, work)?;
    let dwarf = units.dwarf;
    if !exports.may_be_in(dwarf, &unit, work)? {
        return Ok(());
    }
    match companion::look_in_split(exports, dwarf, &unit, path)? {
        Outcome::Read => {}
        Outcome::NotSplit => exports.look_in(units, &unit, Files { dwarf, unit: &unit }, work)?,
        Outcome::Missing(name) => builder.remark(Remark::MissingFile { name }),
    }
    match &unit.line_program {
        Some(program) if exports.wants_in(dwarf, &unit, work)? => {
            lines::search_rows(dwarf, program.clone(), exports, work)
        }
        _ => Ok(()),
    }
}

/// Adds the exports, each with its location if it has one, and with its line in what was preprocessed.
fn add_exports(
    symbols: &[Symbol<'_>],
    mut locations: Vec<Option<Location>>,
    texts: &Texts<'_>,
    builder: &mut IndexBuilder,
) {
    locations.resize(symbols.len(), None);
    for (symbol, location) in symbols.iter().zip(locations) {
        let location = location.as_ref().map(|(path, line)| (&**path, *line));
        // The kernel itself is in code for a GPU. Usually nothing says where the function is that launches it.
        if symbol.is_stub && location.is_none() {
            continue;
        }
        let export = builder.export(&symbol.name, location);
        let Some((path, line)) = location else { continue };
        let Some((preprocessed, text)) = texts.preprocessed.get(path).map(|&number| &texts.texts[number])
        else {
            continue;
        };
        builder.remark(Remark::Preprocessed { path: preprocessed.clone() });
        if let Some(line) = preprocessed::line(text, path, line) {
            builder.stage(export, PREPROCESSED, Some((preprocessed, line)));
        }
    }
}
