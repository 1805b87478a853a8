declare module "virtual:examples" {
  const examples: { name: string; about: string; text: string }[];
  export default examples;
}
