import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Call } from '@call-attribution/core';
import { codeOf } from '@call-attribution/core/errors';
import {
  everything,
  formatNaive,
  intersect,
  type Period,
  parseNaive,
  periodOf,
  textOf,
} from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream/copies';
import { toParquet } from '@call-attribution/node-stream/encoders';
import {
  type FileContents,
  type FileRow,
  type FoundReceipt,
  periodsOf,
  type Receipt,
  readFileContents,
  readReceipt,
  receiptEnding,
} from '@call-attribution/node-stream/receipts';
import { parse, printFilter } from '@call-attribution/query-dsl';
import { UsageError } from '../errors.ts';
import { fieldNamed } from '../input/fields.ts';
import { periodOfRange, withExtensions, withoutTimes } from '../input/filter.ts';
import { formatOfName, formOfCalls } from '../output/encode.ts';
import { count, plural } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import {
  type Ask,
  attempt,
  begin,
  type Check,
  compareWithApi,
  type Finding,
  type Part,
  type Row,
  Rows,
} from './check.ts';
import type { CheckedAccount } from './store.ts';

/**
 * Something to verify: a file of records, or a database. `path` is from the folder of the command.
 */
export interface Target {
  readonly kind: 'file' | 'sqlite';
  readonly path: string;
}

/** What kind of thing a name says; null for a name that says nothing. */
function kindOf(name: string): Target['kind'] | null {
  if (/\.(?:db|sqlite3?)$/i.test(name)) return 'sqlite';
  return formatOfName(name).format === null ? null : 'file';
}

/** Files that commands write besides the records, such as settings. */
const besides = /^[._]|^calls\.config\.json$|^package(?:-lock)?\.json$/;

/**
 * The file, or everything in the folder that holds records or has a receipt: there may be a receipt
 * alone.
 */
