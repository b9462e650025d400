/**
 * The text with a caret under the `length` characters at `start`. A long text is cut to a window around the place; characters that
 * cannot be seen are drawn as a dot, and the caret stays in line below wide ones.
 */
export function drawFrame(text: string, start: number, length: number): string {
  const from = Math.max(0, start - 48);
  const draw = (a: number, b: number): string => text.slice(a, b).replace(/[^ -~\u2e80-\uffff]/g, '·');
  const before = (from ? '...' : '') + draw(from, start);
  // From Hangul on, symbols aside, a character takes two cells; so does the ideographic space.
  const under = before.replace(/[^\u2e80-\uffff]/g, ' ').replace(/[^ ]/gu, '\u3000');
  const after = draw(start, from + 96);
  return `${before}${after}${text[from + 96] ? '...' : ''}\n${under}${'^'.repeat(Math.min(length, after.length) || 1)}`;
}
