declare module "virtual:examples" {
  const examples: { name: string; about: string; text: string; glsl?: boolean; scene?: boolean; files?: [string, string][]; level: number; author?: string }[];
  export default examples;
}

declare module "virtual:lessons" {
  /** Texts are Markdown, except for programs. */
  const lessons: { name: string; title: string; about: string; program: string; task: string; solution: string; glsl: string | null }[];
  export default lessons;
}

declare module "virtual:glsl" {
  const sections: { title: string; rows: { glsl: string; program: string; note: string }[] }[];
  export default sections;
}

declare module "virtual:guide" {
  /** Whether the guide is part of the page. */
  const guide: boolean;
  export default guide;
}

/** The module and its workers, if boot.ts has started them. */
declare var r500Early: import("./machine/early.ts").Early | undefined;
