//! `--texture`: files and made-up ones, as the program sees them.

use r500::picture::{Picture, encode_png};

use super::{Folder, TEXTURE, r500};

fn draw(folder: &Folder, texture: &str, size: &str) -> Picture {
    let program = folder.write("texture.inc", TEXTURE);
    let (out, texture) = (folder.path("out.png"), format!("0={texture}"));
    r500(&["render", &program, "-o", &out, "--size", size, "--texture", &texture]).status(0);
    folder.picture("out.png")
}

#[test]
fn a_picture_as_a_texture_is_the_picture() {
    let folder = Folder::new("png-texture");
    let pixels = (0..12).map(|i| [i * 20, 255 - i, i, 200 + i]).collect();
    let picture = Picture { width: 4, height: 3, pixels };
    let file = folder.write("picture.png", encode_png(&picture).unwrap());
    assert_eq!(draw(&folder, &format!("{file},filter=nearest"), "4x3"), picture);
    let upside_down = draw(&folder, &format!("{file},filter=nearest,flip=no"), "4x3");
    assert_eq!(upside_down.pixel(0, 0), picture.pixel(0, 2));
    let swapped = draw(&folder, &format!("{file},filter=nearest,swizzle=bgr1"), "4x3");
    assert_eq!(swapped.pixel(2, 1), [6, 249, 120, 255]);
}

#[test]
fn made_up_textures() {
    let folder = Folder::new("made-up");
    let board = draw(&folder, "checker,size=2x2,cells=2,filter=nearest", "2x2");
    let (black, white) = ([0, 0, 0, 255], [255; 4]);
    assert_eq!(board.pixels, [white, black, black, white]);
    let gradient = draw(&folder, "gradient,size=16x16,filter=nearest", "16x16");
    assert_eq!(gradient.pixel(15, 15), [255, 0, 128, 255]);
    let (a, b) = (draw(&folder, "noise,seed=1", "16x16"), draw(&folder, "noise,seed=2", "16x16"));
    assert_ne!(a, b);
    assert_eq!(a, draw(&folder, "noise,seed=1", "16x16"));
    // --seed is for those that give none of their own.
    let program = folder.path("texture.inc");
    let out = folder.path("seed.png");
    let size = ["--size", "16x16", "--seed", "1", "--texture", "0=noise"];
    r500(&[&["render", &program, "-o", &out], &size[..]].concat()).status(0);
    assert_eq!(folder.picture("seed.png"), a);
}

#[test]
fn wrapping_and_borders() {
    let folder = Folder::new("wrapping");
    let program = folder.write("texture.inc", TEXTURE);
    let out = folder.path("out.png");
    let draw = |options: &str| {
        let texture = format!("0=checker,size=2x1,cells=2,filter=nearest{options}");
        // S from 1 to 3 over four pixels: texels 2, 3, 4, 5 of a texture two texels wide.
        let input = ["--input", "temp[0]=1+2*u, 0.25"];
        let base = ["render", &program, "-o", &out, "--size", "4x1", "--texture", &texture];
        r500(&[&base[..], &input].concat()).status(0);
        folder.picture("out.png").pixels.iter().map(|p| p[0]).collect::<Vec<u8>>()
    };
    // The board's lower row is black, white.
    assert_eq!(draw(""), [0, 255, 0, 255]);
    assert_eq!(draw(",wrap=mirror"), [255, 0, 0, 255]);
    assert_eq!(draw(",wrap=clamp"), [255; 4]);
    assert_eq!(draw(",wrap=border,border=#40000000"), [0x40; 4]);
}

#[test]
fn raw_texels_and_blocks() {
    let folder = Folder::new("raw");
    // 5_6_5, component 0 in the lowest bits: 0x001f is component 0 alone.
    let raw = folder.write("texels", [0x1f, 0x00, 0xe0, 0x07]);
    let texture = format!("raw:{raw},size=2x1,format=5_6_5,filter=nearest");
    let picture = draw(&folder, &texture, "2x1");
    assert_eq!(picture.pixels, [[255, 0, 0, 255], [0, 255, 0, 255]]);
    // A DXT1 block of one colour, 5_6_5 red in the highest bits: every texel is red.
    let mut dds = vec![];
    let mut words = vec![0x2053_4444u32, 124, 0x1007, 4, 4, 8, 0, 0];
    words.extend([0; 11]);
    words.extend([32, 4, u32::from_le_bytes(*b"DXT1"), 0, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0]);
    words.extend([0x0000_f800, 0]);
    dds.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    let file = folder.write("red.dds", dds);
    assert_eq!(draw(&folder, &file, "4x4").pixels, [[255, 0, 0, 255]; 16]);
}
