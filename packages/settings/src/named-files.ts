import { resolve } from 'node:path';

// Files of what ads cost and of what calls became, by the names that reports, the page and assistants
// know them by.

/** A file under `"spend"` or `"outcomes"` of the configuration file. */
export interface NamedFile {
  /** Its absolute path. */
  readonly path: string;
  /**
   * How it is read where it does not tell: headings of spend, as `--spend-columns` takes them, or the
   * order of dates of outcomes, as `--outcome-dates` does. Null where the file tells.
   */
  readonly option: string | null;
}

/** Files of a section by their names. */
export type NamedFiles = ReadonlyMap<string, NamedFile>;

/** A section of files. */
export type FileSection = 'spend' | 'outcomes';

/** What an entry of a section says beside its file, and what it looks like. */
interface Section {
  readonly option: string;
  readonly isKnown: (how: string) => boolean;
  readonly example: string;
}

/** The orders of day, month and year. */
export const isDateOrder = (text: unknown): boolean => /^(?:dmy|mdy|ymd)$/.test(String(text));

const sections: Readonly<Record<FileSection, Section>> = {
  spend: {
    option: 'columns',
    isKnown: () => true,
    example:
      'it looks like "spend": { "google": "google.csv" }, or { "google": { "file": "google.csv", "columns": "campaign=Kampagne,cost=Kosten" } }',
  },
  outcomes: {
    option: 'dates',
    isKnown: isDateOrder,
    example:
      'it looks like "outcomes": { "sales": "sales.csv" }, or { "sales": { "file": "sales.csv", "dates": "dmy" } }, where dates is dmy, mdy or ymd',
  },
};

/** The names of all sections of files. */
export const fileSections = Object.keys(sections) as readonly FileSection[];

/** Reads a section of the configuration file at `path`, or of an account there. */
export function readNamedFiles(
  section: FileSection,
  json: unknown,
  path: string,
  report: (message: string, hint: string) => void,
): NamedFiles {
  const { option, isKnown, example } = sections[section];
  const files = new Map<string, NamedFile>();
  if (json === undefined) return files;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    report(`"${section}" must be an object of files by their names`, example);
    return files;
  }

  for (const [name, entry] of Object.entries(json)) {
    const own: unknown = typeof entry === 'string' ? { file: entry } : entry;
    const { file, [option]: how = null, ...others } = Object(own) as Record<string, unknown>;
    const isFile = typeof file === 'string' && file !== '' && Object.keys(others).length === 0;
    const isHow = how === null || (typeof how === 'string' && isKnown(how));
    if (!/^[a-z][\w-]{0,59}$/i.test(name))
      report(`${section} ${JSON.stringify(name)}: a name is letters, digits, _ and -`, example);
    else if (!isFile || !isHow)
      report(
        `${section}.${name} must be a file, or an object with "file" and "${option}"`,
        example,
      );
    else files.set(name, { path: resolve(path, '..', file), option: how });
  }

  return files;
}
