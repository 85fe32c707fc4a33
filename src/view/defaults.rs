//! Fields that are on neither side's wire but read as different defaults.

use super::compare::Comparison;
use super::held::Node;
use super::loss::{LossKind, Lost};
use crate::descriptor::Field;

impl<'a> Comparison<'a, '_> {
    /// Unset fields whose default the two sides spell differently.
    pub(super) fn defaults(&mut self, written: &'a Node<'a>, read: &'a Node<'a>) {
        let fields = || written.ty.fields.iter().chain(read.ty.fields.iter());
        if fields().all(|f| f.default.is_none()) {
            return;
        }
        for field in &written.ty.fields {
            let Some(reader) = read.ty.field(field.number) else { continue };
            let unset = written.slot(field.number).is_none() && read.slot(field.number).is_none();
            if unset && field.ty == reader.ty && field.default != reader.default {
                self.path.field(&field.name);
                let text = |f: &Field| f.default.as_deref().unwrap_or("no default").to_owned();
                let detail = || format!("{}, not {}", text(reader), text(field));
                let lost = Lost::Field(written.ty, field.number);
                self.add(LossKind::Reinterpreted, "unset reads the reader's default", lost, detail);
                self.path.pop();
            }
        }
    }
}
