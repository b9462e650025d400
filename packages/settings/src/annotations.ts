import { nearest } from '@call-attribution/query-dsl/nearest';

// Annotations say on which day something happened that numbers should be read with, such as a new
// landing page.

/** A day with a sentence, under `"annotations"` of the configuration file. */
export interface Annotation {
  /** The day, as `2026-10-05`. */
  readonly date: string;
  /** What happened, such as `new landing page`. */
  readonly text: string;
  /** The account that it is about, by its name or its ID; null for all accounts. */
  readonly account: string | null;
}

const example =
  'it looks like { "date": "2026-10-05", "text": "new landing page" }, with "account" where it is about one';
const names = ['date', 'text', 'account'];
const longestText = 200;

/** Reads the annotations of a file, in the order of their days. Those with a mistake are reported. */
export function readAnnotations(
  json: unknown,
  report: (message: string, hint: string) => void,
): Annotation[] {
  if (json === undefined) return [];
  if (!Array.isArray(json)) {
    report('"annotations" must be a list', example);
    return [];
  }

  const annotations: Annotation[] = [];
  for (const [index, entry] of json.entries()) {
    const mistake = mistakeIn(entry);
    if (mistake !== null) {
      report(`annotations[${index}] ${mistake}`, example);
      continue;
    }

    const { date, text, account } = entry as Annotation;
    annotations.push({ date, text: text.trim(), account: account ?? null });
  }

  return annotations.sort((one, other) =>
    one.date < other.date ? -1 : Number(one.date > other.date),
  );
}

function mistakeIn(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return 'must be an object';
  const { date, text, account } = entry as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(entry).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    const meant = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
    return `has an unknown name ${JSON.stringify(unknown)}${meant}`;
  }

  if (typeof date !== 'string' || !isDay(date)) return 'needs a "date" such as "2026-10-05"';
  if (typeof text !== 'string' || text.trim() === '' || text.length > longestText)
    return `needs a "text" of at most ${longestText} characters`;
  if (/\p{Cc}/u.test(text)) return 'has a "text" with a line break or a control character';
  if (account !== undefined && account !== null && typeof account !== 'string')
    return 'has an "account" that is no text';
  return null;
}

function isDay(date: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return false;
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
