/**
 * A plain reader of RFC 4180 that tells an empty cell (null) from a quoted empty text. Slow and
 * obvious.
 */
export function parseCsv(text: string): (string | null)[][] {
  const lines: (string | null)[][] = [];
  let cells: (string | null)[] = [];
  let at = 0;
  while (at < text.length) {
    let cell: string | null = null;
    if (text[at] === '"') {
      cell = '';
      at += 1;
      while (text[at] !== '"' || text[at + 1] === '"') {
        if (text[at] === '"') at += 1;
        cell += text[at];
        at += 1;
        if (at >= text.length) throw new Error('a quoted cell has no end');
      }
      at += 1;
    } else {
      while (at < text.length && text[at] !== ',' && text[at] !== '\r' && text[at] !== '\n') {
        cell = (cell ?? '') + text[at];
        at += 1;
      }
    }
    cells.push(cell);
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    if (text.startsWith('\r\n', at)) at += 2;
    else if (text[at] === '\n') at += 1;
    else throw new Error(`neither delimiter nor line end at ${at}`);
    lines.push(cells);
    cells = [];
  }

  return lines;
}
