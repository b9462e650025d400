import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args } from '../../args.ts';
import { argsOf, listIn } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { readFileSettings } from './settings.ts';

// Reports with a name, from "reports" of the configuration file. A report holds what would be typed
// for it: the options of `calls report` by their names, without the dashes.

/** A report of the configuration file: the options that are typed for it. */
type Report = Readonly<Record<string, string>>;

/** Reports by their names, and the file that has them. */
export interface Reports {
  readonly path: string;
  readonly all: ReadonlyMap<string, Report>;
}

/** Options that a report may hold, in the order in which they are shown. */
const texts = [
  'title',
  'by',
  'measures',
  'where',
  'q',
  'min-talk',
  'fail-if',
  'expect',
  'order',
  'limit',
  'period',
  'from',
  'to',
  'compare',
  'spend',
  'spend-columns',
  'account',
];
const flags = ['include-extensions', 'no-exclude'];
const known = [...texts, ...flags];

/** Typing one of them replaces all of them: a report of last week with --from is one from there. */
const times = ['period', 'from', 'to'];

/** Reads the reports of the configuration file. */
export function readReports(args: Args, io: Io): Reports {
  const { file } = readFileSettings(args, io);
  const section = file?.reports ?? {};
  const path = file?.path ?? 'calls.config.json';
  if (!isObject(section))
    throw new UsageError(`${path}: "reports" must be an object of reports by their names`);
  const all = Object.entries(section).map(
    ([name, report]) => [name, readReport(report, `${path}: reports.${name}`)] as const,
  );
  return { path, all: new Map(all) };
}

function readReport(report: unknown, place: string): Report {
  if (!isObject(report))
    throw new UsageError(
      `${place} must be an object such as { "by": "campaign", "period": "last week" }`,
    );
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(report)) {
    if (!known.includes(name)) {
      const near = nearest(name, known);
      throw new UsageError(`${place} has no option ${JSON.stringify(name)}`, [
        near === undefined ? `it may have ${known.join(', ')}` : `did you mean ${near}?`,
      ]);
    }

    if (flags.includes(name)) {
      if (typeof value !== 'boolean')
        throw new UsageError(`${place}.${name} must be true or false`);
      if (value) read[name] = 'true';
    } else if (name === 'limit') {
      if (!Number.isInteger(value) || Number(value) < 1)
        throw new UsageError(`${place}.limit must be a whole number from 1`);
      read[name] = String(value);
    } else if (name === 'expect') {
      const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
      if (!isList) throw new UsageError(`${place}.expect must be a list of texts`);
      read[name] = value.map((each) => `'${each.replaceAll("'", "''")}'`).join(',');
    } else if (typeof value === 'string') read[name] = value;
    else throw new UsageError(`${place}.${name} must be text, as it is typed for --${name}`);
  }

  return read;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The options of a report, as if they were typed alone. */
export const typedOf = (report: Report): Args =>
  argsOf(
    'report',
    [],
    known,
    new Map(Object.entries(report).map(([name, text]) => [name, [text]])),
  );

/** What was typed, with the options of the report that it names; these come second. */
export function withReport(args: Args, io: Io): Args {
  const [name] = args.words;
  if (name === undefined) return args;
  const { path, all } = readReports(args, io);
  const report = all.get(name);
  if (report === undefined) {
    const names = [...all.keys()];
    const near = nearest(name, names);
    const some = names.length === 0 ? `${path} has no reports` : `it has ${names.join(', ')}`;
    const isFile = /[./]/.test(name);
    throw new UsageError(`there is no report ${JSON.stringify(name)} in ${path}`, [
      near === undefined ? some : `did you mean ${near}?`,
      ...(isFile ? [`--json takes no value; --output ${name} writes a file`] : []),
    ]);
  }

  const isTimed = times.some((time) => args.flag(time));
  const own = new Map(
    Object.entries(report).filter(
      ([option]) => !args.flag(option) && !(isTimed && times.includes(option)),
    ),
  );
  return {
    ...args,
    text: (option) => own.get(option) ?? args.text(option),
    need: (option) => own.get(option) ?? args.need(option),
    flag: (option) => own.has(option) || args.flag(option),
    list(option) {
      const text = own.get(option);
      return text === undefined ? args.list(option) : listIn(text);
    },
    integer: (option) => (own.has(option) ? Number(own.get(option)) : args.integer(option)),
  };
}

/** The values of --expect, separated by commas; one with a comma stands in single quotes. */
export function expectedIn(args: Args): string[] {
  const parts = (args.text('expect') ?? '').matchAll(/\s*(?:'((?:[^']|'')*)'|([^,]*?))\s*(?:,|$)/g);
  return Array.from(
    parts,
    ([, quoted, plain]) => quoted?.replaceAll("''", "'") ?? plain ?? '',
  ).filter(Boolean);
}

/** The names and titles of all reports, a line each. */
export function reportList({ path, all }: Reports): string[] {
  if (all.size === 0) return [`${path} has no reports`];
  const width = Math.max(...[...all.keys()].map((name) => name.length));
  return [...all].map(([name, { title = '', by = 'day', period = '' }]) => {
    const about = title === '' ? [`by ${by}`, period].filter(Boolean).join(', ') : title;
    return `${name.padEnd(width)}  ${about}`;
  });
}

/** What was typed, as a report to paste into the configuration file. */
export function definitionOf(args: Args): string {
  const typed = known.flatMap((name): (readonly [string, unknown])[] => {
    if (!args.has(name) || !args.flag(name)) return [];
    if (flags.includes(name)) return [[name, true]];
    if (name === 'limit') return [[name, args.integer(name)]];
    if (name === 'expect') return [[name, expectedIn(args)]];
    const isList = name === 'by' || name === 'account';
    return [[name, isList ? args.list(name).join(',') : args.text(name)]];
  });
  const name = args.words[0] ?? 'weekly';
  return JSON.stringify({ reports: { [name]: Object.fromEntries(typed) } }, null, 2);
}
