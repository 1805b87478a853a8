//! SPIR-V 1.0 for Vulkan. In exact shaders, rounded operations have the decoration `NoContraction`.

use std::collections::BTreeMap;

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel,
    FunctionControl, GlslStd450Op, ImageFormat, ImageOperands, LoopControl, MemoryModel,
    SelectionControl, StorageClass, Word,
};

use crate::bindings::{Bindings, TABLE, UNIFORMS, vertex_outputs};
use crate::source::{
    Axis, Expr, Function, Helper, Lod, Op, Sample, Source, Stmt, Type, Var, Vector, VectorSource,
    each_statement,
};
use crate::text::helper_name;
use crate::{Arithmetic, Dimensions};

/// Writes a shader.
pub(crate) fn write(source: &Source, bindings: &Bindings<'_>) -> Vec<u32> {
    let mut writer = Writer::new(bindings);
    writer.declare(source);
    for function in &source.functions {
        writer.function(function);
    }
    writer.main(source);
    writer.builder.module().assemble()
}

/// Writes a vertex program.
pub(crate) fn write_vertex(source: &Source, bindings: &Bindings<'_>) -> Vec<u32> {
    let mut writer = Writer::new(bindings);
    writer.declare(source);
    for function in &source.functions {
        writer.function(function);
    }
    writer.vertex_main(source);
    writer.builder.module().assemble()
}

const BLOCKS: &str = "blocks are begun and ended in pairs";

/// What a variable is.
#[derive(Clone, Copy)]
enum Place {
    Value(Word, Type),
    Pointer(Word, Type),
}

struct Types {
    void: Word,
    float: Word,
    uint: Word,
    int: Word,
    bool: Word,
    vec4: Word,
}

/// The variables of a unit, and their types.
#[derive(Clone, Copy)]
struct Texture {
    texture: Word,
    image: Word,
    /// The sampler, its type, and the type of the texture with it.
    sampler: Option<[Word; 3]>,
}

struct Writer<'a> {
    builder: Builder,
    bindings: &'a Bindings<'a>,
    types: Types,
    glsl: Word,
    uniforms: Option<Word>,
    inputs: BTreeMap<u8, Word>,
    textures: BTreeMap<u8, Texture>,
    frag_coord: Option<Word>,
    colors: [Option<Word>; 4],
    depth: Option<Word>,
    /// The outputs of a vertex program, by register.
    outputs: BTreeMap<u8, Word>,
    /// Constants by type and bits.
    constants: BTreeMap<(Word, u32), Word>,
    helpers: BTreeMap<Helper, Word>,
    /// The variables of the function that is written.
    places: BTreeMap<Var, Place>,
    /// Where a `break` goes.
    exits: Vec<Word>,
}

impl<'a> Writer<'a> {
    fn new(bindings: &'a Bindings<'a>) -> Self {
        let mut builder = Builder::new();
        builder.set_version(1, 0);
        builder.capability(Capability::Shader);
        let glsl = builder.ext_inst_import("GLSL.std.450");
        builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let float = builder.type_float(32, None);
        let types = Types {
            void: builder.type_void(),
            float,
            uint: builder.type_int(32, 0),
            int: builder.type_int(32, 1),
            bool: builder.type_bool(),
            vec4: builder.type_vector(float, 4),
        };
        Self {
            builder,
            bindings,
            types,
            glsl,
            uniforms: None,
            inputs: BTreeMap::new(),
            textures: BTreeMap::new(),
            frag_coord: None,
            colors: [None; 4],
            depth: None,
            outputs: BTreeMap::new(),
            constants: BTreeMap::new(),
            helpers: BTreeMap::new(),
            places: BTreeMap::new(),
            exits: Vec::new(),
        }
    }

    fn ty(&self, ty: Type) -> Word {
        match ty {
            Type::F32 => self.types.float,
            Type::U32 => self.types.uint,
            Type::Bool => self.types.bool,
        }
    }

    fn global(&mut self, ty: Word, class: StorageClass, name: &str) -> Word {
        let pointer = self.builder.type_pointer(None, class, ty);
        let variable = self.builder.variable(pointer, None, class, None);
        self.builder.name(variable, name);
        variable
    }

