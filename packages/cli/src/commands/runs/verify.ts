import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from '@call-attribution/core';
import { readSmallFile } from '@call-attribution/core/settings';
import {
  type CredentialSource,
  FleetError,
  isStore,
  openFilesReader,
  type PlannedAccount,
  type PlannedJob,
  readJob,
} from '@call-attribution/fleet';
import { parse } from '@call-attribution/query-dsl';
import { storeKind, storeName } from '@call-attribution/store/url';
import type { Args, Handler } from '../../args.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { periodOfRange } from '../../input/filter.ts';
import { watch } from '../../input/verdict.ts';
import { type Io, say, show, write } from '../../io.ts';
import { plural } from '../../terminal/numbers.ts';
import { type Ask, attempt, begin, type Check, verdictOf } from '../../verify/check.ts';
import { checkFiles, checkMonths, targetsAt } from '../../verify/files.ts';
import { type CheckedAccount, checkStore } from '../../verify/store.ts';
import { contextOf, keptClients, openClient } from '../typed/accounts.ts';
import { askedPeriod } from '../typed/filter.ts';
import {
  readAccountSettings,
  readFileSettings,
  readSettings,
  readStoredSettings,
} from '../typed/settings.ts';
import { clientOf, credentialsOf, folderOf } from './fleet-place.ts';

/**
 * `calls verify`: counts what is in files and stores, and compares it with receipts, with what
 * syncs have proved, and with the API.
 */
export const verify: Handler = async (args, io) => {
  const named = args.words[0] ?? '';
  const { accounts: configured } = readStoredSettings(null, args, io);
  const typed = [...new Set(args.list('account'))];
  const settings = readFileSettings(args, io);
  const clients = keptClients();
  const ask: Ask = {
    settings,
    from: io,
    signal: io.signal,
    watch: (label) => watch(io, label),
    checks: [],
    againstApi: args.flag('against-api'),
    period: await askedPeriod(args, contextOf(settings, io)),
    api(account) {
      const wanted = account ?? typed[0];
      const known = configured.find(({ name, id }) => name === wanted || id === wanted);
      return clients.of(known?.name ?? '', async () => {
        const [found] = known === undefined ? [] : readAccountSettings([known.name], args, io);
        if (found?.problem) throw found.problem;
        return openClient(found?.settings ?? readSettings(args, io), io);
      });
    },
  };

  /**
   * The accounts that were chosen, which must all be there; without a choice all that are there.
   */
  const choose = (shown: string, ids: readonly string[]): readonly string[] => {
    const chosen = typed.map((name) => configured.find((each) => each.name === name)?.id ?? name);
    const strange = chosen.find((id) => !ids.includes(id));
    if (strange === undefined) return chosen.length > 0 ? chosen : ids;
    throw new UsageError(`${shown} has no account ${strange}`, [`it has ${ids.join(', ')}`]);
  };

  const accountsIn = (stored: readonly string[], shown: string): CheckedAccount[] => {
    const ids = choose(shown, stored);
    if (
      ask.againstApi &&
      ids.some((id) => ids.length > 1 && !configured.some((each) => each.id === id))
    )
      throw new UsageError(
        `${shown} has ${ids.length} accounts, and whose keys are set is not known`,
        [
          `add --account ${ids[0]}`,
          'or add "accounts" to calls.config.json, each with its "id" and its keys',
        ],
      );

    return ids.map((id) => ({ id, part: null, api: () => ask.api(id) }));
  };

  const storeAt = (url: string, shown: string) =>
    attempt(
      shown,
      () => checkStore({ url, shown }, (stored) => accountsIn(stored, shown), ask),
      ask,
    );

  try {
    const job = await jobAt(named, io.cwd);
    if (job !== null) {
      const ids = choose(`the job ${job.name}`, [...job.accounts.keys()].sort());
      const chosen = [...job.accounts.values()]
        .filter(({ id }) => ids.includes(id))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const credentials = await allCredentials(ask.againstApi ? chosen : [], args, io);
      const opened: ClientOfJob = (account) =>
        clients.of(`job ${account.id}`, () => clientOf(job, account, credentials));
      await attempt(named, () => checkJob(job, chosen, opened, ask), ask);
    } else if (storeKind(named) !== null) await storeAt(named, storeName(named));
    else {
      const targets = await targetsAt(named, io.cwd);
      const files = targets.filter(({ kind }) => kind === 'file');
      for (const { path, kind } of targets)
        if (kind === 'sqlite') await storeAt(`sqlite:${path}`, path);
      const all = files.map(({ path }) => ({ path, full: resolve(io.cwd, path) }));
      const isFolder = statSync(resolve(io.cwd, named), { throwIfNoEntry: false })?.isDirectory();

      const read = async () => {
        const found = await checkFiles(all, null, ask);

        // With the API, what is in none of them is found call by call.
        if (isFolder && !ask.againstApi) checkMonths(found, ask);
      };

      await attempt(named, read, ask);
    }
  } finally {
    await clients.close();
  }

  const checks = ask.checks.map((check) => ({ ...check, verdict: verdictOf(check) }));
  const verdict =
    worstFirst.find((each) => checks.some((check) => check.verdict === each)) ?? 'proved';
  if (args.flag('json')) await write(io.stdout, `${JSON.stringify({ verdict, checks })}\n`);
  else {
    await show(io, checks.flatMap(linesOf));
    const noun = checks.every(({ stored }) => stored !== null) ? 'account' : 'file';
    const proved = checks.filter((check) => check.verdict === 'proved').length;
    if (checks.length > 1) say(io, `${proved} of ${plural(checks.length, noun)} proved`);
    if (checks.some(({ findings }) => findings.some(({ code }) => code === 'no_receipt')))
      say(io, '→ --against-api compares what has no receipt with the API');
  }

  return verdict === 'differs' || verdict === 'unproven' ? exitCodes.incomplete : exitCodes.ok;
};

