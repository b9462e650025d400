import { resolve } from 'node:path';
import type { Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  type CredentialSource,
  isStore,
  openFilesReader,
  type PlannedAccount,
  type PlannedJob,
} from '@call-attribution/fleet';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { parse } from '@call-attribution/query-dsl';
import { storeName } from '@call-attribution/store';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { clientOf, credentialsOf } from '../fleet/place.ts';
import { refusePassword } from '../stores/open.ts';
import { count, plural } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import type { Ask } from './ask.ts';
import { checkFile } from './check-file.ts';
import { compareRows } from './check-store.ts';
import { type ApiCheck, type Check, type Finding, nothingIn, onlyReceiptIn, verdictOf } from './finding.ts';
import { type Holdings, openHoldings } from './holdings.ts';
import { commonSlice } from './stretches.ts';

/** Verifies what a job of `calls fleet` has written, account by account: the rows of a store, or the files of a folder or bucket. */
export async function* checkJob(job: PlannedJob, ask: Ask): AsyncGenerator<Check, void, void> {
  if (ask.writeReceipt)
    throw new UsageError('--write-receipt is for one store; the files of a job have receipts');
  const accounts = [...job.accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const strange = ask.accounts.find((id) => !accounts.some((account) => account.id === id));
  if (strange !== undefined) throw new UsageError(`the job ${job.name} has no account ${strange}`);
  const chosen = accounts.filter(({ id }) => ask.accounts.length === 0 || ask.accounts.includes(id));
  const of = { job, ask, credentials: credentialsOf(ask.args, ask.io) };
  if (isStore(job.into)) yield* checkRows(of, chosen);
  else yield* checkFiles(of, chosen);
}

async function* checkRows(of: JobAsk, accounts: readonly PlannedAccount[]): AsyncGenerator<Check> {
  const { job, ask } = of;
  refusePassword(job.into, 'into');
  const holdings = await openHoldings(job.into, ask);
  try {
    for (const account of accounts) {
      let rows = 0;
      await whileWaiting(`reading account ${account.id}`, async () => {
        for await (const _ of holdings.calls(account.id, { from: null, to: null })) {
          ask.io.signal.throwIfAborted();
          rows += 1;
        }
      });
      yield await checkAccount(holdings, of, account, rows);
    }
  } finally {
    await holdings.close();
  }
}

async function checkAccount(
  holdings: Holdings,
  of: JobAsk,
  planned: PlannedAccount,
  rows: number,
): Promise<Check> {
  const { id: account } = planned;
  const verdict = await holdings.verdict(account);
  const removed = verdict === null ? null : await holdings.removed(account);
  const findings: Finding[] = [];
  const api: ApiCheck[] = [];
  const expected = verdict === null ? 0 : verdict.calls - verdict.missing;
  const isCut = (removed?.erasedCallers ?? 0) > 0 || (removed?.purgedBefore ?? null) !== null;
  if (verdict === null) findings.push({ code: 'no_file', text: 'it has never been read' });
  else {
    const compared = of.ask.againstApi ? await againstApi(holdings, of, planned) : null;
    findings.push(...(compared?.findings ?? []));
    if (compared?.check) api.push(compared.check);
    const lacks = describeCopy(verdict);
    if (lacks !== null && api.length === 0) findings.push({ code: 'not_whole', text: lacks });
    if (rows < expected && !isCut)
      findings.push({
        code: 'rows',
        text: `it has ${plural(rows, 'row')}, and its syncs have read ${count(expected)}; calls fleet retry does not bring them back: remove the account from the store, and work again`,
      });
  }
  return {
    path: `${account} in ${storeName(of.job.into)}`,
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
    api,
    findings,
  };
}

/** A job, what is asked of it, and where its keys are. */
interface JobAsk {
  readonly job: PlannedJob;
  readonly ask: Ask;
  readonly credentials: CredentialSource;
}

/** The API of an account, with the keys that the job names for it. */
function apiOf({ job, credentials }: JobAsk, account: PlannedAccount) {
  let opened: Promise<Client> | null = null;
  return {
    client: () => {
      opened ??= clientOf(job, account, credentials);
      return opened;
    },
    close: async () => (await opened?.catch(() => null))?.close(),
  };
}

/** Compares the rows that a job reads with the API. Keys that are refused concern their account alone. */
async function againstApi(
  holdings: Holdings,
  of: JobAsk,
  account: PlannedAccount,
): Promise<{ readonly check: ApiCheck | null; readonly findings: readonly Finding[] }> {
  const { job, ask } = of;
  const { filter: text, version, from, until: to } = job;
  const range = commonSlice(ask.range, { from, to });
  const api = apiOf(of, account);
  try {
    const client = await api.client();
    const removed = await holdings.removed(account.id);
    const filter = parse(text, { version });
    return await compareRows(holdings, { account: account.id, client, filter, range, removed }, ask.io);
  } catch (error) {
    if (!CallsError.is(error) || error.kind !== 'keys') throw error;
    const what = `the API could not be asked: ${error.summary.replace(/\.$/, '')}`;
    return { check: null, findings: [{ code: 'api_not_whole', text: what }] };
  } finally {
    await api.close();
  }
}

async function* checkFiles(of: JobAsk, accounts: readonly PlannedAccount[]): AsyncGenerator<Check> {
  const { job, ask } = of;
  const { io } = ask;
  const folder = /^folder:(.+)$/.exec(job.into)?.[1];
  const root = folder === undefined ? null : resolve(io.cwd, folder);
  await using reader = await openFilesReader(job, { root, env: io.env });
  for (const planned of accounts) {
    const { id: account } = planned;
    const { names, missing } = await reader.files(account);
    if (names.length === 0)
      yield nothingIn(`${job.into}/account=${account}`, { code: 'no_file', text: 'nothing of it is there' });
    for (const month of missing)
      yield nothingIn(`${job.into}/account=${account}`, {
        code: 'no_file',
        text: `the file of ${month} is not there`,
      });
    const api = apiOf(of, planned);
    try {
      for (const name of names) {
        const check = await fileOf(name, reader.local, { ...ask, api: api.client });
        yield { ...check, path: `${job.into}/${name}` };
      }
    } finally {
      await api.close();
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
