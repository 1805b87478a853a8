//! Generator of random structured programs.

mod flow;
mod instruction;
pub mod number;

use r500_isa::state::UsFcIntConst;

use crate::Choices;
use crate::case::{Case, Picture, PixelInput};
use crate::tree::{Layout, Stmt, Sub, Tree};

/// Limits on the size and variety of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// Approximate limit of the instructions of a program.
    pub instructions: u32,
    /// Approximate limit of the instructions that a pixel executes.
    pub work: u32,
    /// Greatest nesting of branches and loops.
    pub depth: u32,
    /// Whether to generate loops, BREAK and CONTINUE.
    pub loops: bool,
    /// Whether to generate subroutines.
    pub calls: bool,
    /// Whether to generate TEXKILL.
    pub kills: bool,
    /// Whether to generate differences across the quad, in some programs.
    pub derivatives: bool,
    /// Whether constants and inputs include infinities, NaN, denormals and similar values. Arithmetic yields them
    /// anyway.
    pub specials: bool,
}

impl Default for Shape {
    /// Returns 8x8 pixels, 120 instructions, 4,000 executed, 7 levels, and all features.
    fn default() -> Self {
        Self {
            size: [8, 8],
            instructions: 120,
            work: 4000,
            depth: 7,
            loops: true,
            calls: true,
            kills: true,
            derivatives: true,
            specials: true,
        }
    }
}

impl Case {
    /// Returns a random case. Its tree is [valid](Tree::check); equal choices give equal cases.
    ///
    /// ```
    /// use r500_gen::{Case, Rng, Shape, oracle};
    ///
    /// let case = Case::generate(&mut Rng::new(1), &Shape::default());
    /// let program = case.tree.lower();
    /// let wanted = oracle::run(&case);
    /// assert_eq!(wanted.len(), 64);
    /// println!("{case}{} instructions", program.code.len());
    /// ```
    #[must_use]
    pub fn generate(choices: &mut impl Choices, shape: &Shape) -> Self {
        let mut generator = Generator::new(choices, shape);
        generator.bodies();
        let inputs = generator.inputs;
        let tree = generator.finish();
        let picture = picture(choices, shape, inputs);
        Self { tree, picture }
    }
}

/// Facts about the path to the statement that is generated next.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// Range of aL.
    al: (i32, i32),
    /// Open branch levels and running loops, including those of callers.
    levels: u32,
    loops: u32,
    /// Nesting of branches and loops in the same body.
    depth: u32,
    /// Whether all pixels of a quad arrive together.
    uniform: bool,
    /// Whether BREAK and CONTINUE are permitted.
    leaves: bool,
    /// Whether a return is permitted.
    returns: bool,
    /// The enclosing subroutine.
    body: Option<usize>,
}

/// A subroutine before its body is generated.
#[derive(Clone, Copy, Debug)]
struct Plan {
    counted: bool,
    /// Whether all calls are unconditional, in uniform control flow of a quad.
    uniform: bool,
    /// Limit of the instructions that a call executes.
    work: u32,
    /// Facts common to all calls so far.
    callers: Option<Context>,
}

struct Generator<'a, E> {
    choices: &'a mut E,
    shape: Shape,
    tree: Tree,
    plans: Vec<Plan>,
    /// Number of temporaries from t0 with an initial value.
    inputs: u32,
    /// Remaining room in instructions.
    room: u32,
    /// Whether quad differences are permitted, which excludes `IGNORE_UNCOVERED`.
    derivatives: bool,
    kills: bool,
}

impl<'a, E: Choices> Generator<'a, E> {
    fn new(choices: &'a mut E, shape: &Shape) -> Self {
        let pixsize = match choices.weighted(&[4, 2, 1]) {
            0 => 5 + choices.below(12),
            1 => 3 + choices.below(60),
            _ => 127,
        };
        let constants = [12, 40, 256][choices.weighted(&[6, 3, 1])];
        let mut tree = Tree::new(Vec::new());
        tree.pixsize = pixsize as u8;
        tree.zero_rule = choices.chance(1, 2);
        tree.bools = choices.bits();
        // Constants are generated last, because input bytes are more valuable for statements.
        tree.constants = vec![[0; 4]; constants];
        let pool: [_; 8] = std::array::from_fn(|_| integer(choices));
        for (n, int) in tree.ints.iter_mut().enumerate() {
            // Another order in each group of eight, so that every bit of an address matters.
            *int = pool[(n + n / pool.len()) % pool.len()];
        }
        let subs = if shape.calls { choices.below(4) } else { 0 };
        let plans = (0..subs)
            .map(|n| Plan {
                counted: choices.chance(1, 2),
                uniform: choices.chance(1, 4),
                work: (shape.work / 8) >> n,
                callers: None,
            })
            .collect();
        let derivatives = shape.derivatives && choices.chance(1, 3);
        let kills = shape.kills && choices.chance(1, 2);
        let inputs = 1 + choices.below(4);
        // Room for the ends of subroutines, the tail, and instructions that lowering adds.
        let room = shape.instructions.clamp(16, 480) - 12;
        Self { choices, shape: *shape, tree, plans, inputs, room, derivatives, kills }
    }