    fn located(&mut self, ty: Word, class: StorageClass, name: &str, location: u32) -> Word {
        let variable = self.global(ty, class, name);
        self.builder.decorate(variable, Decoration::Location, [Operand::LiteralBit32(location)]);
        variable
    }

    fn bound(&mut self, variable: Word, binding: u32) {
        self.builder.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        self.builder.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    }

    fn built_in(&mut self, ty: Word, class: StorageClass, name: &str, built_in: BuiltIn) -> Word {
        let variable = self.global(ty, class, name);
        self.builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        variable
    }

    fn declare_uniforms(&mut self) {
        if self.bindings.members.is_empty() {
            return;
        }
        let vec4 = self.types.vec4;
        let table = self.bindings.has_table.then(|| {
            let length = self.word(u32::from(TABLE));
            let table = self.builder.type_array(vec4, length);
            self.builder.decorate(table, Decoration::ArrayStride, [Operand::LiteralBit32(16)]);
            ("constants".to_owned(), table, u32::from(TABLE))
        });
        let named = self.bindings.named_members().iter();
        let named = named.map(|member| (self.bindings.member_name(*member), vec4, 1));
        let members: Vec<(String, Word, u32)> = table.into_iter().chain(named).collect();
        let block = self.builder.type_struct(members.iter().map(|(_, ty, _)| *ty));
        self.builder.name(block, "Uniforms");
        self.builder.decorate(block, Decoration::Block, []);
        let mut offset = 0;
        for (n, (name, _, vectors)) in (0u32..).zip(members) {
            self.builder.member_name(block, n, name);
            let at = [Operand::LiteralBit32(offset)];
            self.builder.member_decorate(block, n, Decoration::Offset, at);
            offset += 16 * vectors;
        }
        let uniforms = self.global(block, StorageClass::Uniform, "uniforms");
        self.bound(uniforms, UNIFORMS);
        self.uniforms = Some(uniforms);
    }

    fn declare(&mut self, source: &Source) {
        self.declare_uniforms();
        for (unit, dimensions) in self.bindings.textures.clone() {
            let dim = match dimensions {
                Dimensions::Two | Dimensions::Faces => Dim::Dim2D,
                Dimensions::Three => Dim::Dim3D,
                Dimensions::Cube => Dim::DimCube,
            };
            let image = self.builder.type_image(
                self.types.float,
                dim,
                0,
                u32::from(dimensions == Dimensions::Faces),
                0,
                1,
                ImageFormat::Unknown,
                None,
            );
            let texture =
                self.global(image, StorageClass::UniformConstant, &format!("texture{unit}"));
            let (binding, sampler_binding) = self.bindings.texture_bindings(unit);
            self.bound(texture, binding);
            let sampler = sampler_binding.map(|binding| {
                let ty = self.builder.type_sampler();
                let name = format!("sampler{unit}");
                let sampler = self.global(ty, StorageClass::UniformConstant, &name);
                self.bound(sampler, binding);
                [sampler, ty, self.builder.type_sampled_image(image)]
            });
            self.textures.insert(unit, Texture { texture, image, sampler });
        }
        let varyings: Vec<(u32, String)> =
            self.bindings.varyings().map(|(location, name)| (location, name.clone())).collect();
        for (location, name) in varyings {
            let variable = self.located(self.types.vec4, StorageClass::Input, &name, location);
            let input = u8::try_from(location).expect("inputs are numbered by bytes");
            self.inputs.insert(input, variable);
        }
        if self.bindings.uses_position {
            let vec4 = self.types.vec4;
            self.frag_coord =
                Some(self.built_in(vec4, StorageClass::Input, "gl_FragCoord", BuiltIn::FragCoord));
        }
        for output in vertex_outputs(source) {
            let vec4 = self.types.vec4;
            let variable = match output.location {
                None => self.built_in(vec4, StorageClass::Output, "gl_Position", BuiltIn::Position),
                Some(location) => self.located(vec4, StorageClass::Output, &output.name, location),
            };
            self.outputs.insert(output.register, variable);
        }
        for (n, color) in (0u32..).zip(&source.colors) {
            if color.is_some() {
                let variable =
                    self.located(self.types.vec4, StorageClass::Output, &format!("color{n}"), n);
                self.colors[n as usize] = Some(variable);
            }
        }
        if source.depth.is_some() {
            let float = self.types.float;
            self.depth = Some(self.built_in(
                float,
                StorageClass::Output,
                "gl_FragDepth",
                BuiltIn::FragDepth,
            ));
        }
    }

