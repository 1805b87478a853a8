// Pixels of a picture that is shown at another size.

/**
 * Returns the pixel at a point of an element that shows a picture of a size, row 0 at the bottom; null outside of it.
 * `box` is the element's { left, top, width, height }.
 */
function pixelAt({ x, y }, box, [width, height]) {
  const column = Math.floor(((x - box.left) / box.width) * width);
  const row = Math.floor(((y - box.top) / box.height) * height);
  if (!(column >= 0 && column < width && row >= 0 && row < height)) return null;
  return [column, height - 1 - row];
}

if (typeof module !== "undefined") module.exports = { pixelAt };
