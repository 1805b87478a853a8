//! Random structured programs.

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
    /// Instructions of a program, at most about that many.
    pub instructions: u32,
    /// Instructions that a pixel executes, at most about that many.
    pub work: u32,
    /// Branches and loops within each other.
    pub depth: u32,
    /// Loops, BREAK and CONTINUE.
    pub loops: bool,
    /// Subroutines.
    pub calls: bool,
    /// TEXKILL.
    pub kills: bool,
    /// Differences across the quad, in some programs.
    pub derivatives: bool,
    /// Infinities, NaN, denormals and their like among constants and inputs. Arithmetic meets them
    /// without.
    pub specials: bool,
}

impl Default for Shape {
    /// 8x8 pixels, 120 instructions, 4,000 executed, 7 levels, everything.
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
    /// Returns a random case. Its tree [checks](Tree::check); the same choices give the same case.
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
    /// Least and greatest aL.
    al: (i32, i32),
    /// Open branch levels and running loops, those of callers included.
    levels: u32,
    loops: u32,
    /// Branches and loops around it in its body.
    depth: u32,
    /// All pixels of a quad come here together.
    uniform: bool,
    /// BREAK and CONTINUE may stand here.
    leaves: bool,
    /// A return may stand here.
    returns: bool,
    /// The subroutine that it is in.
    body: Option<usize>,
}

/// A subroutine before its body is made.
#[derive(Clone, Copy, Debug)]
struct Plan {
    counted: bool,
    /// Only called where all pixels of a quad come together, without conditions.
    uniform: bool,
    /// Instructions that a call executes at most.
    work: u32,
    /// Facts that hold for all calls so far.
    callers: Option<Context>,
}

struct Generator<'a, E> {
    choices: &'a mut E,
    shape: Shape,
    tree: Tree,
    plans: Vec<Plan>,
    /// Temporaries from t0 on that start with something.
    inputs: u32,
    /// Instructions that still fit.
    room: u32,
    /// Quad differences may be taken, so `IGNORE_UNCOVERED` may not be set.
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
        // Their values come last: bytes are better spent on statements first.
        tree.constants = vec![[0; 4]; constants];
        let pool: [_; 8] = std::array::from_fn(|_| integer(choices));
        for (n, int) in tree.ints.iter_mut().enumerate() {
            // Another order in each eight, so that every bit of an address matters.
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
        // Room for the ends of subroutines, the tail and what lowering adds.
        let room = shape.instructions.clamp(16, 480) - 12;
        Self { choices, shape: *shape, tree, plans, inputs, room, derivatives, kills }
    }

    /// Main program and subroutines, callers first.
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
        // Half the room for the main program, if there are others.
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

    /// Returns what is decided when everything else is known.
    fn finish(self) -> Tree {
        let Self { choices, mut tree, shape, .. } = self;
        tree.layout = choices.pick(Layout::AfterMain, &[Layout::Front, Layout::Inside]);
        if choices.chance(1, 4) {
            let free = r500_isa::INSTRUCTION_SLOTS.saturating_sub(tree.size()) as u32;
            tree.offset = choices.below(free + 1) as u16;
        }
        if choices.chance(1, 2) {
            // Partial flow control does for programs that are flat enough.
            tree.full_fc = false;
            tree.full_fc = tree.check().is_err();
        }
        for value in &mut tree.constants {
            *value = constant(choices, shape.specials).map(f32::to_bits);
        }
        tree
    }

    /// `IGNORE_UNCOVERED`, where nothing depends on it.
    fn ignores(&mut self) -> bool {
        !self.derivatives && self.choices.chance(1, 4)
    }
}

fn constant(choices: &mut impl Choices, specials: bool) -> [f32; 4] {
    let vector = number::vector(choices);
    if specials { vector } else { vector.map(tame) }
}

/// Returns the number itself if it is an ordinary one.
fn tame(x: f32) -> f32 {
    if x == 0.0 || (x.is_normal() && (1e-3..1e3).contains(&x.abs())) { x } else { 0.0 }
}

/// Mostly few passes and small steps; no passes and the greatest number too.
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
            // t0 differs from pixel to pixel.
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