    fn function(&mut self, function: &Function) {
        let result = self.result(function.helper);
        let types: Vec<Type> =
            function.parameters.iter().map(|var| function.types[var.0 as usize]).collect();
        let words: Vec<Word> = types.iter().map(|ty| self.ty(*ty)).collect();
        let ty = self.builder.type_function(result, words);
        let id =
            self.builder.begin_function(result, None, FunctionControl::NONE, ty).expect(BLOCKS);
        self.builder.name(id, helper_name(function.helper));
        self.places = BTreeMap::new();
        for (var, ty) in function.parameters.iter().zip(types) {
            let word = self.ty(ty);
            let parameter = self.builder.function_parameter(word).expect(BLOCKS);
            self.places.insert(*var, Place::Value(parameter, ty));
        }
        self.builder.begin_block(None).expect(BLOCKS);
        self.variables(&function.body, &function.types);
        self.statements(&function.body, &function.types);
        let results: Vec<Word> = function.results.iter().map(|result| self.value(result)).collect();
        let result = match results.as_slice() {
            [result] => *result,
            _ => {
                let vec4 = self.types.vec4;
                self.builder.composite_construct(vec4, None, results).expect(BLOCKS)
            }
        };
        self.builder.ret_value(result).expect(BLOCKS);
        self.builder.end_function().expect(BLOCKS);
        self.helpers.insert(function.helper, id);
    }

    /// Returns the type of a helper's result.
    fn result(&self, helper: Helper) -> Word {
        if helper.is_vector() { self.types.vec4 } else { self.types.float }
    }

    fn main(&mut self, source: &Source) {
        let void = self.types.void;
        let ty = self.builder.type_function(void, []);
        let id = self.builder.begin_function(void, None, FunctionControl::NONE, ty).expect(BLOCKS);
        self.builder.begin_block(None).expect(BLOCKS);
        self.places = BTreeMap::new();
        self.variables(&source.body, &source.types);
        self.statements(&source.body, &source.types);
        if let Some(covered) = &source.covered {
            let covered = self.value(covered);
            let (kill, stay) = (self.builder.id(), self.builder.id());
            self.builder.selection_merge(stay, SelectionControl::NONE).expect(BLOCKS);
            self.builder.branch_conditional(covered, stay, kill, []).expect(BLOCKS);
            self.builder.begin_block(Some(kill)).expect(BLOCKS);
            self.builder.kill().expect(BLOCKS);
            self.builder.begin_block(Some(stay)).expect(BLOCKS);
        }
        for (channels, variable) in source.colors.iter().zip(self.colors) {
            if let (Some(channels), Some(variable)) = (channels, variable) {
                let channels = channels.each_ref().map(|channel| self.value(channel));
                let vector = self
                    .builder
                    .composite_construct(self.types.vec4, None, channels)
                    .expect(BLOCKS);
                self.builder.store(variable, vector, None, []).expect(BLOCKS);
            }
        }
        if let (Some(depth), Some(variable)) = (&source.depth, self.depth) {
            let depth = self.value(depth);
            self.builder.store(variable, depth, None, []).expect(BLOCKS);
        }
        self.builder.ret().expect(BLOCKS);
        self.builder.end_function().expect(BLOCKS);
        let inputs = self.inputs.values().copied().chain(self.frag_coord);
        let interface: Vec<Word> =
            inputs.chain(self.colors.into_iter().flatten()).chain(self.depth).collect();
        self.builder.entry_point(ExecutionModel::Fragment, id, "main", interface);
        self.builder.execution_mode(id, ExecutionMode::OriginUpperLeft, []);
        if self.depth.is_some() {
            self.builder.execution_mode(id, ExecutionMode::DepthReplacing, []);
        }
    }

