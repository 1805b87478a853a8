//! Vertex programs: the optimiser, and what it shares with the compiler: instructions on virtual registers, and what makes instruction words
//! of them.
//!
//! [`optimize`](fn@optimize) rewrites straight code between flow control, predicates and what has no operations here. Its results have the
//! same bits as those of the given program, for all inputs and constants, as the interpreter of r500-pvs defines them.
//!
//! | module | textbook name |
//! | --- | --- |
//! | `liveness` | liveness of registers |
//! | `lift`, `ir` | translation to operations over values in static single assignment |
//! | `facts` | signs, denormals, and truth tables of values |
//! | `passes` | dead code, common subexpressions, copies, folding, sums of products, vectorisation |
//! | `lower` | translation to instructions on virtual registers |
//! | [`machine`] | instructions on virtual registers |
//! | [`pair`](fn@pair) | pairing of the vector and the math engine |
//! | [`allocate`](fn@allocate) | linear-scan register allocation |
//! | [`encode`](fn@encode) | instruction words |
//! | `layout` | relocation: loops and the registers that name instructions |

mod allocate;
mod cost;
mod encode;
mod facts;
mod ir;
mod layout;
mod lift;
mod liveness;
mod lower;
pub mod machine;
mod optimize;
mod pair;
mod passes;

pub use allocate::{Channel, Homes, NumberedRegisters, TEMPORARIES, allocate};
pub use cost::Cost;
pub use encode::encode;
pub use optimize::{Change, Kept, Optimized, PassInfo, optimize, passes};
pub use pair::pair;
