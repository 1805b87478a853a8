// The script of the preview's page: shows pictures and errors, reports the pixel that is clicked.
const api = acquireVsCodeApi();
const element = (id) => document.getElementById(id);
const [canvas, about, error, time] = ["picture", "about", "error", "time"].map(element);
const context = canvas.getContext("2d", { willReadFrequently: true });
const size = () => [canvas.width, canvas.height];
let title = "";

const under = (event) => pixelAt({ x: event.clientX, y: event.clientY }, canvas.getBoundingClientRect(), size());

window.addEventListener("message", ({ data }) => {
  error.hidden = data.error === undefined;
  error.textContent = data.error ?? "";
  // The last picture stays while the program has errors.
  canvas.classList.toggle("old", data.error !== undefined);
  if (data.png === undefined) return;
  const image = new Image();
  image.onload = () => {
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    context.drawImage(image, 0, 0);
    title = `${data.name}, ${canvas.width} x ${canvas.height}; click on a pixel to debug it`;
    about.textContent = title;
  };
  image.src = `data:image/png;base64,${data.png}`;
});

canvas.addEventListener("mousemove", (event) => {
  const pixel = under(event);
  if (!pixel) return;
  const [x, y] = pixel;
  const color = [...context.getImageData(x, canvas.height - 1 - y, 1, 1).data];
  about.textContent = `pixel ${x},${y}: ${color.join(" ")}`;
});
canvas.addEventListener("mouseleave", () => {
  about.textContent = title;
});
canvas.addEventListener("click", (event) => {
  const pixel = under(event);
  if (pixel) api.postMessage({ pixel });
});
time.addEventListener("input", () => {
  const seconds = time.value === "" ? null : Number(time.value);
  if (seconds === null || Number.isFinite(seconds)) api.postMessage({ time: seconds });
});
api.postMessage({ ready: true });