    fn vertex_main(&mut self, source: &Source) {
        let void = self.types.void;
        let ty = self.builder.type_function(void, []);
        let id = self.builder.begin_function(void, None, FunctionControl::NONE, ty).expect(BLOCKS);
        self.builder.begin_block(None).expect(BLOCKS);
        self.places = BTreeMap::new();
        self.variables(&source.body, &source.types);
        self.statements(&source.body, &source.types);
        for (register, channels) in &source.outputs {
            let channels = channels.each_ref().map(|channel| self.value(channel));
            let vec4 = self.types.vec4;
            let vector = self.builder.composite_construct(vec4, None, channels).expect(BLOCKS);
            let variable = *self.outputs.get(register).expect("declared");
            self.builder.store(variable, vector, None, []).expect(BLOCKS);
        }
        self.builder.ret().expect(BLOCKS);
        self.builder.end_function().expect(BLOCKS);
        let variables = self.inputs.values().chain(self.outputs.values());
        let interface: Vec<Word> = variables.copied().collect();
        self.builder.entry_point(ExecutionModel::Vertex, id, "main", interface);
    }

    /// Declares the variables that change: they come first in a function.
    fn variables(&mut self, body: &[Stmt], types: &[Type]) {
        each_statement(body, &mut |stmt| {
            if let Stmt::Mut(var, _) | Stmt::Loop(var, ..) = stmt {
                self.variable(*var, types);
            }
        });
    }

    fn variable(&mut self, var: Var, types: &[Type]) {
        let ty = types[var.0 as usize];
        let pointee = self.ty(ty);
        let pointer = self.builder.type_pointer(None, StorageClass::Function, pointee);
        let id = self.builder.variable(pointer, None, StorageClass::Function, None);
        self.places.insert(var, Place::Pointer(id, ty));
    }

    fn pointer(&self, var: Var) -> Word {
        match self.places.get(&var) {
            Some(Place::Pointer(pointer, _)) => *pointer,
            _ => unreachable!("variables that change are declared first"),
        }
    }

    fn statements(&mut self, body: &[Stmt], types: &[Type]) {
        for stmt in body {
            match stmt {
                Stmt::Comment(_) => {}
                Stmt::Let(var, value) => {
                    let value = self.value(value);
                    self.places.insert(*var, Place::Value(value, types[var.0 as usize]));
                }
                Stmt::Mut(var, value) | Stmt::Set(var, value) => {
                    let value = self.value(value);
                    let pointer = self.pointer(*var);
                    self.builder.store(pointer, value, None, []).expect(BLOCKS);
                }
                Stmt::Vector(vector) => self.vector_variables(vector),
                Stmt::If(condition, yes, no) => self.branch(condition, yes, no, types),
                Stmt::Loop(counter, trips, body) => self.repeat(*counter, *trips, body, types),
                Stmt::BreakUnless(condition) => {
                    let condition = self.value(condition);
                    let exit = *self.exits.last().expect("a break is in a loop");
                    let next = self.builder.id();
                    // The arms of a selection with a break merge in the next statement.
                    let leave = self.builder.id();
                    self.builder.selection_merge(next, SelectionControl::NONE).expect(BLOCKS);
                    self.builder.branch_conditional(condition, next, leave, []).expect(BLOCKS);
                    self.builder.begin_block(Some(leave)).expect(BLOCKS);
                    self.builder.branch(exit).expect(BLOCKS);
                    self.builder.begin_block(Some(next)).expect(BLOCKS);
                }
            }
        }
    }

    fn branch(&mut self, condition: &Expr, yes: &[Stmt], no: &[Stmt], types: &[Type]) {
        let condition = self.value(condition);
        let (first, second, merge) = (self.builder.id(), self.builder.id(), self.builder.id());
        let otherwise = if no.is_empty() { merge } else { second };
        self.builder.selection_merge(merge, SelectionControl::NONE).expect(BLOCKS);
        self.builder.branch_conditional(condition, first, otherwise, []).expect(BLOCKS);
        self.builder.begin_block(Some(first)).expect(BLOCKS);
        self.statements(yes, types);
        self.builder.branch(merge).expect(BLOCKS);
        if !no.is_empty() {
            self.builder.begin_block(Some(second)).expect(BLOCKS);
            self.statements(no, types);
            self.builder.branch(merge).expect(BLOCKS);
        }
        self.builder.begin_block(Some(merge)).expect(BLOCKS);
    }

