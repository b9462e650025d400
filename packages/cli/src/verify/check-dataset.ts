import { readdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import {
  datasetPath,
  filesDigest,
  type ReceiptFile,
  readFileContents,
  readReceipt,
} from '@call-attribution/node-stream/receipts';
import { whileWaiting } from '../term/waiting.ts';
import type { Ask } from './ask.ts';
import {
  bytesDifference,
  type Check,
  doubts,
  type Finding,
  receiptProblem,
  rowsDifference,
  summaryOf,
  verdictOf,
} from './finding.ts';

/** Verifies a folder that calls export --partition has written: each file with what the receipt of the folder says of it. */
export async function checkDataset(path: string, ask: Ask): Promise<Check> {
  const folder = resolve(ask.io.cwd, path);
  const found = await readReceipt(datasetPath(folder));
  const receipt = found?.receipt?.rows.format === 'dataset' ? found.receipt : null;
  const findings = receiptProblem(found);
  if (found?.receipt && receipt === null)
    findings.push({ code: 'receipt_invalid', text: 'the receipt is about something else than a folder' });
  const listed = new Map(receipt?.files?.map((file) => [file.path, file]));
  const present = new Set(await parquetFilesIn(folder));
  const held: ReceiptFile[] = [];
  for (const name of [...new Set([...listed.keys(), ...present])].sort()) {
    const problems: Finding[] = [];
    const expected = listed.get(name) ?? null;
    if (expected === null && receipt !== null)
      problems.push({ code: 'not_in_receipt', text: 'the receipt does not know this file' });
    if (present.has(name)) {
      const file = await whileWaiting(`reading ${join(path, name)}`, () =>
        readPart(folder, name, expected, ask),
      );
      held.push(file.held);
      problems.push(...file.problems);
    } else problems.push({ code: 'no_file', text: 'the receipt names this file, and it is gone' });
    findings.push(
      ...problems.map((problem) => ({ ...problem, text: `${name}: ${problem.text}`, file: name })),
    );
  }
  const sum = filesDigest(held);
  // Where each file is as it should be, so is their sum, unless the receipt contradicts itself.
  if (receipt !== null && findings.length === 0) findings.push(...rowsDifference(receipt.rows, sum));
  if (receipt !== null) findings.push(...doubts(receipt));
  if (ask.againstApi)
    findings.push({
      code: 'not_comparable',
      text: 'a folder of --partition is compared with its receipt only: compare the warehouse with the API',
    });
  return {
    path,
    verdict: verdictOf(findings, receipt !== null),
    rows: sum.count,
    digest: sum.digest,
    receipt: receipt && summaryOf(receipt),
    api: [],
    findings,
  };
}

/** Reads a file, and compares it with what the receipt says of it. */
async function readPart(
  folder: string,
  name: string,
  expected: ReceiptFile | null,
  { io }: Ask,
): Promise<{ readonly held: ReceiptFile; readonly problems: Finding[] }> {
  const form = { format: 'parquet', gzip: false, fields: null } as const;
  const options = { signal: io.signal, expected: expected?.bytes ?? null };
  const { bytes, rows, fault } = await readFileContents(join(folder, name), form, options);
  const problems: Finding[] = [];
  if (expected !== null) problems.push(...bytesDifference(expected.bytes, bytes));
  if (fault !== null) problems.push({ code: 'unreadable', text: fault });
  else if (expected !== null && rows.count !== expected.rows)
    problems.push(...rowsDifference({ count: expected.rows, digest: '' }, rows));
  return { held: { path: name, rows: rows.count, bytes }, problems };
}

/** The Parquet files in a folder, by their paths from there: whoever reads the folder reads all of them. */
async function parquetFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && /\.parquet$/i.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
