import { resolve } from 'node:path';
import type { Call, FieldSpec } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import {
  type FileContents,
  type FileForm,
  type FileRow,
  type Receipt,
  readFileContents,
  readReceipt,
} from '@call-attribution/node-stream/receipts';
import { parse } from '@call-attribution/query-dsl';
import { UsageError } from '../errors.ts';
import { encodingOf, picked } from '../export/encode.ts';
import { type FileFormat, formatOfName } from '../output/target.ts';
import { fieldNamed } from '../reading/fields.ts';
import { whileWaiting } from '../term/waiting.ts';
import { compareWithApi } from './api.ts';
import type { Ask } from './ask.ts';
import {
  type ApiCheck,
  bytesDifference,
  type Check,
  doubts,
  type Finding,
  receiptProblem,
  rowsDifference,
  summaryOf,
  verdictOf,
} from './finding.ts';
import type { ComparedRow } from './stretches.ts';

/** Verifies a file of records: with its receipt, and with the API when that is asked for. */
export async function checkFile(path: string, ask: Ask): Promise<Check> {
  const { io } = ask;
  const full = resolve(io.cwd, path);
  const found = await readReceipt(full);
  const receipt = found?.receipt ?? null;
  const findings = receiptProblem(found);
  const form = formOf(path, receipt);
  let sample: FileRow['record'] | null = null;
  const onRow = ({ record }: FileRow): void => {
    sample ??= record;
  };
  const contents = await whileWaiting(`reading ${path}`, () =>
    readFileContents(full, form, { onRow, signal: io.signal, expected: receipt?.bytes ?? null }),
  );
  // Nothing is wrong with a Parquet file whose rows are not read because nobody knows what its bytes should be.
  const isUnknown = form.format === 'parquet' && !receipt?.bytes;
  if (contents.fault !== null)
    findings.push({ code: isUnknown ? 'not_comparable' : 'unreadable', text: contents.fault });
  if (receipt !== null) findings.push(...differencesFrom(receipt, contents));
  const api: ApiCheck[] = [];
  if (ask.againstApi && contents.fault === null) {
    const fields = fieldsIn(contents, receipt, sample);
    const obstacle = obstacleTo(receipt);
    if (fields === 'unknown')
      findings.push({ code: 'not_comparable', text: 'it has columns that are no fields of the API' });
    else if (obstacle !== null) findings.push({ code: 'not_comparable', text: obstacle });
    else {
      const compared = await againstApi(full, form, { receipt, fields, hasMark: contents.hasMark }, ask);
      api.push(compared.check);
      findings.push(...compared.findings);
    }
  }
  const isUnread = contents.fault !== null && contents.rows.count === 0;
  const isCompared = receipt !== null || api.length > 0;
  if (receipt !== null && api.length === 0) findings.push(...doubts(receipt));
  return {
    path,
    verdict: verdictOf(
      findings.filter(({ code }) => code !== 'no_receipt' || api.length === 0),
      isCompared,
    ),
    rows: isUnread ? null : contents.rows.count,
    digest: isUnread ? null : contents.rows.digest,
    receipt: receipt && summaryOf(receipt),
    api,
    findings,
  };
}

function formOf(path: string, receipt: Receipt | null): FileForm {
  const { format: named, gzip } = formatOfName(path);
  const rows = receipt?.rows;
  const isFile = rows !== undefined && rows.format !== 'store';
  const format = isFile ? rows.format : named;
  if (format === null)
    throw new UsageError(`${path}: the name does not say a format, and there is no receipt`, {
      hints: ['names end in .ndjson, .csv, .json or .parquet (and .gz)'],
    });
  return { format, gzip, delimiter: rows?.delimiter ?? null };
}

/** What is in the file and not in its receipt, or the other way round. */
function differencesFrom({ rows, bytes }: Receipt, contents: FileContents): Finding[] {
  const found = bytes === null ? [] : bytesDifference(bytes, contents.bytes);
  if (contents.fault !== null) return found;
  found.push(...rowsDifference(rows, contents.rows));
  const isNamed = contents.fields !== null && rows.fields !== null;
  if (isNamed && contents.fields.join() !== rows.fields.join())
    found.push({ code: 'fields', text: 'its columns are not those of the receipt' });
  return found;
}

/** Why the API cannot be asked for the calls of a file; null when it can. */
function obstacleTo(receipt: Receipt | null): string | null {
  if (receipt?.where !== undefined)
    return 'its calls were chosen by a condition on a store, which the API does not have';
  return receipt !== null && receipt.accounts.length > 1 ? 'it has calls of several accounts' : null;
}

/** The fields of a call that the file has; null for all of them. */
function fieldsIn(
  { fields }: FileContents,
  receipt: Receipt | null,
  sample: FileRow['record'] | null,
): readonly FieldSpec[] | null | 'unknown' {
  const names =
    fields ?? receipt?.rows.fields ?? (receipt === null && sample !== null ? Object.keys(sample) : null);
  if (names === null) return null;
  const known = names.map(fieldNamed);
  if (known.every((field) => field !== null)) return known;
  // A record of JSON has fields that the API has added since; a table has columns of its own.
  return fields === null && receipt === null ? null : 'unknown';
}

/** What is known of a file before it is compared with the API. */
interface Known {
  readonly receipt: Receipt | null;
  readonly fields: readonly FieldSpec[] | null;
  readonly hasMark: boolean;
}

async function againstApi(path: string, form: FileForm, { receipt, fields, hasMark }: Known, ask: Ask) {
  const client = await ask.api(null);
  const version = receipt?.version ?? client.version;
  if (version !== client.version)
    throw new UsageError(`${path} has records of ${version}, and the API is asked in ${client.version}`, {
      hints: [`add --api-version ${version}`],
    });
  const target: { format: FileFormat; gzip: boolean } = { format: form.format, gzip: false };
  // calls export --format spreadsheet writes a byte order mark, and an apostrophe before what looks like a formula.
  const options = { fields, version, bom: false, spreadsheetSafe: hasMark };
  const encode = encodingOf(target, options);
  const rows = ('begin' in encode ? encode : encode[0]).rows;
  const textOf = (call: Call): string => rows?.text(picked(call, options, form.format)) ?? '';
  const filter = parse(receipt?.filter ?? '', { version });
  // The read of an export ends with what lies safely in the past; what came later is not what it is about.
  // Rows without a time are compared all together.
  const isTimed = fields === null || fields.some(({ name }) => name === 'date_added');
  const end = ask.range.to ?? (receipt?.to === null && isTimed ? countedBefore(receipt) : null);
  return compareWithApi(
    {
      account: receipt?.accounts[0] ?? null,
      client,
      filter,
      range: { from: ask.range.from, to: end },
      textOf,
      here: {
        async read(take) {
          const onRow = (row: FileRow): void => take(comparedRow(row));
          await readFileContents(path, form, {
            onRow,
            signal: ask.io.signal,
            expected: receipt?.bytes ?? null,
          });
        },
      },
      removed: null,
    },
    ask.io,
  );
}

/** Where what was read and not counted again begins. */
const countedBefore = ({ verdict }: Receipt): string | null => {
  const from = verdict?.notes.find(({ code }) => code === 'young')?.from;
  return typeof from === 'string' ? from : null;
};

function comparedRow({ text, record: { sid, date_added: at } }: FileRow): ComparedRow {
  // Parquet has microseconds.
  const time = typeof at === 'bigint' ? formatNaive(Number(at / 1000n)) : at;
  return {
    text,
    sid: typeof sid === 'string' ? sid : null,
    at: typeof time === 'string' ? time : null,
  };
}
