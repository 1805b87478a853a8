//! Properties of mode-setting objects, and the primary plane.

use bytemuck::{Pod, Zeroable};
use r500_stream::PixelFormat;

use crate::abi::{GetProperty, ObjectProperties, Plane, PlaneResources, SetPlane};
use crate::lock::locked;
use crate::mode_objects::{CONNECTOR, CRTC, PLANE, exists, list};
use crate::{Errno, File, Program};

/// A property with its named values.
struct Property {
    id: u32,
    name: &'static str,
    /// The object that has it.
    object: u32,
    immutable: bool,
    value: u64,
    names: &'static [&'static str],
}

/// All of them; values count from 0 in the order of their names.
const PROPERTIES: [Property; 2] = [
    Property {
        id: 5,
        name: "DPMS",
        object: CONNECTOR,
        immutable: false,
        value: 0,
        names: &["On", "Standby", "Suspend", "Off"],
    },
    Property {
        id: 6,
        name: "type",
        object: PLANE,
        immutable: true,
        value: 1,
        names: &["Overlay", "Primary", "Cursor"],
    },
];

/// `drm_mode_property_enum`
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct PropertyEnum {
    value: u64,
    name: [u8; 32],
}

fn padded(text: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

/// Fills the lists of an object's properties and their values.
pub(crate) fn of_object(
    program: &Program,
    object: u32,
    [ids, values]: [u64; 2],
    count: &mut u32,
) -> Result<(), Errno> {
    let of = || PROPERTIES.iter().filter(|property| property.object == object);
    let mut same = *count;
    list(program, &of().map(|p| p.value).collect::<Vec<_>>(), values, &mut same)?;
    list(program, &of().map(|p| p.id).collect::<Vec<_>>(), ids, count)
}

impl File {
    pub(crate) fn get_object_properties(
        program: &Program,
        object: &mut ObjectProperties,
    ) -> Result<(), Errno> {
        of_object(program, object.object, [object.props, object.values], &mut object.count)
    }

    pub(crate) fn get_property(program: &Program, property: &mut GetProperty) -> Result<(), Errno> {
        /// `DRM_MODE_PROP_IMMUTABLE`
        const IMMUTABLE: u32 = 1 << 2;
        /// `DRM_MODE_PROP_ENUM`
        const ENUM: u32 = 1 << 3;
        let known = PROPERTIES.iter().find(|p| p.id == property.id).ok_or(Errno::NOENT)?;
        property.flags = ENUM | if known.immutable { IMMUTABLE } else { 0 };
        property.name = padded(known.name);
        let names: Vec<PropertyEnum> = (0..)
            .zip(known.names)
            .map(|(value, name)| PropertyEnum { value, name: padded(name) })
            .collect();
        let values: Vec<u64> = names.iter().map(|name| name.value).collect();
        list(program, &values, property.values, &mut property.count_values)?;
        list(program, &names, property.enums, &mut property.count_enums)
    }

    /// Sets a property. Turning the screen off has no effect on frames.
    pub(crate) fn set_property(id: u32, object: u32, value: u64) -> Result<(), Errno> {
        let known = PROPERTIES.iter().find(|p| p.id == id && p.object == object);
        let known = known.ok_or(Errno::NOENT)?;
        let fits = !known.immutable && value < known.names.len() as u64;
        if fits { Ok(()) } else { Err(Errno::INVAL) }
    }

    /// Lists the primary plane, for programs with the universal planes capability; without it, only overlays are
    /// listed, of which there are none.
    pub(crate) fn get_planes(
        &self,
        program: &Program,
        resources: &mut PlaneResources,
    ) -> Result<(), Errno> {
        let planes: &[u32] = if self.lists_all_planes() { &[PLANE] } else { &[] };
        list(program, planes, resources.planes, &mut resources.count)
    }

    pub(crate) fn get_plane(&self, program: &Program, plane: &mut Plane) -> Result<(), Errno> {
        exists(plane.id, PLANE)?;
        let shown = locked(&self.device.display).shown;
        (plane.crtc, plane.fb) = (if shown == 0 { 0 } else { CRTC }, shown);
        (plane.possible_crtcs, plane.gamma_size) = (1, 0);
        let formats: Vec<u32> = PixelFormat::ALL.iter().map(|format| format.code()).collect();
        list(program, &formats, plane.formats, &mut plane.count_formats)
    }

    /// Shows a full frame buffer on the plane.
    pub(crate) fn set_plane(&self, plane: &SetPlane) -> Result<(), Errno> {
        exists(plane.id, PLANE)?;
        if plane.fb == 0 || plane.crtc == 0 {
            locked(&self.device.display).shown = 0;
            return Ok(());
        }
        exists(plane.crtc, CRTC)?;
        self.show(plane.fb)
    }
}
