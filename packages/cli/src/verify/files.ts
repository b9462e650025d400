import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Call, Client, FieldSpec } from '@call-attribution/core';
import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import type { TimeSlice } from '@call-attribution/node-stream';
import { toParquet } from '@call-attribution/node-stream/encoders';
import {
  type FileForm,
  type FileRow,
  type FoundReceipt,
  type Receipt,
  readFileContents,
  readReceipt,
  receiptEnding,
} from '@call-attribution/node-stream/receipts';
import { type Filter, parse, printFilter } from '@call-attribution/query-dsl';
import { systemCode, UsageError } from '../errors.ts';
import { fieldNamed } from '../input/fields.ts';
import { withExtensions, withoutTimes } from '../input/filter.ts';
import { formOfCalls } from '../output/encode.ts';
import { formatOfName } from '../output/index.ts';
import { count, plural } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import {
  type ApiCheck,
  type Ask,
  type Check,
  type Finding,
  type Found,
  judged,
  unreadable,
} from './check.ts';
import { commonSlice, compareWithApi, type Row, Rows } from './compare.ts';

/** Something to verify: a file of records, or a database. */
export interface Target {
  readonly kind: 'file' | 'sqlite';
  /** As it is shown: the path from the folder of the command. */
  readonly path: string;
}

/** What kind of thing a name says; null for a name that says nothing. */
function kindOf(name: string): Target['kind'] | null {
  if (/\.(?:db|sqlite3?)$/i.test(name)) return 'sqlite';
  return formatOfName(name).format === null ? null : 'file';
}

/** Is it a file that commands write besides the records: such as settings? */
const isBesides = (name: string): boolean =>
  /^[._]|^calls\.config\.json$|^package(?:-lock)?\.json$/.test(name);

