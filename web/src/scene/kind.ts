// What a text is: a scene, which the virtual card draws, or a program.

/** Returns whether a text is a scene: its first word after comments is SCENE, as the libraries decide it. */
export const isScene = (text: string): boolean => /^\u{feff}?\s*(?:--[^\n]*\n\s*)*SCENE(?![a-z0-9_])/iu.test(text);
