//! What a cubin says about itself.

use prost::bytes::Bytes;

/// ELF machine number of CUDA.
const EM_CUDA: u16 = 190;
/// First ABI version that has the architecture in the second byte of the flags.
const ABI_V2: u8 = 8;

/// The architecture a cubin was compiled for, e.g. `sm_90`, from the flags of its ELF header; `None`
/// where the bytes are no 64-bit CUDA ELF file.
pub(in crate::artifact) fn architecture(cubin: &Bytes) -> Option<String> {
    let number = |at: usize, size: usize| -> Option<u64> {
        let bytes = cubin.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    // 64-bit, little endian.
    if !cubin.starts_with(b"\x7fELF\x02\x01") || number(18, 2)? != u64::from(EM_CUDA) {
        return None;
    }
    let abi_version = *cubin.get(8)?;
    let flags = number(48, 4)?;
    let sm = if abi_version >= ABI_V2 { flags >> 8 } else { flags } & 0xff;
    Some(format!("sm_{sm}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(abi_version: u8, machine: u8, flags: [u8; 4]) -> Bytes {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[8] = abi_version;
        bytes[18] = machine;
        bytes[48..52].copy_from_slice(&flags);
        bytes.into()
    }

    #[test]
    fn both_layouts_of_the_flags_are_read() {
        let sm = |abi, flags| architecture(&elf(abi, 190, flags));
        assert_eq!(sm(8, [0x04, 0x5a, 0, 0x06]).as_deref(), Some("sm_90"));
        assert_eq!(sm(7, [0x50, 0x05, 0x50, 0]).as_deref(), Some("sm_80"));
    }

    #[test]
    fn other_files_have_no_architecture() {
        assert_eq!(architecture(&elf(8, 62, [0; 4])), None);
        assert_eq!(architecture(&Bytes::new()), None);
        for length in 0..52 {
            assert_eq!(architecture(&elf(8, 190, [0; 4]).slice(0..length)), None);
        }
    }
}