/** The file, or everything in the folder that holds records or has a receipt: there may be a receipt alone. */
export async function targetsAt(path: string, cwd: string): Promise<Target[]> {
  const found = await stat(resolve(cwd, path)).catch(() => null);
  if (found !== null && !found.isDirectory() && path.endsWith(receiptEnding))
    throw new UsageError(`${path} is a receipt`, {
      hints: [`calls verify ${path.slice(0, -receiptEnding.length)}`],
    });
  if (found === null && !(await stat(resolve(cwd, `${path}${receiptEnding}`)).catch(() => null)))
    throw new UsageError(`there is no file or folder ${path}`, {
      hints: ['a store is written sqlite:calls.db or postgres://user@host/name'],
    });
  if (found === null || !found.isDirectory()) return [{ kind: kindOf(path) ?? 'file', path }];
  const targets = new Map<string, Target>();
  const walk = async (at: string): Promise<void> => {
    for (const entry of await readdir(resolve(cwd, at), { withFileTypes: true })) {
      const isReceipt = entry.name.endsWith(receiptEnding);
      const name = isReceipt ? entry.name.slice(0, -receiptEnding.length) : entry.name;
      const kind = kindOf(name) ?? (isReceipt ? 'file' : null);
      const full = join(at, name);
      if (entry.isDirectory() && !name.startsWith('.')) await walk(full);
      else if (entry.isFile() && kind !== null && (isReceipt || !isBesides(name)))
        targets.set(full, { kind, path: full });
    }
  };
  await walk(path);
  if (targets.size === 0) throw new UsageError(`${path} has no files of records and no receipts`);
  return [...targets.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file and where it lies. */
export interface NamedFile {
  readonly path: string;
  readonly full: string;
}

/** What a job has read into files. */
export interface FilesOfJob {
  readonly account: string;
  readonly filter: Filter;
  readonly period: TimeSlice;
  api(): Promise<Client>;
}

/**
 * Verifies files of records, each with its receipt. With the API, the months of an account are compared together, so that what is in none
 * of them is named.
 */
export async function* checkFiles(
  files: readonly NamedFile[],
  job: FilesOfJob | null,
  ask: Ask,
): AsyncGenerator<Check, void, void> {
  const withReceipts: (NamedFile & { readonly receipt: FoundReceipt | null })[] = [];
  for (const file of files) withReceipts.push({ ...file, receipt: await readReceipt(file.full) });
  // Where others have receipts, or where a job has written all, a file without one is suspect.
  const needsReceipt = job !== null || withReceipts.some(({ receipt }) => receipt !== null);
  const groups = new Map<string, typeof withReceipts>();
  for (const file of withReceipts) {
    const key = ask.againstApi ? groupOf(file.receipt?.receipt ?? null, job) : null;
    groups.set(key ?? file.path, [...(groups.get(key ?? file.path) ?? []), file]);
  }
  for (const group of groups.values()) {
    const here = new Rows();
    const read: FileRead[] = [];
    for (const { path, full, receipt } of group) {
      const reading = () => readOne({ path, full }, { receipt, needsReceipt, here }, ask);
      try {
        read.push(await whileWaiting(`reading ${path}`, reading));
      } catch (error) {
        yield await unreadable(path, error, ask.io);
      }
    }
    const [only, ...others] = read;
    const compared = ask.againstApi ? await compareFiles(read, here, job, ask) : null;
    if (only === undefined || compared === null) for (const { found } of read) yield judged(found);
    else if (others.length === 0 && job === null) {
      const findings = [...only.found.findings, ...compared.findings];
      yield judged({ ...only.found, findings, api: compared.api });
    } else {
      for (const { found } of read) yield judged(found);
      const sum = read.reduce((sum, { found }) => sum + (found.rows ?? 0), 0);
      yield judged({ ...only.found, path: dirname(only.found.path), rows: sum, receipt: null, ...compared });
    }
  }
}

/** Files that have a key in common are parts of one period of one account. */
function groupOf(receipt: Receipt | null, job: FilesOfJob | null): string | null {
  if (job !== null) return job.account;
  if (receipt?.asked === undefined) return null;
  const { accounts, asked, rows, filter, version } = receipt;
  const others = withoutTimes(parse(filter ?? '', { version: version ?? 'v3' }));
  return JSON.stringify([accounts, asked, printFilter(others), rows.format, rows.fields]);
}

/** A file that was read, and what is known of how it was written. */
interface FileRead {
  readonly found: Found & { readonly findings: Finding[] };
  readonly form: FileForm;
  readonly isMonth: boolean;
  readonly receipt: Receipt | null;
  readonly hasMark: boolean;
  /** The fields of a call that it has; null for all of them. */
  readonly fields: readonly FieldSpec[] | null;
  /** Were all its rows read? */
  readonly isRead: boolean;
  /** Why the API cannot be asked for its calls; null when it can. */
  readonly obstacle: string | null;
}

interface Reading {
  readonly receipt: FoundReceipt | null;
  readonly needsReceipt: boolean;
  readonly here: Rows;
}

/** Reads a file and compares it with its receipt. Its rows are kept for the API. */
async function readOne(
  { path, full }: NamedFile,
  { receipt: named, needsReceipt, here }: Reading,
  { io, againstApi }: Ask,
): Promise<FileRead> {
  const receipt = named?.receipt ?? null;
  const form = formOf(path, receipt);
  const findings: Finding[] = [];
  const found = {
    path,
    rows: null as number | null,
    receipt: receipt && { writtenAt: receipt.writtenAt, proof: receipt.verdict?.proof ?? null },
    stored: null,
    api: [],
    findings,
  };
  const known = {
    form,
    isMonth: false,
    receipt,
    hasMark: false,
    fields: null,
    isRead: false,
    obstacle: null,
  };
  if (named === null && needsReceipt && !againstApi)
    findings.push({ code: 'no_receipt', text: 'there is no receipt to compare it with' });
  if (named?.receipt === null)
    findings.push({ code: 'receipt_invalid', text: `the receipt cannot be used: ${named.problem}` });
  let sample: FileRow['record'] | null = null;
  const onRow = (row: FileRow): void => {
    sample ??= row.record;
    if (againstApi) here.add(rowOf(row));
  };
  const contents = await readFileContents(full, form, {
    onRow,
    signal: io.signal,
    expected: receipt?.bytes ?? null,
  }).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT' || named === null) throw error;
    return null;
  });
  if (contents === null) {
    const text = 'there is a receipt, and the file that it describes is gone';
    return { ...known, found: { ...found, findings: [{ code: 'no_file', text }] } };
  }
  const { rows, bytes, fields: columns, fault, hasMark } = contents;
  if (fault === null || rows.count > 0) found.rows = rows.count;
  // Nothing is wrong with a Parquet file whose rows are not read because nobody knows what its bytes should be.
  const isUnknown = form.format === 'parquet' && !receipt?.bytes;
  if (fault !== null) findings.push({ code: isUnknown ? 'not_comparable' : 'unreadable', text: fault });
  if (receipt !== null) {
    const { rows: sealed, bytes: sealedBytes, verdict } = receipt;
    if (sealedBytes !== null && sealedBytes.length !== bytes.length) {
      const text = `it has ${count(bytes.length)} bytes, and the receipt says ${count(sealedBytes.length)}`;
      findings.push({ code: 'bytes', text });
    } else if (sealedBytes !== null && sealedBytes.sha256 !== bytes.sha256)
      findings.push({ code: 'bytes', text: 'its bytes are not those of the receipt: the SHA-256 differs' });
    if (fault === null && sealed.count !== rows.count) {
      const text = `it has ${plural(rows.count, 'row')}, and the receipt says ${count(sealed.count)}`;
      findings.push({ code: 'rows', text });
    } else if (fault === null && sealed.digest !== rows.digest) {
      const text = 'it has as many rows as the receipt says, but not the same ones';
      findings.push({ code: 'contents', text });
    }
    if (
      fault === null &&
      columns !== null &&
      sealed.fields !== null &&
      columns.join() !== sealed.fields.join()
    )
      findings.push({ code: 'fields', text: 'its columns are not those of the receipt' });
    if (verdict?.proof !== 'whole' && !againstApi) {
      const why = [...new Set(verdict?.gaps.map(({ why }) => why))].join(', ');
      let text = 'the receipt does not say whether all calls were read';
      if (verdict !== null)
        text = `the receipt says that the read was ${verdict.proof}${why === '' ? '' : `: ${why}`}`;
      findings.push({ code: 'not_whole', text });
    }
  }
  const names =
    columns ?? receipt?.rows.fields ?? (receipt === null && sample !== null ? Object.keys(sample) : null);
  // A month of Parquet has all fields, and what they cannot give back in a column `odd`.
  const isMonth = form.format === 'parquet' && names?.at(-1) === 'odd';
  const fields = isMonth ? [] : (names?.map(fieldNamed) ?? []);
  const areKnown = fields.every((field) => field !== null);
  let obstacle: string | null = null;
  if (receipt?.where !== undefined)
    obstacle = 'its calls were chosen by a condition on a store, which the API does not have';
  else if (receipt !== null && receipt.accounts.length > 1) obstacle = 'it has calls of several accounts';
  // A record of JSON has fields that the API has added since; a table has columns of its own.
  else if (!areKnown && (columns !== null || receipt !== null))
    obstacle = 'it has columns that are no fields of the API';
  const chosen = names !== null && !isMonth && areKnown ? fields : null;
  return { found, form, isMonth, receipt, hasMark, fields: chosen, isRead: fault === null, obstacle };
}

