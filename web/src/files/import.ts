// Import of pictures as textures. The browser decodes formats that the libraries do not read.

/** Returns the kind of a picture file by its first bytes; `undefined` if it is not a picture. */
export function pictureKind(bytes: Uint8Array): "native" | "browser" | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  if (head.startsWith("\x89PNG") || head.startsWith("DDS ") || head.startsWith("\xabKTX 20")) return "native";
  const riff = head.startsWith("RIFF") && head.slice(8, 12) === "WEBP";
  if (head.startsWith("\xff\xd8\xff") || riff || head.startsWith("GIF8") || head.startsWith("BM") || head.slice(4, 12) === "ftypavif") return "browser";
  return undefined;
}

/** Returns a picture as a file that the libraries read: unchanged, or as PNG. */
export async function asTexture(name: string, bytes: Uint8Array): Promise<{ name: string; bytes: Uint8Array }> {
  const safe = name.replace(/["\\\n\r]/g, "_");
  if (pictureKind(bytes) !== "browser") return { name: safe, bytes };
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(new Blob([bytes as BlobPart]), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  } catch {
    throw new Error("this browser cannot read the picture; PNG, DDS and KTX2 always work");
  }
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  picture.close();
  const png = await canvas.convertToBlob({ type: "image/png" });
  return { name: safe.replace(/\.\w+$/, "") + ".png", bytes: new Uint8Array(await png.arrayBuffer()) };
}
