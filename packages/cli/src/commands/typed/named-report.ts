import { ConfigurationError } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl/nearest';
import {
  type NamedReport,
  type Reports,
  reportFlags,
  reportOptions,
  reportsIn,
  reportTimes,
} from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { argsOf, listIn } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { readFileSettings } from './settings.ts';

/** The reports of the configuration file. */
interface FileReports extends Reports {
  /** Is there a configuration file? */
  readonly hasFile: boolean;
}

const noFile = 'there is no configuration file, which names reports';

/** Reads the reports of the configuration file. */
export function readReports(args: Args, io: Io): FileReports {
  try {
    const { file } = readFileSettings(args, io);
    return { ...reportsIn(file), hasFile: file !== null };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { summary, hint } = error;
    throw new UsageError(summary, hint === undefined ? [] : [hint]);
  }
}

/** The options of a report, as if they were typed alone. */
export const typedOf = (report: NamedReport): Args =>
  argsOf(
    'report',
    [],
    reportOptions,
    new Map(Object.entries(report).map(([name, text]) => [name, [text]])),
  );

/**
 * What was typed, with the options of the report that it names; these come second. With
 * `--json-definition` a new name is that of the report that was typed.
 */
export function withReport(args: Args, io: Io): Args {
  const [name] = args.words;
  if (name === undefined) return args;
  const { path, all, hasFile } = readReports(args, io);
  const report = all.get(name);
  if (report === undefined && args.flag('json-definition') && typedIn(args).length > 0) return args;
  if (report === undefined) {
    const names = [...all.keys()];
    const near = nearest(name, names);
    let some = names.length === 0 ? `${path} has no reports` : `it has ${names.join(', ')}`;
    if (!hasFile) some = '--config (CALLS_CONFIG) says where it is';
    const where = hasFile ? ` in ${path}` : `: ${noFile}`;
    const isFile = /[./]/.test(name);
    throw new UsageError(`there is no report ${JSON.stringify(name)}${where}`, [
      near === undefined ? some : `did you mean ${near}?`,
      ...(isFile ? [`--json takes no value; --output ${name} writes a file`] : []),
    ]);
  }

  const isTimed = reportTimes.some((time) => args.flag(time));
  const own = new Map(
    Object.entries(report).filter(
      ([option]) => !args.flag(option) && !(isTimed && reportTimes.includes(option)),
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
export function reportList({ path, all, hasFile }: FileReports): string[] {
  if (all.size === 0) return [hasFile ? `${path} has no reports` : noFile];
  const width = Math.max(...[...all.keys()].map((name) => name.length));
  return [...all].map(([name, { title = '', by = 'day', period = '' }]) => {
    const about = title === '' ? [`by ${by}`, period].filter(Boolean).join(', ') : title;
    return `${name.padEnd(width)}  ${about}`;
  });
}

/** The options of a report that were typed. */
const typedIn = (args: Args) => reportOptions.filter((name) => args.has(name) && args.flag(name));

/** What was typed, as a report to paste into the configuration file. */
export function definitionOf(args: Args): string {
  const typed = typedIn(args).map((name): readonly [string, unknown] => {
    if (reportFlags.includes(name)) return [name, true];
    if (name === 'limit') return [name, args.integer(name)];
    if (name === 'expect') return [name, expectedIn(args)];
    const isList = name === 'by' || name === 'account';
    return [name, isList ? args.list(name).join(',') : args.text(name)];
  });
  const name = args.words[0] ?? 'weekly';
  return JSON.stringify({ reports: { [name]: Object.fromEntries(typed) } }, null, 2);
}
