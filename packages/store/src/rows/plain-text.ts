/** How JSON.stringify writes NUL and half of a surrogate pair. */
const unreadable = /\\u(?:0000|d[89a-f])/;
const deepest = 900;

/**
 * The JSON that SQL reads: with U+FFFD for NUL and for half of a surrogate pair, which end a query in PostgreSQL and the process in
 * SQLite, and null for what is nested deeper than SQLite can read. The same text when nothing has to be replaced.
 */
export function plainText(text: string, mayBeDeep: boolean): string {
  if (!mayBeDeep && !(text.includes('\\u') && unreadable.test(text))) return text;
  return JSON.stringify(plain(JSON.parse(text), 0));
}

function plain(value: unknown, level: number): unknown {
  if (typeof value === 'string') return plainString(value);
  if (typeof value !== 'object' || value === null) return value;
  if (level >= deepest) return null;
  if (Array.isArray(value)) return value.map((each) => plain(each, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [plainString(name), plain(each, level + 1)]),
  );
}

const plainString = (text: string): string => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
