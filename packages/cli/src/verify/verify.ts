import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isStore, openFilesReader, type PlannedJob, readJob } from '@call-attribution/fleet';
import { parse } from '@call-attribution/query-dsl';
import { storeName } from '@call-attribution/store';
import type { Handler } from '../args.ts';
import {
  readAccountSettings,
  readFileSettings,
  readSettings,
  readStoredSettings,
} from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { clientOf, credentialsOf, folderOf } from '../fleet/place.ts';
import { contextOf, keptClients, openClient } from '../input/connect.ts';
import { rangeOf } from '../input/filter.ts';
import { say, show, write } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import { type Ask, type Check, linesOf, nothingIn, unreadable } from './check.ts';
import { checkFiles, targetsAt } from './files.ts';
import { checkStore, type StoredAccount } from './store.ts';

/** `calls verify`: counts what is in files and stores, and compares it with receipts, with what syncs have proved, and with the API. */
export const verify: Handler = async (args, io) => {
  const [named] = args.words;
  if (named === undefined)
    throw new UsageError('calls verify needs a file, a folder, a store or a job', {
      hints: ['calls verify calls.csv', 'calls verify sqlite:calls.db'],
    });
  const { accounts: configured } = readStoredSettings(null, args, io);
  const typed = [...new Set(args.list('account'))];
  const idOf = (name: string) => configured.find((each) => each.name === name)?.id ?? name;
  const clients = keptClients();
  const ask: Ask = {
    args,
    io,
    againstApi: args.flag('against-api'),
    range: await rangeOf(args, contextOf(readFileSettings(args, io), io)),
    api(account) {
      const wanted = account ?? typed[0];
      const known = configured.find(({ name, id }) => name === wanted || id === wanted);
      if (known === undefined) return clients.of('', () => openClient(readSettings(args, io), io));
      return clients.of(known.name, async () => {
        const [found] = readAccountSettings([known.name], args, io);
        if (found?.problem) throw found.problem;
        return openClient(found?.settings ?? readSettings(args, io), io);
      });
    },
  };
  const job = await jobAt(named, io.cwd);
  const isUrl = /^(?:sqlite|postgres(?:ql)?):/i.test(named);
  const targets = job === null && !isUrl ? await targetsAt(named, io.cwd) : [];
  const chosen = typed.map(idOf);
  const storeAt = (url: string, shown: string): AsyncIterable<Check> => {
    const choose = (stored: readonly string[]): StoredAccount[] => {
      const strange = chosen.find((id) => !stored.includes(id));
      if (strange !== undefined)
        throw new UsageError(`${shown} has no account ${strange}`, {
          hints: [`it has ${stored.join(', ')}`],
        });
      const ids = chosen.length > 0 ? chosen : stored;
      if (ask.againstApi && ids.some((id) => ids.length > 1 && !configured.some((each) => each.id === id)))
        throw new UsageError(`${shown} has ${ids.length} accounts, and whose keys are set is not known`, {
          hints: [
            `add --account ${ids[0]}`,
            'or add "accounts" to calls.config.json, each with its "id" and its keys',
          ],
        });
      return ids.map((id) => ({ id, part: null, api: () => ask.api(id) }));
    };
    return checkStore({ url, shown }, choose, ask);
  };
  /** What is here, each by itself: of several things, one that cannot be read does not stop the others. */
  const things: [string, AsyncIterable<Check>][] = [];
  if (job !== null) things.push([named, checkJob(job, chosen, clients, ask)]);
  if (isUrl) things.push([storeName(named), storeAt(named, storeName(named))]);
  for (const { path } of targets.filter(({ kind }) => kind === 'sqlite'))
    things.push([path, storeAt(`sqlite:${path}`, path)]);
  const files = targets.filter(({ kind }) => kind === 'file');
  if (files.length > 0) {
    const all = files.map(({ path }) => ({ path, full: resolve(io.cwd, path) }));
    things.push([named, checkFiles(all, null, ask)]);
  }
  const checks: Check[] = [];
  try {
    for (const [path, thing] of things) {
      try {
        for await (const check of thing) checks.push(check);
      } catch (error) {
        checks.push(await unreadable(path, error, io));
      }
    }
  } finally {
    await clients.close();
  }
  const verdict = (['differs', 'unproven', 'counted'] as const).find((verdict) =>
    checks.some((check) => check.verdict === verdict),
  );
  if (args.flag('json'))
    await write(io.stdout, `${JSON.stringify({ verdict: verdict ?? 'proved', checks })}\n`);
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

/** The job in a file; null for a file of records. Its first character tells: records of JSON are a list. */
async function jobAt(path: string, cwd: string): Promise<PlannedJob | null> {
  if (!/\.json$/i.test(path)) return null;
  const full = resolve(cwd, path);
  const text = await readFile(full, 'utf8').catch(() => '');
  return /^\s*\{/.test(text) && /"into"\s*:/.test(text) ? readJob(full) : null;
}

/** What a job of `calls fleet` has written, as the list of its accounts: the rows of a store, or the files of a folder or bucket. */
async function* checkJob(
  job: PlannedJob,
  chosen: readonly string[],
  clients: ReturnType<typeof keptClients>,
  ask: Ask,
): AsyncGenerator<Check, void, void> {
  const { args, io } = ask;
  const planned = [...job.accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const strange = chosen.find((id) => !planned.some((account) => account.id === id));
  if (strange !== undefined) throw new UsageError(`the job ${job.name} has no account ${strange}`);
  const credentials = credentialsOf(args, io);
  const part = {
    filter: parse(job.filter, { version: job.version }),
    period: { from: job.from, to: job.until },
  };
  const accounts = planned
    .filter(({ id }) => chosen.length === 0 || chosen.includes(id))
    .map((account) => ({
      id: account.id,
      part,
      api: () => clients.of(`job ${account.id}`, () => clientOf(job, account, credentials)),
    }));
  if (isStore(job.into)) {
    yield* checkStore({ url: job.into, shown: storeName(job.into) }, () => accounts, ask);
    return;
  }
  await using reader = await openFilesReader(job, { root: folderOf(job.into, io), env: io.env });
  for (const { id, api } of accounts) {
    const { names, missing } = await reader.files(id);
    const place = `${job.into}/account=${id}`;
    if (names.length === 0) yield nothingIn(place, { code: 'no_file', text: 'nothing of it is there' });
    for (const month of missing)
      yield nothingIn(place, { code: 'no_file', text: `the file of ${month} is not there` });
    const files = [];
    for (const name of names) files.push({ path: `${job.into}/${name}`, full: await reader.local(name) });
    yield* checkFiles(files, { ...part, account: id, api }, ask);
  }
}
