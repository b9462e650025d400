import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import {
  periodOfFilter,
  type ReceiptFacts,
  verdictOfCopies,
  writeDatasetReceipt,
} from '@call-attribution/node-stream/receipts';
import type { CallSelection } from '@call-attribution/questions';
import type { StoredSelection } from '../ask/select.ts';
import { readVerdict } from '../ask/status.ts';
import type { Session } from '../file/session.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';

/** Where the calls of an export come from. */
export interface DatasetOrigin {
  /** The database file. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Is a file still the one that an export has written? For a receipt its bytes must be those that were noted. */
export async function isAsKnown(path: string, known: ManifestEntry, forReceipt: boolean): Promise<boolean> {
  const size = await lstat(path).then(
    (stats) => (stats.isFile() ? stats.size : -1),
    () => -1,
  );
  if (size !== known.bytes) return false;
  return !forReceipt || (known.sha256 !== undefined && (await sha256Of(path)) === known.sha256);
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** What was exported, and from where. */
interface Exported {
  readonly manifest: Manifest;
  readonly fields: readonly string[];
  readonly plan: StoredSelection;
  readonly options: CallSelection;
  readonly origin: DatasetOrigin;
}

/** Writes the receipt of a folder whose files are complete. */
export async function writeFolderReceipt(
  session: Session,
  folder: string,
  exported: Exported,
): Promise<void> {
  const { manifest, fields, origin } = exported;
  const files = Object.entries(manifest.files).map(([path, { calls, bytes, sha256 = '' }]) => ({
    path,
    rows: calls,
    bytes: { length: bytes, sha256 },
  }));
  const calls = files.reduce((sum, { rows }) => sum + rows, 0);
  const facts = await factsOf(session, calls, exported);
  await writeDatasetReceipt(folder, facts, { files, fields, at: origin.clock.now() });
}

async function factsOf(
  session: Session,
  calls: number,
  { plan, options: { q, where }, origin }: Exported,
): Promise<ReceiptFacts> {
  const { from, to } = plan.period;
  const naive = (millis: number | null) => (millis === null ? null : formatNaive(millis));
  const isOfTime = plan.mostShift === 0 && (from !== null || to !== null);
  const period = isOfTime ? { from: naive(from), to: naive(to) } : periodOfFilter(q ?? '', 'v3');
  const accounts =
    plan.accounts ??
    (await session.all('SELECT account FROM accounts ORDER BY account')).map(({ account }) =>
      String(account),
    );
  const copies = [];
  for (const account of accounts)
    copies.push((await readVerdict(session, account, period)) ?? { proof: 'whole' as const, gaps: [] });
  const condition = typeof where === 'object' ? JSON.stringify(where) : where;
  return {
    source: `duckdb:${basename(origin.path)}`,
    accounts,
    version: null,
    filter: q ?? null,
    ...(condition === undefined ? {} : { where: condition }),
    ...period,
    verdict: verdictOfCopies(calls, copies),
  };
}