    fn repeat(&mut self, counter: Var, trips: u32, body: &[Stmt], types: &[Type]) {
        let (uint, bool) = (self.types.uint, self.types.bool);
        let pointer = self.pointer(counter);
        let (zero, one) = (self.word(0), self.word(1));
        let trips = self.word(trips);
        self.builder.store(pointer, zero, None, []).expect(BLOCKS);
        let [head, check, inside, next, exit] = std::array::from_fn(|_| self.builder.id());
        self.builder.branch(head).expect(BLOCKS);
        self.builder.begin_block(Some(head)).expect(BLOCKS);
        self.builder.loop_merge(exit, next, LoopControl::NONE, []).expect(BLOCKS);
        self.builder.branch(check).expect(BLOCKS);
        self.builder.begin_block(Some(check)).expect(BLOCKS);
        let count = self.builder.load(uint, None, pointer, None, []).expect(BLOCKS);
        let more = self.builder.u_less_than(bool, None, count, trips).expect(BLOCKS);
        self.builder.branch_conditional(more, inside, exit, []).expect(BLOCKS);
        self.builder.begin_block(Some(inside)).expect(BLOCKS);
        self.exits.push(exit);
        self.statements(body, types);
        self.exits.pop();
        self.builder.branch(next).expect(BLOCKS);
        self.builder.begin_block(Some(next)).expect(BLOCKS);
        let count = self.builder.load(uint, None, pointer, None, []).expect(BLOCKS);
        let count = self.builder.i_add(uint, None, count, one).expect(BLOCKS);
        self.builder.store(pointer, count, None, []).expect(BLOCKS);
        self.builder.branch(head).expect(BLOCKS);
        self.builder.begin_block(Some(exit)).expect(BLOCKS);
    }

    fn word(&mut self, word: u32) -> Word {
        self.constant(self.types.uint, word)
    }

    fn constant(&mut self, ty: Word, bits: u32) -> Word {
        let builder = &mut self.builder;
        *self.constants.entry((ty, bits)).or_insert_with(|| builder.constant_bit32(ty, bits))
    }

    /// Returns a channel of a vector in memory.
    fn channel(&mut self, class: StorageClass, base: Word, indices: &[u32]) -> Word {
        let indices: Vec<Word> = indices.iter().map(|index| self.word(*index)).collect();
        self.channel_at(class, base, &indices)
    }

    fn channel_at(&mut self, class: StorageClass, base: Word, indices: &[Word]) -> Word {
        let float = self.types.float;
        let pointer = self.builder.type_pointer(None, class, float);
        let indices = indices.iter().copied();
        let chain = self.builder.access_chain(pointer, None, base, indices).expect(BLOCKS);
        self.builder.load(float, None, chain, None, []).expect(BLOCKS)
    }

    fn position(&mut self, channel: u8) -> Word {
        let base = self.frag_coord.expect("declared, because the shader uses it");
        self.channel(StorageClass::Input, base, &[u32::from(channel)])
    }

    fn value(&mut self, expr: &Expr) -> Word {
        match expr {
            Expr::Var(var) => match self.places.get(var) {
                Some(Place::Value(value, _)) => *value,
                Some(Place::Pointer(pointer, ty)) => {
                    let (pointer, ty) = (*pointer, self.ty(*ty));
                    self.builder.load(ty, None, pointer, None, []).expect(BLOCKS)
                }
                None => unreachable!("variables are defined before their uses"),
            },
            Expr::F32(bits) if f32::from_bits(*bits).is_finite() => {
                self.constant(self.types.float, *bits)
            }
            // Some hosts refuse constants that are not finite.
            Expr::F32(bits) => {
                let word = self.word(*bits);
                self.builder.bitcast(self.types.float, None, word).expect(BLOCKS)
            }
            Expr::U32(word) => self.word(*word),
            Expr::Bool(true) => self.builder.constant_true(self.types.bool),
            Expr::Bool(false) => self.builder.constant_false(self.types.bool),
            Expr::Input(input, channel) => {
                let base = *self.inputs.get(input).expect("declared, because the shader uses it");
                self.channel(StorageClass::Input, base, &[u32::from(*channel)])
            }
            Expr::Uniform(member, channel) => {
                let base = self.uniforms.expect("declared, because the shader has members");
                let place = self.bindings.place(*member);
                let table = u32::from(TABLE);
                let channel = u32::from(*channel);
                match self.bindings.has_table {
                    true if place < table => {
                        self.channel(StorageClass::Uniform, base, &[0, place, channel])
                    }
                    true => {
                        let member = 1 + place - table;
                        self.channel(StorageClass::Uniform, base, &[member, channel])
                    }
                    false => self.channel(StorageClass::Uniform, base, &[place, channel]),
                }
            }
            Expr::Table(number, channel) => {
                let number = self.value(&Expr::Var(*number));
                let base = self.uniforms.expect("declared, because the shader has constants");
                let indices = [self.word(0), number, self.word(u32::from(*channel))];
                self.channel_at(StorageClass::Uniform, base, &indices)
            }
            Expr::Centre(axis) => self.position(axis.channel()),
            Expr::FragmentDepth => self.position(2),
            Expr::InSecond(axis) => self.in_second(*axis),
            Expr::Op(op, operands) => self.operation(*op, operands),
            Expr::Call(helper, operands) => self.call(*helper, operands),
        }
    }

