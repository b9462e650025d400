import { resolve } from 'node:path';

// Files of what ads cost, by the names that reports, the page and assistants know them by.

/** A file under `"spend"` of the configuration file. */
export interface SpendFile {
  /** Its absolute path. */
  readonly path: string;
  /** Its headings, as `--spend-columns` takes them; null where they are the usual ones. */
  readonly columns: string | null;
}

const example =
  'it looks like "spend": { "google": "google.csv" }, or { "google": { "file": "google.csv", "columns": "campaign=Kampagne,cost=Kosten" } }';

/** Reads the files of the configuration file at `path`, or of an account there. */
export function readSpendFiles(
  json: unknown,
  path: string,
  report: (message: string, hint: string) => void,
): ReadonlyMap<string, SpendFile> {
  const files = new Map<string, SpendFile>();
  if (json === undefined) return files;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    report('"spend" must be an object of files by their names', example);
    return files;
  }

  for (const [name, entry] of Object.entries(json)) {
    const own: unknown = typeof entry === 'string' ? { file: entry } : entry;
    const { file, columns = null, ...others } = Object(own) as Readonly<Record<string, unknown>>;
    const isFile = typeof file === 'string' && file !== '';
    const isKnown = Object.keys(others).length === 0;
    if (!/^[a-z][\w-]{0,59}$/i.test(name))
      report(`spend ${JSON.stringify(name)}: a name is letters, digits, _ and -`, example);
    else if (!isFile || !isKnown || (columns !== null && typeof columns !== 'string'))
      report(`spend.${name} must be a file, or an object with "file" and "columns"`, example);
    else files.set(name, { path: resolve(path, '..', file), columns });
  }

  return files;
}