function rowOf({ text, record: { sid, date_added: at } }: FileRow): Row {
  // Parquet has microseconds.
  const time = typeof at === 'bigint' ? formatNaive(Number(at / 1000n)) : at;
  return { text, sid: typeof sid === 'string' ? sid : null, at: typeof time === 'string' ? time : null };
}

function formOf(path: string, receipt: Receipt | null): FileForm {
  const { format: named, gzip } = formatOfName(path);
  const format = receipt?.rows.format ?? named;
  if (format === null)
    throw new UsageError(`${path}: the name does not say a format, and there is no receipt`, {
      hints: ['names end in .ndjson, .csv, .json or .parquet (and .gz)'],
    });
  return { format, gzip };
}

/** Compares what was read with the API. Null when nothing could be read, or the API has no such calls. */
async function compareFiles(
  read: readonly FileRead[],
  here: Rows,
  job: FilesOfJob | null,
  { api, range, io }: Ask,
): Promise<{ readonly api: readonly ApiCheck[]; readonly findings: readonly Finding[] } | null> {
  const obstacle = read.find((file) => file.obstacle !== null)?.obstacle;
  if (obstacle) return { api: [], findings: [{ code: 'not_comparable', text: obstacle }] };
  const first = read.find(({ isRead }) => isRead);
  if (first === undefined) return null;
  const { found, form, isMonth, receipt, hasMark, fields } = first;
  // Nobody knows of which period an empty file is.
  if (receipt === null && job === null && found.rows === 0) return null;
  const account = job?.account ?? receipt?.accounts[0] ?? null;
  const client = job === null ? await api(account) : await job.api();
  const version = receipt?.version ?? client.version;
  if (version !== client.version)
    throw new UsageError(
      `${found.path} has records of ${version}, and the API is asked in ${client.version}`,
      { hints: [`add --api-version ${version}`] },
    );
  // calls export --format spreadsheet writes a byte order mark, and an apostrophe before what looks like a formula.
  const target = { format: form.format, gzip: false, isForSpreadsheet: hasMark };
  const { pick, encode } = formOfCalls(target, fields, version);
  const { rows } = isMonth ? toParquet<Call>() : encode[0];
  let { filter, period }: Pick<FilesOfJob, 'filter' | 'period'> = {
    filter: withExtensions({ clauses: [] }, version),
    period: { from: here.first, to: here.last && formatNaive(parseNaive(here.last) + second) },
  };
  if (job !== null) ({ filter, period } = job);
  else if (receipt?.asked !== undefined) {
    filter = withoutTimes(parse(receipt.filter ?? '', { version }));
    period = receipt.asked;
  } else if (receipt !== null) {
    filter = parse(receipt.filter ?? '', { version });
    period = { from: null, to: receipt.to };
  }
  // The read of an export ends with what lies safely in the past; what came later is not what it is about.
  // Rows without a time are compared all together.
  const has = (field: string) => fields === null || fields.some(({ name }) => name === field);
  const isTimed = has('date_added');
  const notes = read.flatMap(({ receipt }) => receipt?.verdict?.notes ?? []);
  const young = notes.filter(({ code }) => code === 'young').map(({ from }) => String(from));
  const end = isTimed ? (young.sort().at(-1) ?? null) : null;
  const to = isTimed ? period.to : null;
  return compareWithApi(
    {
      ...{ account, client, filter, here },
      period: commonSlice(range, { from: isTimed ? period.from : null, to: to ?? end }),
      rowOf: (call: Call) => ({
        at: isTimed ? (call.date_added ?? null) : null,
        sid: has('sid') ? (call.sid ?? null) : null,
        text: rows?.text(pick(call)) ?? '',
      }),
      mayLackExtensions: receipt === null && job === null,
      removed: null,
      isOneOfSeveral: job !== null,
    },
    io,
  );
}