    fn call(&mut self, helper: Helper, operands: &[Expr]) -> Word {
        let operands: Vec<Word> = operands.iter().map(|operand| self.value(operand)).collect();
        let function = *self.helpers.get(&helper).expect("functions come before their calls");
        let result = self.result(helper);
        self.builder.function_call(result, None, function, operands).expect(BLOCKS)
    }

    fn in_second(&mut self, axis: Axis) -> Word {
        let (uint, bool) = (self.types.uint, self.types.bool);
        let centre = self.position(axis.channel());
        let pixel = self.builder.convert_f_to_u(uint, None, centre).expect(BLOCKS);
        let (one, zero) = (self.word(1), self.word(0));
        let parity = self.builder.bitwise_and(uint, None, pixel, one).expect(BLOCKS);
        self.builder.i_not_equal(bool, None, parity, zero).expect(BLOCKS)
    }

    fn extended(&mut self, op: GlslStd450Op, operands: &[Word]) -> Word {
        let operands: Vec<Operand> = operands.iter().map(|id| Operand::IdRef(*id)).collect();
        self.builder.ext_inst(self.types.float, None, self.glsl, op as u32, operands).expect(BLOCKS)
    }

    fn operation(&mut self, op: Op, operands: &[Expr]) -> Word {
        let Types { float, uint, int, bool, .. } = self.types;
        let ids: Vec<Word> = operands.iter().map(|operand| self.value(operand)).collect();
        let at = |n: usize| *ids.get(n).expect("operations have their operands");
        let b = &mut self.builder;
        let result = match op {
            Op::Add => b.f_add(float, None, at(0), at(1)),
            Op::Sub => b.f_sub(float, None, at(0), at(1)),
            Op::Mul => b.f_mul(float, None, at(0), at(1)),
            Op::Div => b.f_div(float, None, at(0), at(1)),
            Op::Neg => b.f_negate(float, None, at(0)),
            Op::ColumnDifference | Op::RowDifference => {
                if !b.module_ref().capabilities.iter().any(is_derivative_control) {
                    b.capability(Capability::DerivativeControl);
                }
                match op {
                    Op::ColumnDifference => b.d_pdx_fine(float, None, at(0)),
                    _ => b.d_pdy_fine(float, None, at(0)),
                }
            }
            Op::Lt => b.f_ord_less_than(bool, None, at(0), at(1)),
            Op::Ge => b.f_ord_greater_than_equal(bool, None, at(0), at(1)),
            Op::Eq => b.f_ord_equal(bool, None, at(0), at(1)),
            Op::Ne => b.f_unord_not_equal(bool, None, at(0), at(1)),
            Op::WordEq => b.i_equal(bool, None, at(0), at(1)),
            Op::WordLt => b.u_less_than(bool, None, at(0), at(1)),
            Op::And => b.logical_and(bool, None, at(0), at(1)),
            Op::Or => b.logical_or(bool, None, at(0), at(1)),
            Op::Not => b.logical_not(bool, None, at(0)),
            Op::Select => {
                let ty = operands.get(1).map_or(Type::F32, |yes| self.type_of(yes));
                let ty = self.ty(ty);
                self.builder.select(ty, None, at(0), at(1), at(2))
            }
            Op::Bits => b.bitcast(uint, None, at(0)),
            Op::FromBits => b.bitcast(float, None, at(0)),
            Op::WordAnd => b.bitwise_and(uint, None, at(0), at(1)),
            Op::WordOr => b.bitwise_or(uint, None, at(0), at(1)),
            Op::WordXor => b.bitwise_xor(uint, None, at(0), at(1)),
            Op::WordAdd => b.i_add(uint, None, at(0), at(1)),
            Op::WordSub => b.i_sub(uint, None, at(0), at(1)),
            Op::WordRem => b.u_mod(uint, None, at(0), at(1)),
            Op::ShiftLeft => b.shift_left_logical(uint, None, at(0), at(1)),
            Op::ShiftRight => b.shift_right_logical(uint, None, at(0), at(1)),
            Op::ShiftRightSigned => b.shift_right_arithmetic(uint, None, at(0), at(1)),
            Op::ToFloat => b.convert_u_to_f(float, None, at(0)),
            Op::ToFloatSigned => {
                let signed = b.bitcast(int, None, at(0)).expect(BLOCKS);
                b.convert_s_to_f(float, None, signed)
            }
            Op::ToWord => b.convert_f_to_u(uint, None, at(0)),
            Op::ToWordSigned => {
                let signed = b.convert_f_to_s(int, None, at(0)).expect(BLOCKS);
                b.bitcast(uint, None, signed)
            }
            Op::Saturate => {
                let [zero, one] = [0.0, 1.0].map(|x: f32| self.constant(float, x.to_bits()));
                return self.extended(GlslStd450Op::FClamp, &[at(0), zero, one]);
            }
            Op::Sqrt => return self.extended(GlslStd450Op::Sqrt, &ids),
            Op::Abs => return self.extended(GlslStd450Op::FAbs, &ids),
            Op::Floor => return self.extended(GlslStd450Op::Floor, &ids),
            Op::RoundEven => return self.extended(GlslStd450Op::RoundEven, &ids),
            Op::InverseSqrt => return self.extended(GlslStd450Op::InverseSqrt, &ids),
            Op::Exp2 => return self.extended(GlslStd450Op::Exp2, &ids),
            Op::Log2 => return self.extended(GlslStd450Op::Log2, &ids),
            Op::Sin => return self.extended(GlslStd450Op::Sin, &ids),
            Op::Cos => return self.extended(GlslStd450Op::Cos, &ids),
            Op::Fract => return self.extended(GlslStd450Op::Fract, &ids),
            Op::Min => return self.extended(GlslStd450Op::FMin, &ids),
            Op::Max => return self.extended(GlslStd450Op::FMax, &ids),
        };
        let result = result.expect(BLOCKS);
        if op.is_rounded() && self.bindings.arithmetic == Arithmetic::Exact {
            self.builder.decorate(result, Decoration::NoContraction, []);
        }
        result
    }

