//! The message types of fields, as a decoder meets them: looked up by name once, then by the field's address.

use crate::descriptor::{Contract, Field, Label, Message, Type};

const KEPT: usize = 256;

/// The types met so far.
pub(super) struct Types<'a> {
    contract: &'a Contract,
    /// Address of the field and its type, at a place that the address gives.
    kept: Vec<(usize, Option<&'a Message>)>,
    /// A type with `required` fields was met.
    pub(super) required: bool,
}

impl<'a> Types<'a> {
    pub(super) fn new(contract: &'a Contract) -> Self {
        Types { contract, kept: vec![(0, None); KEPT], required: false }
    }

    /// The type of a message field. A contract declares every type that it uses.
    pub(super) fn of(&mut self, field: &'a Field) -> Option<&'a Message> {
        let address = std::ptr::from_ref(field) as usize;
        let at = (address / align_of::<Field>() / 8) % KEPT;
        if let Some((kept, ty)) = self.kept.get(at)
            && *kept == address
        {
            return *ty;
        }
        let Type::Message(name) = &field.ty else { return None };
        let ty = self.contract.message(name);
        if let Some(ty) = ty {
            self.see(ty);
        }
        if let Some(place) = self.kept.get_mut(at) {
            *place = (address, ty);
        }
        ty
    }

    /// Takes note of a type that is read.
    pub(super) fn see(&mut self, ty: &Message) {
        self.required |= ty.fields.iter().any(|field| field.label == Label::Required);
    }
}
