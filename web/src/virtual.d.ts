declare module "virtual:examples" {
  const examples: { name: string; about: string; text: string; glsl?: boolean }[];
  export default examples;
}

declare module "virtual:tutorial" {
  const lessons: { name: string; title: string; text: string }[];
  export default lessons;
}

declare module "virtual:guide" {
  /** Whether the guide is part of the page. */
  const guide: boolean;
  export default guide;
}

/** The module, if boot.ts has started to load it. */
declare var r500Module: Promise<WebAssembly.Module> | undefined;