    fn type_of(&self, expr: &Expr) -> Type {
        match expr {
            Expr::Bool(_) | Expr::InSecond(_) => Type::Bool,
            Expr::U32(_) => Type::U32,
            Expr::Op(op, operands) => op
                .result()
                .unwrap_or_else(|| operands.get(1).map_or(Type::F32, |yes| self.type_of(yes))),
            Expr::Var(var) => match self.places.get(var) {
                Some(Place::Value(_, ty) | Place::Pointer(_, ty)) => *ty,
                None => unreachable!("variables are defined before their uses"),
            },
            _ => Type::F32,
        }
    }

    fn vector(&mut self, exprs: &[Expr]) -> (Word, Word) {
        let ids: Vec<Word> = exprs.iter().map(|expr| self.value(expr)).collect();
        let count = u32::try_from(ids.len()).expect("two or three coordinates");
        let ty = self.builder.type_vector(self.types.float, count);
        (self.builder.composite_construct(ty, None, ids).expect(BLOCKS), ty)
    }

    /// Defines the variables of a vector's channels.
    fn vector_variables(&mut self, vector: &Vector) {
        let id = match &vector.source {
            VectorSource::Sample(sample) => self.sample(sample),
            VectorSource::Load(unit, at, level) => self.texel(*unit, at, level),
            VectorSource::Call(helper, operands) => self.call(*helper, operands),
        };
        for (channel, var) in (0u32..).zip(vector.channels) {
            if let Some(var) = var {
                let float = self.types.float;
                let value =
                    self.builder.composite_extract(float, None, id, [channel]).expect(BLOCKS);
                self.places.insert(var, Place::Value(value, Type::F32));
            }
        }
    }