    /// Generates main program and subroutines, callers first.
    fn bodies(&mut self) {
        let start = Context {
            al: (0, 0),
            levels: 0,
            loops: 0,
            depth: 0,
            uniform: true,
            leaves: false,
            returns: false,
            body: None,
        };
        let subs = self.plans.len() as u32;
        // Half of the room is for the main program if there are subroutines.
        let kept = if subs == 0 { 0 } else { self.room / 2 };
        self.room -= kept;
        let mut work = self.shape.work;
        let most = self.room;
        self.tree.main = self.block(start, &mut work, most);
        self.tail();
        self.room = kept;
        for n in 0..self.plans.len() {
            let Plan { counted, mut work, callers, .. } = self.plans[n];
            let mut body = Vec::new();
            if let Some(callers) = callers {
                let left = self.room;
                self.room = left / (subs - n as u32);
                let reserve = left - self.room;
                let context =
                    Context { depth: 0, leaves: false, returns: true, body: Some(n), ..callers };
                let most = self.room;
                body = self.block(context, &mut work, most);
                self.room += reserve;
            }
            self.tree.subs.push(Sub { body, counted });
        }
    }

    /// Generates the parts that depend on all others, and returns the tree.
    fn finish(self) -> Tree {
        let Self { choices, mut tree, shape, .. } = self;
        tree.layout = choices.pick(Layout::AfterMain, &[Layout::Front, Layout::Inside]);
        if choices.chance(1, 4) {
            let free = r500_isa::INSTRUCTION_SLOTS.saturating_sub(tree.size()) as u32;
            tree.offset = choices.below(free + 1) as u16;
        }
        if choices.chance(1, 2) {
            // Partial flow control suffices for programs with little nesting.
            tree.full_fc = false;
            tree.full_fc = tree.check().is_err();
        }
        for value in &mut tree.constants {
            *value = constant(choices, shape.specials).map(f32::to_bits);
        }
        tree
    }

    /// Returns `IGNORE_UNCOVERED`, only where results do not depend on it.
    fn ignores(&mut self) -> bool {
        !self.derivatives && self.choices.chance(1, 4)
    }
}

fn constant(choices: &mut impl Choices, specials: bool) -> [f32; 4] {
    let vector = number::vector(choices);
    if specials { vector } else { vector.map(tame) }
}

/// Returns the number if it is an ordinary one.
fn tame(x: f32) -> f32 {
    if x == 0.0 || (x.is_normal() && (1e-3..1e3).contains(&x.abs())) { x } else { 0.0 }
}

/// Returns an integer constant, mostly with few iterations and small steps, sometimes with no or the most iterations.
fn integer(choices: &mut impl Choices) -> UsFcIntConst {
    let passes = match choices.weighted(&[12, 3, 1, 1]) {
        0 => 1 + choices.below(5),
        1 => 5 + choices.below(12),
        2 => 0,
        _ => 255,
    };
    let (start, step) = match choices.weighted(&[4, 4, 1]) {
        0 => (choices.below(4), choices.between(0, 2)),
        1 => (choices.below(12), choices.between(-3, 3)),
        _ => (choices.below(256), choices.between(-128, 127)),
    };
    UsFcIntConst(0)
        .with(UsFcIntConst::KR, passes as u8)
        .with(UsFcIntConst::KG, start as u8)
        .with(UsFcIntConst::KB, step as i8)
}

fn picture(choices: &mut impl Choices, shape: &Shape, temps: u32) -> Picture {
    let [width, height] = shape.size;
    let pixels = width * height;
    let inputs = (0..temps)
        .map(|temp| {
            // t0 varies between pixels.
            let kind = choices.weighted(&[3, 4, if temp == 0 { 0 } else { 1 }]);
            let everywhere = constant(choices, shape.specials);
            let values = (0..pixels).map(|n| match kind {
                0 => [n % width, n / width, n, 1].map(|n| n as f32),
                1 => constant(choices, shape.specials),
                _ => everywhere,
            });
            PixelInput { temp: temp as u8, values: values.collect() }
        })
        .collect();
    let coverage =
        choices.chance(1, 3).then(|| (0..pixels).map(|_| !choices.chance(1, 3)).collect());
    Picture { size: shape.size, inputs, coverage }
}
