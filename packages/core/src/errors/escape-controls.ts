// Tab and line feed stay; a carriage return stays only before a line feed.
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;

/**
 * Writes control characters and overrides of the direction of text as `\u001b` and the like, so
 * that text from a server, a file or a name can move no cursor, change no title and hide nothing in
 * a terminal or a log. JSON stays the same JSON.
 */
export function escapeControls(text: string): string {
  return text.replace(
    controls,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