    fn texture(&self, unit: u8) -> Texture {
        *self.textures.get(&unit).expect("declared, because the shader fetches")
    }

    fn texel(&mut self, unit: u8, at: &[Expr], level: &Expr) -> Word {
        let Texture { texture, image: image_type, .. } = self.texture(unit);
        let image = self.builder.load(image_type, None, texture, None, []).expect(BLOCKS);
        let ids: Vec<Word> = at.iter().map(|expr| self.value(expr)).collect();
        let count = u32::try_from(ids.len()).expect("two or three coordinates");
        let ty = self.builder.type_vector(self.types.uint, count);
        if self.bindings.dimensions(unit) == Dimensions::Faces {
            // naga 30 splits the layer off and needs the type of the rest.
            self.builder.type_vector(self.types.uint, 2);
        }
        let at = self.builder.composite_construct(ty, None, ids).expect(BLOCKS);
        let level = [Operand::IdRef(self.value(level))];
        let vec4 = self.types.vec4;
        self.builder
            .image_fetch(vec4, None, image, at, Some(ImageOperands::LOD), level)
            .expect(BLOCKS)
    }

    fn sample(&mut self, sample: &Sample) -> Word {
        let Texture { texture, image: image_type, sampler } = self.texture(sample.unit);
        let [sampler, sampler_type, sampled] = sampler.expect("fast shaders have samplers");
        let image = self.builder.load(image_type, None, texture, None, []).expect(BLOCKS);
        let sampler = self.builder.load(sampler_type, None, sampler, None, []).expect(BLOCKS);
        let texture = self.builder.sampled_image(sampled, None, image, sampler).expect(BLOCKS);
        let (mut at, ty) = self.vector(&sample.coordinates);
        let size = self.bindings.is_scaled_by_size(sample).then(|| {
            self.builder.capability(Capability::ImageQuery);
            let count = u32::try_from(sample.coordinates.len()).expect("two or three coordinates");
            let ints = self.builder.type_vector(self.types.int, count);
            let zero = self.constant(self.types.int, 0);
            let size = self.builder.image_query_size_lod(ints, None, image, zero).expect(BLOCKS);
            self.builder.convert_s_to_f(ty, None, size).expect(BLOCKS)
        });
        if let Some(size) = size {
            at = self.builder.f_div(ty, None, at, size).expect(BLOCKS);
        }
        let vec4 = self.types.vec4;
        let texel = match &sample.lod {
            Lod::Implicit => {
                self.builder.image_sample_implicit_lod(vec4, None, texture, at, None, [])
            }
            Lod::Bias(bias) => {
                let bias = [Operand::IdRef(self.value(bias))];
                self.builder.image_sample_implicit_lod(
                    vec4,
                    None,
                    texture,
                    at,
                    Some(ImageOperands::BIAS),
                    bias,
                )
            }
            Lod::Level(level) => {
                let level = [Operand::IdRef(self.value(level))];
                self.builder.image_sample_explicit_lod(
                    vec4,
                    None,
                    texture,
                    at,
                    ImageOperands::LOD,
                    level,
                )
            }
            Lod::Gradients(dx, dy) => {
                let gradients = [dx, dy].map(|gradient| {
                    let (gradient, ty) = self.vector(gradient);
                    match size {
                        Some(size) => self.builder.f_div(ty, None, gradient, size).expect(BLOCKS),
                        None => gradient,
                    }
                });
                let gradients = gradients.map(Operand::IdRef);
                self.builder.image_sample_explicit_lod(
                    vec4,
                    None,
                    texture,
                    at,
                    ImageOperands::GRAD,
                    gradients,
                )
            }
        };
        texel.expect(BLOCKS)
    }
}

fn is_derivative_control(inst: &rspirv::dr::Instruction) -> bool {
    inst.operands.contains(&Operand::Capability(Capability::DerivativeControl))
}
