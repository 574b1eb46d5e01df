//! Where kernels come from: by their names, out of modules and of folders that a compiler dumped files into.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use zonecast_embed::{Executable, Image};

use crate::Error;
use crate::instruments::Stream;
use crate::timeline::Place;

/// The stage whose text is shown: what the compiler made kernels of.
const STAGE: &str = "0.source";
/// So much of a folder is read.
const FOLDER_LIMIT: u64 = 256 << 20;
/// Texts that are longer are not shown: viewers take no more.
const TEXT_LIMIT: usize = 250_000;

/// The places of kernels, and the texts of the files that those name.
#[derive(Clone, Debug, Default)]
pub struct Places {
    kernels: HashMap<String, Place>,
    texts: BTreeMap<String, Arc<[u8]>>,
}

impl Places {
    /// Adds the kernels of a module or of an executable.
    pub fn add_module(&mut self, executable: &Executable) {
        executable.images().for_each(|image| self.add_image(image));
    }

    /// Adds the kernels of one image.
    pub fn add_image(&mut self, image: Image<'_>) {
        for export in image.exports() {
            let staged = export.stage(STAGE).and_then(|stage| stage.location);
            let Some(location) = staged.or_else(|| export.location()) else { continue };
            let file = String::from_utf8_lossy(location.file).into_owned();
            if let Some(text) = image.sources().find(location.file) {
                self.add_text(&file, text);
            }
            let name = String::from_utf8_lossy(export.name()).into_owned();
            self.kernels.entry(name).or_insert(Place { file, line: location.line });
        }
    }

    /// Adds the kernels of a stream of instruments, which has their texts. They are shown where else there would be
    /// none.
    pub fn add_instruments(&mut self, stream: &Stream<'_>) {
        let functions = stream.modules().iter().flat_map(|module| module.metadata().functions());
        for function in functions {
            let Some(text) = function.source else { continue };
            let name = String::from_utf8_lossy(function.name);
            let has_text = self.of(&name).is_some_and(|place| self.text(&place.file).is_some());
            if !has_text {
                let file = format!("{name}.mlir");
                self.add_text(&file, text);
                let line = line_of(text, &name).unwrap_or(1);
                self.kernels.insert(name.into_owned(), Place { file, line });
            }
        }
    }

    /// Adds the files of a folder: those that places name already, and those that define one of `names`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn add_folder<'n>(
        &mut self,
        folder: &Path,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), Error> {
        let entries = fs::read_dir(folder).map_err(|error| Error::io(error).in_file(folder))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let mut left = FOLDER_LIMIT;
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "mlir")) {
            let length = fs::metadata(&path).map_or(u64::MAX, |metadata| metadata.len());
            left = match left.checked_sub(length) {
                Some(left) => left,
                None => continue,
            };
            let text = fs::read(&path).map_err(|error| Error::io(error).in_file(&path))?;
            self.add_file(&path, &text, names.clone());
        }
        Ok(())
    }

    fn add_file<'n>(&mut self, path: &Path, text: &[u8], names: impl Iterator<Item = &'n str>) {
        let own = path.to_string_lossy().into_owned();
        let is_it = |place: &&Place| Path::new(&place.file).file_name() == path.file_name();
        if let Some(named) = self.kernels.values().find(is_it).map(|place| place.file.clone()) {
            self.add_text(&named, text);
        }
        for name in names {
            if !self.kernels.contains_key(name)
                && let Some(line) = line_of(text, name)
            {
                self.add_text(&own, text);
                self.kernels.insert(name.to_owned(), Place { file: own.clone(), line });
            }
        }
    }

    fn add_text(&mut self, file: &str, text: &[u8]) {
        if text.len() <= TEXT_LIMIT && !self.texts.contains_key(file) {
            self.texts.insert(file.to_owned(), text.into());
        }
    }

    /// Where the kernel of that name is.
    pub fn of(&self, kernel: &str) -> Option<&Place> {
        self.kernels.get(kernel)
    }

    /// The text of a file that a place names.
    pub fn text(&self, file: &str) -> Option<&[u8]> {
        self.texts.get(file).map(|text| &**text)
    }
}

/// The line on which `name` is defined as a symbol.
fn line_of(text: &[u8], name: &str) -> Option<u32> {
    let symbol = format!("@{name}");
    let defines = |line: &str| {
        let is_definition = line.trim_start().starts_with("func.func ") || line.contains(" func.func ");
        is_definition && line.split(['(', ' ']).any(|word| word == symbol)
    };
    let text = String::from_utf8_lossy(text);
    let line = text.lines().position(defines)?;
    u32::try_from(line + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn a_definition_is_found_by_its_whole_name() {
        let text = b"// @add\nhal.executable.export public @add\n  func.func @add_more(%a: i32) {\n  func.func @add() {";
        assert_eq!(line_of(text, "add"), Some(4));
        assert_eq!(line_of(text, "add_more"), Some(3));
        assert_eq!(line_of(text, "more"), None);
    }
}
