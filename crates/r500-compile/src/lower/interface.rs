//! What a program shares with its draw: uniforms and inputs when it begins, what it gives at its end.

use std::collections::HashSet;

use r500_glsl::tree::{BuiltinVariable, Expr, ExprKind, Storage, VariableId};
use r500_glsl::types::{Base, Type};

use super::Lower;
use crate::arithmetic::{Alu, Arithmetic};
use crate::code::{Component, Shape, Target, Value};
use crate::interface::{InputVector, OutputVector, UniformVector, VIEWPORT, host_name, leaves};
use crate::points::{Origin, Part};

impl Lower<'_> {
    fn uniform_vector(&mut self, name: &str, size: usize, base: Base) -> Value {
        let n = self.uniforms.len() as u16;
        let name = name.to_owned();
        self.uniforms.push(UniformVector { name, size: size as u8, base, known: None });
        (0..size as u8).map(|c| Component::uniform(n, c)).collect()
    }

    pub(super) fn uniform(&mut self, id: VariableId) {
        let variable = &self.shader.variables[id];
        let name = host_name(self.shader, id).to_owned();
        // The host's pointer counts from 0 to 1, ShaderToy's in pixels; both have the size.
        let toy = name != variable.name;
        let mut value = Vec::new();
        for leaf in leaves(&name, &variable.ty) {
            value.extend(self.uniform_vector(&leaf.name, leaf.size, Self::base(&variable.ty)));
        }
        if toy && name == "resolution" {
            value.truncate(2);
            value.push(Component::literal(1.0));
        }
        if toy && name == "mouse" {
            let size = self.uniform_vector("resolution", 2, Base::Float);
            let place = self.builder.mul(&value[..2].to_vec(), &size);
            let pressed = value[2];
            let pressed = self.builder.mul(&place, &vec![pressed]);
            value = [place, pressed].concat();
        }
        self.values[id] = Some(value);
    }

    fn input(&mut self, vector: InputVector) -> Value {
        let n = self.inputs.len() as u8;
        let size = vector.size;
        self.inputs.push(vector);
        let register = self.builder.register(Shape::Input(n));
        (0..size).map(|c| Component::register(register, c)).collect()
    }

    /// Gives a variable what is read from outside: a varying of pixels, an attribute of vertices.
    pub(super) fn read(
        &mut self,
        name: &str,
        ty: &Type,
        id: VariableId,
        builtin: Option<BuiltinVariable>,
    ) {
        let mut value = Vec::new();
        for leaf in leaves(name, ty) {
            if self.inputs.len() >= usize::from(u8::MAX) {
                break;
            }
            let vector = InputVector { name: leaf.name, size: leaf.size as u8, builtin };
            value.extend(self.input(vector));
        }
        value.resize(ty.components(), Component::literal(0.0));
        self.values[id] = Some(value);
    }

    pub(super) fn builtin(&mut self, builtin: BuiltinVariable, id: VariableId) {
        use BuiltinVariable as B;
        let variable = &self.shader.variables[id];
        match builtin {
            B::FragColor | B::FragData | B::FragDepth | B::Position | B::PointSize => {
                self.values[id] = Some(self.zeros(&variable.ty));
            }
            B::FragCoord => {
                // The rasteriser gives the place in clip space, as the driver's programs take it.
                let vector =
                    InputVector { name: variable.name.clone(), size: 4, builtin: Some(builtin) };
                let clip = self.input(vector);
                let scale = self.uniform_vector(VIEWPORT, 4, Base::Float);
                let offset = self.uniform_vector(VIEWPORT, 4, Base::Float);
                let w = self.builder.alu(Alu::Rcp, &[&clip[3..].to_vec()]);
                let place = self.builder.mul(&clip[..3].to_vec(), &w);
                let place = self.builder.mad(&place, &scale[..3].to_vec(), &offset[..3].to_vec());
                self.values[id] = Some([place, w].concat());
            }
            B::FrontFacing => {
                let vector =
                    InputVector { name: variable.name.clone(), size: 1, builtin: Some(builtin) };
                let face = self.input(vector);
                let (zero, one) = (self.builder.literal(0.0), self.builder.literal(1.0));
                // The rasteriser gives 1 in front and 0 at the back.
                let test = self.builder.abs(&face);
                let test = self.builder.negate(&test);
                let value = self.builder.at_least_zero(&test, &zero, &one);
                self.values[id] = Some(value);
            }
            B::PointCoord | B::Color | B::SecondaryColor | B::TexCoord | B::FogFragCoord => {
                self.read(&variable.name.clone(), &variable.ty.clone(), id, Some(builtin));
            }
        }
    }

    /// The place of a pixel of `mainImage`: u and v times the size of the picture.
    pub(super) fn pixel_place(&mut self) -> Value {
        let uv = self.input(InputVector { name: "uv".to_owned(), size: 2, builtin: None });
        let size = match (0..self.shader.variables.len())
            .find(|id| host_name(self.shader, *id) == "resolution" && self.values[*id].is_some())
            .and_then(|id| self.values[id].clone())
        {
            Some(size) => size[..2].to_vec(),
            None => self.uniform_vector("resolution", 3, Base::Float)[..2].to_vec(),
        };
        self.builder.mul(&uv, &size)
    }

    /// Sends the colours and the depth to where they go.
    pub(super) fn outputs(&mut self, color: Option<VariableId>) {
        let shader = self.shader;
        if let Some(color) = color {
            self.at_last_store(color);
            let value = self.value(color);
            self.builder.output(Target::Color(0), value);
        }
        let written = self.written();
        for id in 0..shader.variables.len() {
            if !written.contains(&id) {
                continue;
            }
            let value = self.value(id);
            // The optimiser makes one instruction of an output and the operation before it.
            self.at_last_store(id);
            match shader.variables[id].storage {
                Storage::Builtin(BuiltinVariable::FragColor) => {
                    self.builder.output(Target::Color(0), value);
                }
                Storage::Builtin(BuiltinVariable::FragData) => {
                    let touched = self.written_elements(id);
                    for (n, color) in (0u8..).zip(value.chunks(4)) {
                        if touched.get(usize::from(n)) == Some(&true) {
                            self.builder.output(Target::Color(n), color.to_vec());
                        }
                    }
                }
                Storage::Builtin(BuiltinVariable::FragDepth) => {
                    self.builder.output(Target::Depth, value);
                }
                Storage::Builtin(BuiltinVariable::Position | BuiltinVariable::PointSize) => {
                    self.vertex_output(id, value);
                }
                Storage::Varying => self.vertex_output(id, value),
                Storage::Output(n) => {
                    for (k, color) in (n..4).zip(value.chunks(4)) {
                        self.builder.output(Target::Color(k), color.to_vec());
                    }
                }
                _ => {}
            }
        }
    }

    /// Sets the place of what follows to where a variable was set last; to the function `main` if it was not.
    fn at_last_store(&mut self, id: VariableId) {
        let end = self.points.add(Part::END);
        let main = Origin { span: self.shader.functions[self.shader.main].span, point: end };
        let mut origin = self.stored_at.get(&id).copied().unwrap_or(main);
        if self.points.is_in_chip_loop(origin.point) {
            origin.point = end;
        }
        self.builder.set_origin(origin);
    }

    /// Lists the vectors of a variable that a vertex shader sets.
    fn vertex_output(&mut self, id: VariableId, value: Value) {
        let variable = &self.shader.variables[id];
        for leaf in leaves(&variable.name, &variable.ty) {
            let n = self.outputs.len() as u16;
            let components = value[leaf.first..leaf.first + leaf.size].to_vec();
            self.outputs.push(OutputVector { name: leaf.name, size: leaf.size as u8 });
            self.builder.output(Target::Vertex(n), components);
        }
    }

    /// Returns all variables that the source sets anywhere.
    fn written(&self) -> HashSet<VariableId> {
        let mut all = HashSet::new();
        for function in &self.shader.functions {
            self.assigned(&function.body, &mut all);
        }
        all
    }

    /// Returns which elements of an array the source sets by constant indices; all if it sets one by another index.
    fn written_elements(&self, id: VariableId) -> [bool; 4] {
        let mut touched = [false; 4];
        let mut target = |expr: &Expr| {
            let mut place = expr;
            let mut index = None;
            loop {
                match &place.kind {
                    ExprKind::Index(of, n) => {
                        index = Some(n);
                        place = of;
                    }
                    ExprKind::Swizzle(of, _) | ExprKind::Member(of, _) => place = of,
                    _ => break,
                }
            }
            let known =
                index.and_then(|n| self.shader.constant(n)).and_then(|n| n.first().copied());
            match known {
                Some(n) if (0.0..4.0).contains(&n) => touched[n as usize] = true,
                _ => touched = [true; 4],
            }
        };
        for function in &self.shader.functions {
            for statement in &function.body {
                statement.each(&mut |statement| {
                    statement.expressions(&mut |expr| {
                        expr.each(&mut |expr| match &expr.kind {
                            ExprKind::Assign { target: to, .. }
                            | ExprKind::Step { target: to, .. }
                                if to.root() == Some(id) =>
                            {
                                target(to);
                            }
                            ExprKind::Call(_, arguments) => arguments
                                .iter()
                                .filter(|argument| argument.root() == Some(id))
                                .for_each(&mut target),
                            _ => {}
                        });
                    });
                });
            }
        }
        touched
    }
}
