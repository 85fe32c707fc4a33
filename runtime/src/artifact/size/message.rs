//! Which part the fields of a message belong to. Nothing is decoded: the walk follows the contract's
//! descriptors over the bytes as they stand, so that every byte has its place.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::cover::{Cover, PartId};
use super::parts::{PartKind, Parts};
use crate::artifact::reflect::descriptor;
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Field, Fields, Wire};
use crate::artifact::{EXECUTABLE, outer};
use crate::error::Error;

/// Messages inside one another, as deep as decoders go.
const DEEPEST: usize = 100;
/// Literals below this size are counted together.
const SMALL_LITERAL: usize = 256;

/// What to do with a field's content.
enum Content {
    /// It is one part.
    Is(PartId),
    /// It is a payload of its own, to be compared with others.
    Payload(PartId, String),
    /// It is a message with parts in it; the part owns the rest of it.
    Holds(PartId),
}

/// Walks messages.
pub(super) struct Walker<'a> {
    pub(super) parts: &'a mut Parts,
}

impl Walker<'_> {
    /// Covers a piece of a serialized GpuExecutableProto.
    pub(super) fn executable(&mut self, bytes: &Rope) -> Result<Cover, Error> {
        let rest = self.parts.id(PartKind::OtherFields, "");
        Ok(self.message(bytes, &descriptor(EXECUTABLE)?, rest, "", 0))
    }

    /// Covers a piece of a serialized ExecutableAndOptionsProto; `executable` covers the content of its
    /// first field.
    pub(super) fn outer(&mut self, bytes: &Rope, executable: &Cover) -> Result<Cover, Error> {
        let description = descriptor(outer::MESSAGE)?;
        let rest = self.parts.id(PartKind::OuterMessage, "");
        let mut cover = Cover::default();
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            if field.number == 1 && field.value.len() == executable.len() {
                self.leaf(&mut cover, rest, field.value.start - field.whole.start);
                cover.append(executable);
            } else {
                let whole = bytes.slice(field.whole.clone()).unwrap_or_default();
                cover.append(&self.message(&whole, &description, rest, "", 0));
            }
        }
        Ok(self.fit(cover, rest, bytes.len()))
    }

    /// Covers the content of a field that has a record of its own.
    pub(super) fn field(&mut self, message: &'static str, path: &str, data: &Rope) -> Cover {
        let name = descriptor(message)
            .ok()
            .and_then(|message| Some(message.get_field(path.parse().ok()?)?.name().to_owned()));
        let part = match name.as_deref() {
            Some("asm_text") => self.parts.id(PartKind::Ptx, "of the module"),
            Some("binary") => self.parts.id(PartKind::ModuleCode, ""),
            _ => self.parts.id(PartKind::OtherFields, name.as_deref().unwrap_or(path)),
        };
        let mut cover = Cover::default();
        self.leaf(&mut cover, part, data.len());
        cover
    }

    fn leaf(&mut self, cover: &mut Cover, part: PartId, length: usize) {
        self.parts.unpacked(part, length);
        cover.push(part, length);
    }

    /// Covers what a damaged message has left.
    fn fit(&mut self, cover: Cover, part: PartId, length: usize) -> Cover {
        self.parts.unpacked(part, length.saturating_sub(cover.len()));
        cover.fit(part, length)
    }

    fn message(
        &mut self,
        bytes: &Rope,
        description: &MessageDescriptor,
        rest: PartId,
        owner: &str,
        depth: usize,
    ) -> Cover {
        let name = self.name_inside(bytes, description);
        let owner = name.as_deref().unwrap_or(owner);
        let mut cover = Cover::default();
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            let Some(known) = description.get_field(field.number) else {
                let part = self.parts.id(PartKind::UnknownFields, description.full_name());
                self.leaf(&mut cover, part, field.whole.len());
                continue;
            };
            if field.wire != Wire::Length || depth >= DEEPEST {
                self.leaf(&mut cover, rest, field.whole.len());
                continue;
            }
            let value = bytes.slice(field.value.clone()).unwrap_or_default();
            let content = self.content(description, &known, &field, rest, owner);
            // Tag and length go with the content.
            let part = match &content {
                Content::Is(part) | Content::Payload(part, _) | Content::Holds(part) => *part,
            };
            self.leaf(&mut cover, part, field.value.start - field.whole.start);
            match (content, known.kind()) {
                (Content::Holds(part), Kind::Message(inner)) => {
                    cover.append(&self.message(&value, &inner, part, owner, depth + 1));
                }
                (Content::Payload(part, place), _) => {
                    self.leaf(&mut cover, part, value.len());
                    self.parts.payload(&place, &value);
                }
                _ => self.leaf(&mut cover, part, value.len()),
            }
        }
        self.fit(cover, rest, bytes.len())
    }

    /// The name that parts inside a message go by.
    fn name_inside(&self, bytes: &Rope, description: &MessageDescriptor) -> Option<String> {
        let field = match description.full_name() {
            "stream_executor.KernelLoaderSpecProto" => "kernel_name",
            "xla.gpu.GpuExecutableProto.ConstantInfoProto" => "symbol_name",
            "xla.HloInstructionProto" => "name",
            _ if description.is_map_entry() => "key",
            _ => return None,
        };
        let number = description.get_field_by_name(field)?.number();
        let mut name = None;
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            if field.number == number && field.wire == Wire::Length {
                let value = bytes.slice(field.value)?.to_bytes();
                name = Some(String::from_utf8_lossy(&value).into_owned());
            }
        }
        name
    }

    fn content(
        &mut self,
        owner: &MessageDescriptor,
        known: &FieldDescriptor,
        field: &Field,
        rest: PartId,
        name: &str,
    ) -> Content {
        let size = field.value.len();
        let mut part = |kind, name: &str| self.parts.id(kind, name);
        match (owner.full_name(), known.name()) {
            ("xla.gpu.GpuExecutableProto", field) => match field {
                "hlo_module_with_config" => Content::Holds(part(PartKind::HloModule, "")),
                "buffer_assignment" => Content::Is(part(PartKind::BufferAssignment, "")),
                "asm_text" => Content::Is(part(PartKind::Ptx, "of the module")),
                "binary" => Content::Is(part(PartKind::ModuleCode, "")),
                "dnn_compiled_graphs" => Content::Holds(part(PartKind::OtherFields, field)),
                "buffer_allocations" | "buffer_allocations_debug_summary" => {
                    Content::Is(part(PartKind::Allocations, field))
                }
                "constants" => Content::Holds(part(PartKind::OtherFields, field)),
                "thunks" => Content::Holds(part(PartKind::Thunks, "")),
                other => Content::Is(part(PartKind::OtherFields, other)),
            },
            ("xla.gpu.GpuExecutableProto.DnnCompiledGraphsEntry", "value") => {
                Content::Payload(part(PartKind::CudnnGraph, name), format!("cuDNN graph {name}"))
            }
            ("xla.gpu.GpuExecutableProto.ConstantInfoProto", "content") => Content::Holds(rest),
            ("xla.gpu.DenseDataIntermediateProto", "data") => {
                Content::Payload(part(PartKind::Constant, name), format!("constant {name}"))
            }
            ("xla.HloModuleProtoWithConfig", "config") => {
                Content::Holds(part(PartKind::HloConfig, ""))
            }
            ("xla.HloModuleProto", "computations") => {
                Content::Holds(part(PartKind::HloComputations, ""))
            }
            ("xla.HloInstructionProto", "literal") => {
                let shown = if size < SMALL_LITERAL { "small ones" } else { name };
                Content::Holds(part(PartKind::HloLiteral, shown))
            }
            ("xla.LiteralProto", "shape") => Content::Is(rest),
            // Elements as they lie in memory, so that a constant with the same bytes is found.
            ("xla.LiteralProto", field) if field != "tuple_literals" => {
                Content::Payload(rest, format!("literal of {name}"))
            }
            ("xla.HloModuleConfigProto", "debug_options") => {
                Content::Is(part(PartKind::DebugOptions, "of the HLO module"))
            }
            ("xla.ExecutableBuildOptionsProto", "debug_options") => {
                Content::Is(part(PartKind::DebugOptions, "of the compilation"))
            }
            ("xla.ExecutableAndOptionsProto", "compile_options") => {
                Content::Holds(part(PartKind::CompileOptions, ""))
            }
            ("stream_executor.CudaCubinProto", "data") => {
                Content::Payload(part(PartKind::Kernel, name), format!("kernel {name}"))
            }
            ("stream_executor.CudaPtxProto", "data") => {
                Content::Payload(part(PartKind::Ptx, name), format!("PTX {name}"))
            }
            // Everything else that is a message is searched for parts further in.
            _ => Content::Holds(rest),
        }
    }
}
