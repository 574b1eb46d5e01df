//! The device's memory. It is the host's, so that a test can look at it; addresses are checked as a driver does.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{BTreeMap, HashMap};

use crate::code;

/// How addresses are aligned.
const ALIGN: usize = 256;
/// The unit of memory that is mapped at chosen addresses.
pub const GRANULARITY: usize = 2 << 20;
/// How much there is.
const CAPACITY: usize = 1 << 30;

/// What an address belongs to.
#[derive(Clone, Copy, Debug)]
enum Block {
    /// Allocated as it is.
    Whole(usize),
    /// Addresses, behind which is memory or not.
    Reserved { size: usize, is_mapped: bool },
}

/// Memory of a device, which is the host's. Addresses are checked as a driver does.
#[derive(Debug, Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    /// Memory that waits to be mapped: sizes by handles.
    physical: HashMap<u64, usize>,
    next: u64,
    used: usize,
}

fn layout(size: usize) -> Result<Layout, u32> {
    let size = (1..=CAPACITY).contains(&size).then_some(size).ok_or(code::INVALID_VALUE)?;
    Layout::from_size_align(size, ALIGN).map_err(|_| code::INVALID_VALUE)
}

impl Memory {
    /// Allocates memory.
    ///
    /// # Errors
    /// If there is not as much, or none is asked for.
    pub fn allocate(&mut self, size: usize) -> Result<u64, u32> {
        let layout = layout(size)?;
        self.take(size)?;
        // SAFETY: the layout's size is not 0.
        let address = unsafe { alloc_zeroed(layout) };
        if address.is_null() {
            self.used -= size;
            return Err(code::OUT_OF_MEMORY);
        }
        self.blocks.insert(address as u64, Block::Whole(size));
        Ok(address as u64)
    }

    /// Gives memory back.
    ///
    /// # Errors
    /// If none begins at the address.
    pub fn free(&mut self, address: u64) -> Result<(), u32> {
        let Some(&Block::Whole(size)) = self.blocks.get(&address) else { return Err(code::INVALID_VALUE) };
        self.blocks.remove(&address);
        self.used -= size;
        // SAFETY: `allocate` made it so, and nobody else gives it back.
        unsafe { dealloc(address as *mut u8, layout(size)?) };
        Ok(())
    }

    fn take(&mut self, size: usize) -> Result<(), u32> {
        let used = self.used.checked_add(size).filter(|used| *used <= CAPACITY);
        self.used = used.ok_or(code::OUT_OF_MEMORY)?;
        Ok(())
    }

    /// How many bytes are in use, and how many there are.
    #[must_use]
    pub const fn usage(&self) -> (usize, usize) {
        (self.used, CAPACITY)
    }

    /// Whether so many bytes from the address on are memory.
    #[must_use]
    pub fn has(&self, address: u64, size: usize) -> bool {
        self.around(address).is_some_and(|(start, whole)| {
            address - start <= (whole - size.min(whole)) as u64 && size <= whole
        })
    }

    /// Where the memory begins that the address is in, and how long it is.
    #[must_use]
    pub fn around(&self, address: u64) -> Option<(u64, usize)> {
        let (&start, block) = self.blocks.range(..=address).next_back()?;
        let size = match *block {
            Block::Whole(size) | Block::Reserved { size, is_mapped: true } => size,
            Block::Reserved { .. } => return None,
        };
        (address - start < size as u64).then_some((start, size))
    }

