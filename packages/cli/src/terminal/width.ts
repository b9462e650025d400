import { escapeControls } from '@call-attribution/core/errors';

// East Asian wide and full-width characters and emoji take two cells; everything else takes one.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2}/u;
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const plain = /^[\x20-\x7e]*$/;

let segmenter: Intl.Segmenter | undefined;

function clusters(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function cellsOf(cluster: string): number {
  if (zeroWidth.test(cluster)) return 0;
  return wide.test(cluster) || emoji.test(cluster) ? 2 : 1;
}

/** How many cells of a terminal the string takes. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of clusters(text)) width += cellsOf(segment);
  return width;
}

/**
 * The string cut to at most `width` cells, with an ellipsis when something is missing. Never cuts
 * through a character.
 */
export function fit(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  let cut = '';
  let used = 0;
  for (const { segment } of clusters(text)) {
    const cells = cellsOf(segment);
    if (used + cells > width - 1) break;
    cut += segment;
    used += cells;
  }

  return `${cut}…`;
}

/** The string padded with spaces to `width` cells. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return side === 'left' ? text + space : space + text;
}

/**
 * A string from outside in one line, with no control character that could move the cursor, change
 * colors or turn the direction.
 */
export const printable = (text: string): string =>
  escapeControls(text.replace(/[\t\n\r\v\f\u0085\u2028\u2029]+/g, ' '));

/**
 * The text in lines of at most `width` cells, broken at spaces; a longer word has a line of its
 * own.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }

  return [...lines, line];
}