export async function targetsAt(path: string, cwd: string): Promise<Target[]> {
  const found = await stat(resolve(cwd, path)).catch(() => null);
  if (found?.isFile() && path.endsWith(receiptEnding))
    throw new UsageError(`${path} is a receipt`, [
      `calls verify ${path.slice(0, -receiptEnding.length)}`,
    ]);

  if (found === null && !(await stat(resolve(cwd, `${path}${receiptEnding}`)).catch(() => null)))
    throw new UsageError(`there is no file or folder ${path}`, [
      'a store is written sqlite:calls.db or postgres://user@host/name',
    ]);

  if (!found?.isDirectory()) return [{ kind: kindOf(path) ?? 'file', path }];
  const targets = new Map<string, Target>();
  const root = resolve(cwd, path);
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const isReceipt = entry.name.endsWith(receiptEnding);
    const name = isReceipt ? entry.name.slice(0, -receiptEnding.length) : entry.name;
    const kind = kindOf(name) ?? (isReceipt ? 'file' : null);
    const below = relative(root, join(entry.parentPath, name));
    const isHidden = /(?:^|[\\/])\./.test(below);
    if (entry.isFile() && kind !== null && !isHidden && (isReceipt || !besides.test(name)))
      targets.set(below, { kind, path: join(path, below) });
  }

  if (targets.size === 0) throw new UsageError(`${path} has no files of records and no receipts`);
  return [...targets.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file, where it lies, and its receipt. */
export interface FoundFile {
  readonly path: string;
  readonly full: string;
  readonly found: FoundReceipt | null;
}

/** An account of a job, and what the job has read of it into files. */
type AccountOfJob = CheckedAccount & { readonly part: Part };

/** A file that was read, as far as it could be. */
interface FileRead {
  readonly check: Check;
  readonly format: Receipt['rows']['format'];
  readonly receipt: Receipt | null;
  /** Null when it is gone. */
  readonly contents: FileContents | null;
  /** The names in its first record. */
  readonly names: readonly string[];
}

/**
 * Verifies files of records, each with its receipt, and resolves with these. With the API, the
 * months of an account are compared together, so that what is in none of them is named.
 */
export async function checkFiles(
  files: readonly Omit<FoundFile, 'found'>[],
  job: AccountOfJob | null,
  ask: Ask,
): Promise<readonly FoundFile[]> {
  const groups = new Map<string, FoundFile[]>();
  let needsReceipt = job !== null;
  for (const file of files) {
    const found = await readReceipt(file.full);
    // Where others have receipts, or where a job has written all, a file without one is suspect.
    needsReceipt ||= found !== null;
    const key = (ask.againstApi && groupOf(found?.receipt ?? null, job)) || file.path;
    groups.set(key, [...(groups.get(key) ?? []), { ...file, found }]);
  }

  for (const group of groups.values()) {
    const here = new Rows();
    const read: FileRead[] = [];
    for (const file of group) {
      const reading = async () => read.push(await readOne(file, needsReceipt, here, ask));
      await attempt(file.path, () => whileWaiting(`reading ${file.path}`, reading), ask);
    }
    const checks = read.map(({ check }) => check);
    const [first] = checks;
    if (ask.againstApi && first !== undefined) {
      const rows = checks.reduce((sum, check) => sum + (check.rows ?? 0), 0);
      const isAlone = checks.length === 1 && job === null;
      const all = isAlone ? first : begin(dirname(first.path), { rows });
      if ((await compareFiles(all, read, here, job, ask)) && !isAlone) checks.push(all);
    }
    ask.checks.push(...checks);
  }

  return [...groups.values()].flat();
}

/**
 * Verifies that the months of an account in one folder are all that their receipts were asked for
 * with, and that none of them is there twice.
 */
export function checkMonths(files: readonly FoundFile[], ask: Ask): void {
  const sets = new Map<string, Receipt[]>();
  for (const { path, found } of files) {
    const receipt = found?.receipt ?? null;
    if (receipt?.asked === undefined) continue;
    const { accounts, filter, version, where } = receipt;
    const others = printFilter(withoutTimes(parse(filter ?? '', { version: version ?? 'v3' })));
    const key = JSON.stringify([dirname(path), accounts, where, version, others]);
    sets.set(key, [...(sets.get(key) ?? []), receipt]);
  }

  for (const [key, receipts] of sets) {
    const { missing, doubled } = periodsOf(receipts);
    const findings: Finding[] = [
      ...missing.map((period) => ({
        code: 'no_file' as const,
        text: `no file is about ${periodText(period)}, which was asked for: export into this folder again`,
      })),
      ...doubled.map(({ file, from, to }) => ({
        code: 'misplaced' as const,
        text: `${file} is about ${periodText(periodOfRange({ from, to }))}, and so is another file: one of them is of another export`,
      })),
    ];
    if (findings.length > 0) ask.checks.push(begin(String(JSON.parse(key)[0]), { findings }));
  }
}

function periodText(period: Period): string {
  const { from, to } = textOf(period);
  if (from === null) return to === null ? 'any time' : `the time before ${to}`;
  return to === null ? `${from} and later` : `${from} to ${to}`;
}

/**
 * What is wrong with the place of a month, as its receipt says; null when nothing is. Other files
 * may have any name.
 */
function misplaced(full: string, { asked, file, accounts }: Receipt): string | null {
  if (asked === undefined) return null;
  if (basename(full) !== file) return `its receipt is that of ${file}`;
  const [, account] = /^account=(.*)$/.exec(basename(dirname(full))) ?? [];
  if (account === undefined || accounts.includes(account)) return null;
  return `its receipt is of account ${accounts.join(', ')}`;
}

/** Files that have a key in common are parts of one period of one account. */
function groupOf(receipt: Receipt | null, job: AccountOfJob | null): string | null {
  if (job !== null) return job.id;
  if (receipt?.asked === undefined) return null;
  const { accounts, asked, rows, filter, version, where } = receipt;
  const others = withoutTimes(parse(filter ?? '', { version: version ?? 'v3' }));
  return JSON.stringify([accounts, asked, where, printFilter(others), rows.format, rows.fields]);
}

/** Reads a file and compares it with its receipt. Its rows are kept for the API. */
async function readOne(
  { path, full, found }: FoundFile,
  needsReceipt: boolean,
  here: Rows,
  { signal, againstApi }: Ask,
): Promise<FileRead> {
  const receipt = found?.receipt ?? null;
  const { format: named, gzip } = formatOfName(path);
  const format = receipt?.rows.format ?? named;
  if (format === 'xlsx')
    throw new UsageError(`${path}: an Excel file is for people, and cannot be compared`, [
      'write CSV, NDJSON or Parquet to compare it later',
    ]);
  if (format === null)
    throw new UsageError(`${path}: the name does not say a format, and there is no receipt`, [
      'names end in .ndjson, .csv, .json or .parquet (and .gz)',
    ]);

  const sealed = receipt && { writtenAt: receipt.writtenAt, proof: receipt.verdict?.proof ?? null };
  const only = describe(receipt?.verdict ?? {}).scope;
  const check = begin(path, { receipt: sealed, only });
  const find = (code: Finding['code'], text: string) => check.findings.push({ code, text });
  if (found === null && needsReceipt && !againstApi)
    find('no_receipt', 'there is no receipt to compare it with');
  const names: string[] = [];

  const onRow = (row: FileRow): void => {
    if (names.length === 0) names.push(...Object.keys(row.record));
    if (againstApi) here.add(rowOf(row));
  };

  const expected = receipt?.bytes ?? null;
  const options = { onRow, signal, expected };
  const contents = await readFileContents(full, { format, gzip }, options).catch(
    (error: unknown) => {
      if (codeOf(error) !== 'ENOENT' || found === null) throw error;
      find('no_file', 'there is a receipt, and the file that it describes is gone');
      return null;
    },
  );
  const read = { check, format, receipt, contents, names };
  if (contents === null) return read;
  if (found?.receipt === null)
    find('receipt_invalid', `the receipt cannot be used: ${found.problem}`);
  const { rows, bytes, fault } = contents;
  if (fault === null || rows.count > 0) check.rows = rows.count;

  // Nothing is wrong with a Parquet file whose rows are not read because nobody knows what its
  // bytes should be.
  if (fault !== null)
    find(format === 'parquet' && !expected ? 'not_comparable' : 'unreadable', fault);
  if (expected !== null && expected.sha256 !== bytes.sha256)
    find('bytes', 'its bytes are not those of the receipt: the SHA-256 differs');
  if (receipt === null) return read;
  const elsewhere = misplaced(full, receipt);
  if (elsewhere !== null) find('misplaced', elsewhere);
  if (fault === null && receipt.rows.count !== rows.count)
    find(
      'rows',
      `it has ${plural(rows.count, 'row')}, and the receipt says ${count(receipt.rows.count)}`,
    );
  else if (fault === null && receipt.rows.digest !== rows.digest)
    find('contents', 'it has as many rows as the receipt says, but not the same ones');

  const { proof, gaps } = receipt.verdict ?? { proof: 'unproven', gaps: [] };
  if (proof !== 'whole' && !againstApi) {
    const why = [...new Set(gaps.map(({ why }) => why))].join(', ');
    find('not_whole', `the receipt says that the read was ${proof}${why === '' ? '' : `: ${why}`}`);
  }

  return read;
}

function rowOf({ text, record: { sid, date_added: at } }: FileRow): Row {
  // Parquet has microseconds.
  const time = typeof at === 'bigint' ? formatNaive(Number(at / 1000n)) : at;
  return {
    text,
    sid: typeof sid === 'string' ? sid : null,
    at: typeof time === 'string' ? time : null,
  };
}

/**
 * Compares what was read with the API. False when nothing could be read, or the API has no such
 * calls.
 */
async function compareFiles(
  check: Check,
  read: readonly FileRead[],
  here: Rows,
  job: AccountOfJob | null,
  ask: Ask,
): Promise<boolean> {
  const first = read.find(({ contents }) => contents?.fault === null);
  if (!first?.contents) return false;
  const { format, receipt, contents } = first;

  // Nobody knows of which period an empty file is.
  if (receipt === null && job === null && contents.rows.count === 0) return false;
  const names = contents.fields ?? (receipt === null ? first.names : receipt.rows.fields) ?? [];

  // A month of Parquet has all fields, and what they cannot give back in a column `odd`.
  const isMonth = format === 'parquet' && names.at(-1) === 'odd';
  const known = names.map(fieldNamed).filter((field) => field !== null);

  // A record of JSON has fields that the API has added since; a table has columns of its own.
  const isStrange = known.length < names.length && !isMonth;
  let obstacle: string | null = null;
  if (receipt?.where !== undefined)
    obstacle =
      'its calls were chosen by a condition (--where), which the API cannot be asked for; export again with the same condition to compare';
  else if (receipt !== null && receipt.accounts.length > 1)
    obstacle = 'it has calls of several accounts';
  else if (contents.fields !== null && isStrange)
    obstacle = 'it has columns that are no fields of the API';

  if (obstacle !== null) {
    check.findings.push({ code: 'not_comparable', text: obstacle });
    return true;
  }

  const fields = known.length === 0 || isStrange || isMonth ? null : known;
  const account = job?.id ?? receipt?.accounts[0] ?? null;
  const client = await (job === null ? ask.api(account) : job.api());
  const version = receipt?.version ?? client.version;
  if (version !== client.version)
    throw new UsageError(
      `${first.check.path} has records of ${version}, and the API is asked in ${client.version}`,
      [`add --api-version ${version}`],
    );

  // calls export --format spreadsheet writes a byte order mark, and an apostrophe before what looks
  // like a formula.
  const target = { format, gzip: false, isForSpreadsheet: contents.hasMark };
  const { pick, encode } = formOfCalls(target, fields, version);
  const { rows } = isMonth ? toParquet<Call>() : encode[0];
  let { filter, period }: Part = {
    filter: withExtensions({ clauses: [] }, version),
    period: here.period,
  };
  if (job !== null) ({ filter, period } = job.part);
  else if (receipt !== null) {
    filter = parse(receipt.filter ?? '', { version });
    period = periodOfRange(receipt.asked ?? { from: null, to: receipt.to });
    if (receipt.asked !== undefined) filter = withoutTimes(filter);
  }

  // The read of an export ends with what lies safely in the past; what came later is not what it is
  // about.
  const notes = read.flatMap(({ receipt }) => receipt?.verdict?.notes ?? []);
  const young = notes
    .filter(({ code }) => code === 'young')
    .map(({ from }) => parseNaive(String(from)));

  // Rows without a time are compared all together.
  const has = (field: string) => fields === null || fields.some(({ name }) => name === field);
  const isTimed = has('date_added');
  if (!isTimed) period = everything;
  else if (period.to === null && young.length > 0)
    period = periodOf(period.from, Math.max(...young));

  const compared = intersect(ask.period, period);
  if (compared === null) return false;

  const rowOf = (call: Call): Row => ({
    at: isTimed ? (call.date_added ?? null) : null,
    sid: has('sid') ? (call.sid ?? null) : null,
    text: rows?.text(pick(call)) ?? '',
  });

  await compareWithApi(
    check,
    {
      account,
      client,
      filter,
      here,
      rowOf,
      removed: null,
      period: compared,
      mayLackExtensions: receipt === null && job === null,
      isOneOfSeveral: job !== null,
    },
    ask,
  );
  return true;
}
