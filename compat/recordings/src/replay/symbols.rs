//! Whether an image has what a recording says of it.

use object::{File, Object, ObjectSymbol};

use crate::Error;

use super::job::Words;

/// Looks for the kernel and the globals among the image's symbols, and compares the globals' sizes.
pub(super) fn check(image: &[u8], words: &Words) -> Result<(), Error> {
    let file = File::parse(image).map_err(|error| Error::contradiction(format!("an ELF file: {error};")))?;
    let size = |wanted: &str| {
        let mut symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        symbols.find(|symbol| symbol.name() == Ok(wanted)).map(|symbol| symbol.size())
    };
    if size(&words.kernel).is_none() {
        let what = format!("there is no kernel {} in this image; is it of this recording?", words.kernel);
        return Err(Error::missing(what));
    }
    for global in &words.globals {
        let (name, recorded) = (&global.name, global.range.len() as u64);
        match size(name) {
            Some(size) if size == recorded => {}
            Some(size) => {
                let what = format!("global {name} with {recorded} bytes, as recorded; it has {size}");
                return Err(Error::contradiction(what));
            }
            None => {
                let what = format!("there is no global {name} in this image; is it of this recording?");
                return Err(Error::missing(what));
            }
        }
    }
    Ok(())
}