    /// Reserves addresses, if it can be from `wanted` on.
    ///
    /// # Errors
    /// If the size is no multiple of [`GRANULARITY`], or there are no such addresses.
    pub fn reserve(&mut self, wanted: u64, size: usize) -> Result<u64, u32> {
        if size == 0 || !size.is_multiple_of(GRANULARITY) {
            return Err(code::INVALID_VALUE);
        }
        let (none, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: without MAP_FIXED it takes no addresses that are in use.
        let address = unsafe { libc::mmap(wanted as *mut _, size, none, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(code::OUT_OF_MEMORY);
        }
        self.blocks.insert(address as u64, Block::Reserved { size, is_mapped: false });
        Ok(address as u64)
    }

    /// Makes memory that can be mapped. Returns its handle.
    ///
    /// # Errors
    /// If there is not as much.
    pub fn create(&mut self, size: usize) -> Result<u64, u32> {
        if size == 0 || !size.is_multiple_of(GRANULARITY) {
            return Err(code::INVALID_VALUE);
        }
        self.take(size)?;
        self.next += 1;
        self.physical.insert(self.next, size);
        Ok(self.next)
    }

    /// Puts memory behind all addresses of a reservation.
    ///
    /// # Errors
    /// If they are not reserved, have memory already, or are not as many.
    pub fn map(&mut self, address: u64, size: usize, handle: u64) -> Result<(), u32> {
        let physical = self.physical.get(&handle).copied();
        match self.blocks.get_mut(&address) {
            Some(Block::Reserved { size: reserved, is_mapped })
                if !*is_mapped && *reserved == size && physical == Some(size) =>
            {
                *is_mapped = true;
                protect(address, size, libc::PROT_READ | libc::PROT_WRITE)
            }
            _ => Err(code::INVALID_VALUE),
        }
    }

    /// Takes the memory away again.
    ///
    /// # Errors
    /// If there is none.
    pub fn unmap(&mut self, address: u64, size: usize) -> Result<(), u32> {
        match self.blocks.get_mut(&address) {
            Some(Block::Reserved { size: reserved, is_mapped }) if *is_mapped && *reserved == size => {
                *is_mapped = false;
                protect(address, size, libc::PROT_NONE)
            }
            _ => Err(code::INVALID_VALUE),
        }
    }

    /// Gives memory that can be mapped back. What is mapped stays so.
    ///
    /// # Errors
    /// If there is none of that handle.
    pub fn release(&mut self, handle: u64) -> Result<(), u32> {
        self.used -= self.physical.remove(&handle).ok_or(code::INVALID_VALUE)?;
        Ok(())
    }

    /// Gives reserved addresses back.
    ///
    /// # Errors
    /// If they are not reserved, or have memory.
    pub fn unreserve(&mut self, address: u64, size: usize) -> Result<(), u32> {
        match self.blocks.get(&address) {
            Some(&Block::Reserved { size: reserved, is_mapped: false }) if reserved == size => {
                self.blocks.remove(&address);
                // SAFETY: `reserve` made it so, and nobody has memory there any more.
                unsafe { libc::munmap(address as *mut _, size) };
                Ok(())
            }
            _ => Err(code::INVALID_VALUE),
        }
    }
}

fn protect(address: u64, size: usize, protection: i32) -> Result<(), u32> {
    // SAFETY: the addresses are reserved by us.
    let done = unsafe { libc::mprotect(address as *mut _, size, protection) };
    if done == 0 { Ok(()) } else { Err(code::OUT_OF_MEMORY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_where_it_was_allocated() {
        let mut memory = Memory::default();
        let address = memory.allocate(100).unwrap();
        assert!(memory.has(address, 100) && memory.has(address + 99, 1));
        assert!(!memory.has(address, 101) && !memory.has(address + 100, 1) && !memory.has(address - 1, 1));
        assert_eq!(memory.around(address + 50), Some((address, 100)));
        assert_eq!(memory.free(address + 1), Err(code::INVALID_VALUE));
        memory.free(address).unwrap();
        assert_eq!(memory.free(address), Err(code::INVALID_VALUE));
        assert_eq!(memory.allocate(CAPACITY + 1), Err(code::INVALID_VALUE));
        assert_eq!(memory.usage().0, 0);
    }

    #[test]
    fn addresses_can_be_chosen() {
        let wanted = 0x7000_0000_0000;
        let mut memory = Memory::default();
        let address = memory.reserve(wanted, GRANULARITY).unwrap();
        assert_eq!(address, wanted);
        assert!(!memory.has(address, 1));
        let handle = memory.create(GRANULARITY).unwrap();
        memory.map(address, GRANULARITY, handle).unwrap();
        assert!(memory.has(address, GRANULARITY));
        // SAFETY: memory is there, and nobody else's.
        unsafe { (address as *mut u8).write(7) };
        assert_eq!(memory.unreserve(address, GRANULARITY), Err(code::INVALID_VALUE));
        memory.unmap(address, GRANULARITY).unwrap();
        memory.release(handle).unwrap();
        memory.unreserve(address, GRANULARITY).unwrap();
        assert_eq!(memory.reserve(0, 1), Err(code::INVALID_VALUE));
    }
}
