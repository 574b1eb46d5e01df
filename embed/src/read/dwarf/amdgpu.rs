//! What an AMDGPU code object is for.

/// The target in the metadata note of a code object, for instance `gfx942`.
///
/// The note is a MessagePack map; one key in it is `amdhsa.target`, and its value a string such as
/// `amdgcn-amd-amdhsa--gfx942` ("Code Object Metadata" in LLVM's user guide for AMDGPU).
pub(crate) fn target(note: &[u8]) -> Option<Vec<u8>> {
    const KEY: &[u8] = b"amdhsa.target";
    let at = note.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let (&head, rest) = note.get(at..)?.split_first()?;
    let string = match head {
        0xa0..=0xbf => rest.get(..usize::from(head & 0x1f))?,
        0xd9 => rest.get(1..)?.get(..usize::from(*rest.first()?))?,
        _ => return None,
    };
    Some(after_triple(string).to_vec())
}

/// The processor and features behind a triple: `gfx942:xnack+` of `amdgcn-amd-amdhsa--gfx942:xnack+`.
fn after_triple(target: &[u8]) -> &[u8] {
    let dashes = target.windows(2).position(|window| window == b"--");
    dashes.map_or(target, |at| &target[at + 2..])
}
