//! Loops, branches, and steps that run beside others.

use super::{Reader, Thunk};
use crate::program::{At as _, Invalid, Result};
use crate::proto::xla::PrimitiveType;
use crate::proto::xla::gpu::{
    AsyncDoneThunkProto, AsyncStartThunkProto, ConditionalThunkProto, ThunkSequenceProto,
    WhileThunkProto,
};

impl Reader<'_> {
    pub(super) fn nested(
        &mut self,
        proto: Option<&ThunkSequenceProto>,
        field: &str,
    ) -> Result<Vec<super::Step>> {
        self.reads.fields("xla.gpu.ThunkSequenceProto", &["thunks"]);
        let Some(sequence) = proto else { return Ok(Vec::new()) };
        self.pairing.enter();
        let steps = self.sequence(&sequence.thunks).at(|| field.to_owned());
        self.pairing.leave();
        steps
    }

    pub(super) fn while_loop(&mut self, proto: &WhileThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.WhileThunkProto",
            &[
                "condition_result_buffer_index",
                "condition_thunk_sequence",
                "body_thunk_sequence",
                "trip_count",
            ],
        );
        let field = "condition_result_buffer_index";
        let condition = self.slice(proto.condition_result_buffer_index.as_ref(), field)?;
        if condition.size != 1 {
            return Err(Invalid::value(format!("{field}.size"), condition.size, "1"));
        }
        // The condition of a round knows its number, too.
        self.loops += 1;
        let test =
            self.nested(proto.condition_thunk_sequence.as_ref(), "condition_thunk_sequence")?;
        let body = self.nested(proto.body_thunk_sequence.as_ref(), "body_thunk_sequence")?;
        self.loops -= 1;
        let limit = self.program.limits.iterations;
        let trip_count = match proto.trip_count {
            None => None,
            Some(count) => {
                let count = u64::try_from(count)
                    .map_err(|_| Invalid::value("trip_count", count, "0 or more"))?;
                if count > limit {
                    return Err(Invalid::limit("trip_count", count, limit, "iterations"));
                }
                Some(count)
            }
        };
        Ok(Thunk::While { condition, test, body, trip_count })
    }

    pub(super) fn conditional(&mut self, proto: &ConditionalThunkProto) -> Result<Thunk> {
        self.reads
            .fields("xla.gpu.ConditionalThunkProto", &["branch_index_buffer", "branch_thunks"]);
        let index = self.shaped(proto.branch_index_buffer.as_ref(), "branch_index_buffer")?;
        if !matches!(index.shape.ty, PrimitiveType::Pred | PrimitiveType::S32)
            || !index.shape.dims.is_empty()
        {
            return Err(Invalid::value(
                "branch_index_buffer.shape",
                &index.shape,
                "pred[] or s32[]",
            ));
        }
        let branches = proto
            .branch_thunks
            .iter()
            .enumerate()
            .map(|(at, branch)| self.nested(Some(branch), &format!("branch_thunks[{at}]")))
            .collect::<Result<Vec<_>>>()?;
        match (index.shape.ty, branches.len()) {
            (PrimitiveType::Pred, n) if n != 2 => {
                return Err(Invalid::value("branch_thunks", n, "2 for a predicate"));
            }
            (_, 0) => return Err(Invalid::value("branch_thunks", 0, "at least 1")),
            _ => {}
        }
        Ok(Thunk::Conditional { index, branches })
    }

    pub(super) fn async_start(&mut self, proto: &AsyncStartThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.AsyncStartThunkProto", &["async_execution_id", "thunks"]);
        let id = proto.async_execution_id;
        self.pairing.start(id)?;
        Ok(Thunk::AsyncStart { id, steps: self.nested(proto.thunks.as_ref(), "thunks")? })
    }

    pub(super) fn async_done(&mut self, proto: &AsyncDoneThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.AsyncDoneThunkProto", &["async_execution_id"]);
        let id = proto.async_execution_id;
        self.pairing.done(id)?;
        Ok(Thunk::AsyncDone { id })
    }
}
