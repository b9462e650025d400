import { ConfigurationError } from '@call-attribution/core/errors';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { ConfigFile } from './config-file.ts';
import { isDateOrder } from './named-files.ts';

// Reports with a name, from "reports" of the configuration file. A report holds what would be typed
// for it: the options of `calls report` by their names, without the dashes.

/** A report of the configuration file: the options that are typed for it. */
export type NamedReport = Readonly<Record<string, string>>;

/** Reports by their names, and the file that has them. */
export interface Reports {
  /** The path of the file. */
  readonly path: string;
  /** Each report by its name. */
  readonly all: ReadonlyMap<string, NamedReport>;
}

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
  'outcomes',
  'outcome-dates',
  'outcome-window',
  'account',
];
/** Those of them that are true or false. */
export const reportFlags = ['include-extensions', 'no-exclude'];
/** All options that a report may hold, in the order in which they are shown. */
export const reportOptions: readonly string[] = [...texts, ...reportFlags];

/** Typing one of them replaces all of them: a report of last week with --from is one from there. */
export const reportTimes = ['period', 'from', 'to'];

/** Reads the reports of a configuration file. Throws a `ConfigurationError` for one with a mistake. */
export function reportsIn(file: ConfigFile | null): Reports {
  const path = file?.path ?? 'calls.config.json';
  const section = file?.reports ?? {};
  if (!isObject(section))
    throw wrong(`${path}: "reports" must be an object of reports by their names`);
  const all = Object.entries(section).map(
    ([name, report]) => [name, readReport(report, `${path}: reports.${name}`)] as const,
  );
  return { path, all: new Map(all) };
}

const wrong = (message: string, hint?: string): ConfigurationError =>
  new ConfigurationError('invalid_option', message, hint === undefined ? {} : { hint });

function readReport(report: unknown, place: string): NamedReport {
  if (!isObject(report))
    throw wrong(`${place} must be an object such as { "by": "campaign", "period": "last week" }`);
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(report)) {
    if (!reportOptions.includes(name)) {
      const near = nearest(name, reportOptions);
      throw wrong(
        `${place} has no option ${JSON.stringify(name)}`,
        near === undefined ? `it may have ${reportOptions.join(', ')}` : `did you mean ${near}?`,
      );
    }

    if (reportFlags.includes(name)) {
      if (typeof value !== 'boolean') throw wrong(`${place}.${name} must be true or false`);
      if (value) read[name] = 'true';
    } else if (name === 'limit') {
      if (!Number.isInteger(value) || Number(value) < 1)
        throw wrong(`${place}.limit must be a whole number from 1`);
      read[name] = String(value);
    } else if (name === 'expect') {
      const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
      if (!isList) throw wrong(`${place}.expect must be a list of texts`);
      read[name] = value.map((each) => `'${each.replaceAll("'", "''")}'`).join(',');
    } else if (name === 'outcome-dates' && !isDateOrder(value))
      throw wrong(`${place}.${name} must be dmy, mdy or ymd`);
    else if (typeof value === 'string') read[name] = value;
    else throw wrong(`${place}.${name} must be text, as it is typed for --${name}`);
  }

  return read;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
