import { Readable } from 'node:stream';
import type { Settings } from '@call-attribution/core/settings';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, CallSelection, Warehouse } from '@call-attribution/warehouse';
import type { Args } from '../args/command.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { chooseWarehouse, loadLibrary, type WarehouseFile } from '../stores/choose.ts';
import { plural } from '../term/numbers.ts';
import { beginWaiting, whileWaiting } from '../term/waiting.ts';
import { openClient } from './connect.ts';
import { apiSource, type Source } from './source.ts';
import type { WarehouseVerdict } from './verdict.ts';

/** A warehouse as a source of calls. */
export interface WarehouseSource extends Source {
  readonly warehouse: Warehouse;
  /** Milliseconds that a question may take. */
  readonly timeLimit: number;
  /** The calls that match a filter of the API, as a question to the warehouse. */
  selection(filter: Filter): CallSelection;
  /** Says that the warehouse answered and how fresh it is. Returns the same sentence. */
  sayAnswered(accounts?: readonly AccountStatus[]): Promise<string>;
}

/** Opens the warehouse that the options or the settings name, else a client of the API. The caller closes it. */
export async function openSource(settings: Settings, args: Args, io: Io): Promise<Source | WarehouseSource> {
  const file = chooseWarehouse(args, settings, io);
  if (file !== null) {
    return openWarehouseSource(file, args, io, { accounts: [], version: settings.apiVersion.value });
  }
  refuseWhere(args);
  return apiSource(await openClient(settings, args, io), io.signal);
}

const whereOf = (args: Args): string | null => (args.has('where') ? args.text('where') : null);

/** Only a warehouse can evaluate conditions. */
export function refuseWhere(args: Args): void {
  if (whereOf(args) === null) return;
  throw new UsageError('--where needs a warehouse: --store duckdb:calls.duckdb', {
    hints: [
      "the filter of the API is --q, such as --q 'talk_minutes:[2 TO *]'",
      'calls sync fills a warehouse',
    ],
  });
}

/** Whether the source is a warehouse. */
export const isWarehouse = (source: Source | WarehouseSource): source is WarehouseSource =>
  'warehouse' in source;

const usualTimeLimit = 60_000;

/** Milliseconds that a question may take and that another process is waited for, from --timeout. */
function limitsOf(args: Args): { readonly timeLimit: number; readonly wait: number } {
  const seconds = args.number('timeout', { min: 0.1 });
  const timeLimit = seconds === null ? usualTimeLimit : seconds * 1000;
  return { timeLimit, wait: Math.min(10_000, timeLimit) };
}

/** Opens a warehouse that exists. */
export async function openWarehouseSource(
  file: WarehouseFile,
  args: Args,
  io: Io,
  { accounts, version }: { accounts: readonly string[]; version: 'v2' | 'v3' } = {
    accounts: [],
    version: 'v3',
  },
): Promise<WarehouseSource> {
  const { openWarehouse } = await loadLibrary();
  const { timeLimit, wait } = limitsOf(args);
  const { signal } = io;
  const warehouse = await whileWaiting(`waiting for the warehouse ${file.shown}`, () =>
    openWarehouse(file.path, { create: false, wait }),
  );
  const answered = beginWaiting(`reading the warehouse ${file.shown}`);
  const chosen = accounts.length > 0 ? { accounts } : {};
  const limits = { timeLimit, signal };
  const where = whereOf(args);
  const selection = (filter: Filter): CallSelection => ({
    ...chosen,
    ...(where === null ? {} : { where }),
    q: printFilter(filter),
    // Only v3 leaves out calls through call extensions unless the filter includes them.
    ...(version === 'v2' ? { calls: 'all' } : {}),
  });
  const sayAnswered = async (statuses?: readonly AccountStatus[]): Promise<string> => {
    const all = statuses ?? (await warehouse.lastSync());
    const used = accounts.length > 0 ? all.filter(({ account }) => accounts.includes(account)) : all;
    const text = answeredText(file.shown, used);
    say(io, text);
    return text;
  };
  return {
    warehouse,
    timeLimit,
    selection,
    sayAnswered,
    async count(filter) {
      const answer = await warehouse.count({ ...selection(filter), ...limits });
      await sayAnswered(answer.accounts);
      return { total: answer.calls, source: 'warehouse' };
    },
    async get(sid) {
      const found = accounts.length > 0 ? accounts : [undefined];
      for (const account of found) {
        const call = await warehouse.get(sid, account);
        if (call === null) continue;
        await sayAnswered();
        return call;
      }
      throw new CliError(`the warehouse has no call with the session ID ${sid}`, {
        exitCode: exitCodes.notFound,
        hints: ['--store none asks the API'],
      });
    },
    async *list({ filter, limit, skip, end }) {
      const isAll = limit === Number.POSITIVE_INFINITY;
      const answer = isAll ? null : await warehouse.count({ ...selection(filter), ...limits });
      await sayAnswered(answer?.accounts);
      const last = Math.max(0, (answer?.calls ?? 0) - skip);
      if (!isAll && last === 0) return;
      const part =
        end === 'first'
          ? { limit, offset: skip }
          : { limit: Math.min(limit, last), offset: Math.max(0, last - limit) };
      const cut = isAll ? {} : part;
      for await (const call of warehouse.calls({ ...selection(filter), ...cut, signal }))
        yield { call, total: answer?.calls ?? null };
    },
    read({ filter }) {
      let count = 0;
      const calls = async function* () {
        await sayAnswered();
        for await (const call of warehouse.calls({ ...selection(filter as Filter), signal })) {
          count += 1;
          yield call;
        }
      };
      const stream = Readable.from(calls());
      const verdict = new Promise<WarehouseVerdict>((resolve) => {
        stream.once('end', () => resolve({ proof: 'whole', calls: count }));
      });
      return { stream, verdict };
    },
    close() {
      answered();
      return warehouse.close();
    },
  };
}

/** That the warehouse answered, with what it covers and when it was last brought up to date, in one line. */
function answeredText(shown: string, statuses: readonly AccountStatus[]): string {
  const calls = statuses.reduce((sum, status) => sum + status.calls, 0);
  const last = statuses
    .map((status) => status.last ?? '')
    .sort()
    .at(-1);
  const unsynced = statuses.find(({ syncedAt }) => syncedAt === null);
  const synced = statuses.map(({ syncedAt }) => syncedAt ?? '').sort()[0];
  const when =
    statuses.length === 0
      ? 'nothing was synced yet'
      : unsynced
        ? `no sync of account ${unsynced.account} has finished yet`
        : `last sync ${synced?.slice(0, 19).replace('T', ' ')} UTC`;
  const of = statuses.length > 1 ? ` of ${statuses.length} accounts` : '';
  const until = last ? `, the latest of ${last.slice(0, 19)}` : '';
  return `answered by the warehouse ${shown}: ${plural(calls, 'call')}${of}${until}; ${when}`;
}
