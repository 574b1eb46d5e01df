//! Which kernels a module has, and from where it dispatches them.

use zonecast_embed::flatbuffer::Table;

use crate::Error;

const IDENTIFIER: &[u8] = b"IDBD";

/// The tables of a module's kernels and dispatch sites.
#[derive(Clone, Debug, Default)]
pub struct Metadata<'a> {
    functions: Vec<Function<'a>>,
    /// For each site, the index of its function.
    sites: Vec<u32>,
}

/// A kernel, as the compiler saw it before it added the instruments. All are bytes, UTF-8 or not.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Its symbol.
    pub name: &'a [u8],
    /// What it was compiled for; compilers have left it out, or empty.
    pub target: Option<&'a [u8]>,
    /// The layout of its bindings; no compiler has written it.
    pub layout: Option<&'a [u8]>,
    /// Its MLIR text.
    pub source: Option<&'a [u8]>,
}

impl<'a> Metadata<'a> {
    /// Reads the content of a chunk.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.get(4..8) != Some(IDENTIFIER) {
            return Err(Error::damaged(4, "the identifier IDBD of instrument metadata"));
        }
        let root = Table::root(bytes)?;
        let version = root.i32(0)?;
        if version != 0 {
            let found = [u16::try_from(version).unwrap_or(u16::MAX), 0];
            return Err(Error::version("metadata of dispatch instruments", found));
        }
        let (functions, sites) = (root.tables(2)?, root.tables(3)?);
        let functions = (0..functions.len()).map(|index| Function::read(functions.get(index)?));
        let sites = (0..sites.len()).map(|index| Ok(sites.get(index)?.i32(0)?.cast_unsigned()));
        Ok(Self {
            functions: functions.collect::<Result<_, Error>>()?,
            sites: sites.collect::<Result<_, Error>>()?,
        })
    }

    /// The kernels, in the order of the module.
    pub fn functions(&self) -> &[Function<'a>] {
        &self.functions
    }

    /// How many dispatch sites there are. Several may dispatch the same kernel.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// The kernel that a site dispatches, if the tables say so.
    pub fn function_of(&self, site: u32) -> Option<&Function<'a>> {
        let function = *self.sites.get(usize::try_from(site).ok()?)?;
        self.functions.get(usize::try_from(function).ok()?)
    }

    /// The name of the kernel that a site dispatches; `?` if the tables do not say.
    pub fn site_name(&self, site: u32) -> &'a [u8] {
        self.function_of(site).map_or(b"?", |function| function.name)
    }
}

impl<'a> Function<'a> {
    fn read(table: Table<'a>) -> Result<Self, Error> {
        Ok(Self {
            name: table.bytes(0)?.unwrap_or_default(),
            target: table.bytes(1)?,
            layout: table.bytes(2)?,
            source: table.bytes(3)?,
        })
    }
}
