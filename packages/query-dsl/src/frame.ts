const width = 96;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const unseen = /[\p{C}\p{Z}\p{M}]/u;

// What a character looks like in the frame, so that each cell of the text has its cell in the caret line.
const show = (char: string): string => (char !== ' ' && unseen.test(char) ? '·' : char);
const cells = (text: string): number => {
  let count = 0;
  for (const char of text) count += wide.test(char) ? 2 : 1;
  return count;
};

/**
 * The text with a caret under `start` to `end`. A long text is cut to a window around the place; characters that
 * cannot be seen are drawn as a dot, and wide ones count two cells.
 */
export function drawFrame(text: string, start: number, end: number): string {
  const from = start > width / 2 && text.length > width ? Math.min(start - width / 2, text.length - 1) : 0;
  const to = from + width;
  const draw = (part: string): string => [...part].map(show).join('');
  const before = (from > 0 ? '…' : '') + draw(text.slice(from, start));
  const marked = draw(text.slice(start, Math.min(end, to)));
  const after = draw(text.slice(start + marked.length, to)) + (to < text.length ? '…' : '');
  return `${before}${marked}${after}\n${' '.repeat(cells(before))}${'^'.repeat(cells(marked) || 1)}`;
}