const worstFirst = ['differs', 'unproven', 'counted'] as const;

/** What was found, in words. */
function linesOf(check: Check & { readonly verdict: string }): string[] {
  const { path, verdict, rows, receipt, api, stored, only, findings } = check;
  let why: string[] = [];
  if (verdict === 'counted') why = ['no receipt; calls export --receipt writes one'];
  else if (verdict === 'proved' && api.length > 0) why = ['each as the API has it'];
  else if (verdict === 'proved')
    why = [
      receipt
        ? `as the receipt of ${receipt.writtenAt.slice(0, 10)} says`
        : 'as its syncs have proved',
    ];

  const texts = findings.map(({ text }) => text);
  if (only !== null) texts.push(`it has ${only}`);
  const { erasedCallers = 0, purgedBefore = null } = stored ?? {};
  if (erasedCallers > 0)
    texts.push(`${plural(erasedCallers, 'caller was', 'callers were')} erased`);
  if (purgedBefore !== null) texts.push(`calls before ${purgedBefore} were purged`);
  for (const { erased, purged, to } of api) {
    const still = 'which are not missing';
    if (erased > 0)
      texts.push(`the API still has ${plural(erased, 'call')} of erased callers, ${still}`);
    if (purged > 0)
      texts.push(`the API still has ${plural(purged, 'call')} from before the purge, ${still}`);
    if (to !== null) texts.push(`compared with the API up to ${to}`);
  }

  const name = ['differs', 'unproven'].includes(verdict) ? verdict.toUpperCase() : verdict;
  const counted = rows === null ? [] : [plural(rows, 'call')];
  return [
    `${stored === null ? '' : `${stored.account} in `}${path}: ${[name, ...counted, ...why].join(', ')}`,
    ...texts.map((text) => `  ${text}`),
  ];
}

/** Most bytes of a file that is looked into for a job. */
const jobBytes: number = 16 * 1024 * 1024;

/**
 * The job in a file; null for a file of records. Its first character tells: records of JSON are a
 * list.
 */
async function jobAt(path: string, cwd: string): Promise<PlannedJob | null> {
  if (!/\.json$/i.test(path)) return null;
  const full = resolve(cwd, path);
  let text = '';
  try {
    ({ text } = readSmallFile(full, jobBytes));
  } catch {
    // What it is otherwise is found out by whoever reads it.
  }

  return /^\s*\{/.test(text) && /"into"\s*:/.test(text) ? readJob(full) : null;
}

/** The credentials of accounts of a job. All that cannot be read are named in one error. */
async function allCredentials(
  accounts: readonly PlannedAccount[],
  args: Args,
  io: Io,
): Promise<CredentialSource> {
  const { credentials, problems } = await credentialsOf(accounts, args, io);
  const [first, ...others] = problems;
  if (first === undefined) return credentials;
  if (others.length === 0) throw first;
  throw new FleetError('credential_missing', problems.map(({ message }) => message).join(' '));
}

/** A client of an account of a job. */
type ClientOfJob = (account: PlannedAccount) => Promise<Client>;

/**
 * What a job of `calls fleet` has written, as the list of its accounts: the rows of a store, or the
 * files of a folder or bucket.
 */
async function checkJob(
  job: PlannedJob,
  chosen: readonly PlannedAccount[],
  clientOfJob: ClientOfJob,
  ask: Ask,
): Promise<void> {
  const part = {
    filter: parse(job.filter, { version: job.version }),
    period: periodOfRange({ from: job.from, to: job.until }),
  };
  const accounts = chosen.map((account) => ({
    id: account.id,
    part,
    api: () => clientOfJob(account),
  }));
  if (isStore(job.into)) {
    await checkStore({ url: job.into, shown: storeName(job.into) }, () => accounts, ask);
    return;
  }

  await using reader = await openFilesReader(job, {
    root: folderOf(job.into, ask.from),
    env: ask.from.env,
  });
  for (const account of accounts) {
    const names = await reader.files(account.id);
    const nothing = { code: 'no_file', text: 'nothing of it is there' } as const;
    if (names.length === 0)
      ask.checks.push(begin(`${job.into}/account=${account.id}`, { findings: [nothing] }));
    const files = [];
    for (const name of names)
      files.push({ path: `${job.into}/${name}`, full: await reader.local(name) });
    checkMonths(await checkFiles(files, account, ask), ask);
  }
}
