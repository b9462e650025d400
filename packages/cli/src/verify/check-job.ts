import { resolve } from 'node:path';
import { openFilesReader, type PlannedJob } from '@call-attribution/fleet';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { storeName } from '@call-attribution/store';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { refusePassword } from '../stores/url.ts';
import { count, plural } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import type { Ask } from './ask.ts';
import { checkFile } from './check-file.ts';
import { type Check, type Finding, nothingIn, onlyReceiptIn, verdictOf } from './finding.ts';
import { type Holdings, openHoldings } from './holdings.ts';

/** Verifies what a job of `calls fleet` has written, account by account: the rows of a store, or the files of a folder or bucket. */
export async function* checkJob(job: PlannedJob, ask: Ask): AsyncGenerator<Check, void, void> {
  if (ask.writeReceipt)
    throw new UsageError('--write-receipt is for one store; the files of a job have receipts');
  const accounts = [...job.accounts.values()].map(({ id }) => id).sort();
  const strange = ask.accounts.find((id) => !accounts.includes(id));
  if (strange !== undefined) throw new UsageError(`the job ${job.name} has no account ${strange}`);
  const chosen = ask.accounts.length > 0 ? ask.accounts : accounts;
  if (job.format === null) yield* checkRows(job, chosen, ask);
  else yield* checkFiles(job, chosen, ask);
}

async function* checkRows(job: PlannedJob, accounts: readonly string[], ask: Ask): AsyncGenerator<Check> {
  if (ask.againstApi)
    throw new UsageError('--against-api is for the store itself: a job may read a part of its calls only', {
      hints: [`calls verify ${job.into} --against-api`],
    });
  refusePassword(job.into, 'into');
  const holdings = await openHoldings(job.into, ask);
  try {
    const rows = new Map<string, number>();
    const known = new Set(await holdings.accounts());
    const all = { from: null, to: null };
    for (const account of accounts) {
      let counted = 0;
      if (known.has(account))
        await whileWaiting(`reading account ${account}`, async () => {
          for await (const _ of holdings.calls(account, all)) {
            ask.io.signal.throwIfAborted();
            counted += 1;
          }
        });
      rows.set(account, counted);
    }
    const faults = await holdings.faults(rows);
    for (const account of accounts) {
      const own = faults.filter(({ text }) => text.includes(`account ${account} `));
      yield await checkAccount(holdings, { job, account, rows: rows.get(account) ?? 0 }, own);
    }
  } finally {
    await holdings.close();
  }
}

interface CountedAccount {
  readonly job: PlannedJob;
  readonly account: string;
  readonly rows: number;
}

async function checkAccount(
  holdings: Holdings,
  { job, account, rows }: CountedAccount,
  faults: readonly Finding[],
): Promise<Check> {
  const verdict = await holdings.verdict(account);
  const removed = verdict === null ? null : await holdings.removed(account);
  const findings: Finding[] = [...faults];
  const expected = verdict === null ? 0 : verdict.calls - verdict.missing;
  const isCut = (removed?.erasedCallers ?? 0) > 0 || (removed?.purgedBefore ?? null) !== null;
  if (verdict === null) findings.push({ code: 'no_file', text: 'it has never been read' });
  else {
    const lacks = describeCopy(verdict);
    if (lacks !== null) findings.push({ code: 'not_whole', text: lacks });
    if (rows < expected && !isCut)
      findings.push({
        code: 'rows',
        text: `it has ${plural(rows, 'row')}, and its syncs have read ${count(expected)}; calls fleet retry does not bring them back: remove the account from the store, and work again`,
      });
  }
  return {
    path: `${account} in ${storeName(job.into)}`,
    verdict: verdictOf(findings, verdict !== null),
    rows,
    digest: null,
    accounts: [
      {
        account,
        rows,
        erasedCallers: removed?.erasedCallers ?? 0,
        purgedBefore: removed?.purgedBefore ?? null,
      },
    ],
    receipt: null,
    api: [],
    findings,
  };
}

async function* checkFiles(job: PlannedJob, accounts: readonly string[], ask: Ask): AsyncGenerator<Check> {
  const { io } = ask;
  const folder = /^folder:(.+)$/.exec(job.into)?.[1];
  const root = folder === undefined ? null : resolve(io.cwd, folder);
  await using reader = await openFilesReader(job, { root, env: io.env, now: io.clock.now() });
  for (const account of accounts) {
    const { names, missing } = await reader.files(account);
    if (names.length === 0)
      yield nothingIn(`${job.into}/account=${account}`, { code: 'no_file', text: 'nothing of it is there' });
    for (const month of missing)
      yield nothingIn(`${job.into}/account=${account}`, {
        code: 'no_file',
        text: `the file of ${month} is not there`,
      });
    for (const name of names) {
      const check = await fileOf(name, reader.local, ask);
      yield { ...check, path: `${job.into}/${name}` };
    }
  }
}

async function fileOf(name: string, local: (name: string) => Promise<string>, ask: Ask): Promise<Check> {
  const path = await local(name);
  try {
    return await checkFile(path, ask);
  } catch (error) {
    if (error instanceof CliError && error.exitCode !== exitCodes.usage) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return onlyReceiptIn(name);
    throw error;
  }
}
