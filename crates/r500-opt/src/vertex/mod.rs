//! Vertex programs: instructions on virtual registers, and what makes instruction words of them.
//!
//! | module | textbook name |
//! | --- | --- |
//! | [`machine`] | instructions on virtual registers |
//! | [`pair`](fn@pair) | pairing of the vector and the math engine |
//! | [`allocate`](fn@allocate) | linear-scan register allocation |
//! | [`encode`](fn@encode) | instruction words |

mod allocate;
mod encode;
pub mod machine;
mod pair;

pub use allocate::{Homes, TEMPORARIES, allocate};
pub use encode::encode;
pub use pair::pair;
