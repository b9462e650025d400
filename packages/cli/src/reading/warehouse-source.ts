import { Readable } from 'node:stream';
import type { Call } from '@call-attribution/core';
import type { Settings } from '@call-attribution/core/settings';
import {
  type CallStreamOptions,
  type CopyVerdict,
  describeCopy,
  isNothing,
  printRemovals,
  type RemovalNote,
  type TimeSlice,
} from '@call-attribution/node-stream';
import { type Filter, printFilter, toFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, CallSelection, Warehouse } from '@call-attribution/warehouse';
import type { Args } from '../args/command.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { loadLibrary, type WarehouseFile } from '../stores/choose.ts';
import { plural } from '../term/numbers.ts';
import { beginWaiting, whileWaiting } from '../term/waiting.ts';
import type { Match, Part, Source, Total } from './source.ts';
import type { Reading, WarehouseVerdict } from './verdict.ts';

/** Which calls of a warehouse a command reads. */
interface Scope {
  /** IDs of accounts; none for all. */
  readonly accounts: readonly string[];
  readonly version: 'v2' | 'v3';
}

/** Opens a warehouse that exists. The timeout is how long a question may take, and how long another process is waited for. */
export async function openWarehouseSource(
  file: WarehouseFile,
  { settings, args, io }: { readonly settings: Settings; readonly args: Args; readonly io: Io },
  accounts: readonly string[] = [],
): Promise<WarehouseSource> {
  const { openWarehouse } = await loadLibrary();
  const version = settings.apiVersion.value;
  const timeLimit = settings.timeout?.value ?? usualTimeLimit;
  const wait = Math.min(10_000, timeLimit);
  const warehouse = await whileWaiting(`waiting for the warehouse ${file.shown}`, () =>
    openWarehouse(file.path, { create: false, wait }),
  );
  return new WarehouseSource(warehouse, file, { accounts, version, where: whereOf(args), timeLimit }, io);
}

const usualTimeLimit = 60_000;

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
export const isWarehouse = (source: Source): source is WarehouseSource => source instanceof WarehouseSource;

/** A warehouse as a source of calls. Whenever it answers, it says how fresh it is. */
export class WarehouseSource implements Source {
  readonly warehouse: Warehouse;
  readonly address: string;
  /** Milliseconds that a question may take. */
  readonly timeLimit: number;
  incomplete: readonly string[] = [];
  readonly #file: WarehouseFile;
  readonly #scope: Scope & { readonly where: string | null };
  readonly #io: Io;
  readonly #endWaiting: () => void;

  constructor(
    warehouse: Warehouse,
    file: WarehouseFile,
    { timeLimit, ...scope }: Scope & { readonly where: string | null; readonly timeLimit: number },
    io: Io,
  ) {
    this.warehouse = warehouse;
    this.address = `duckdb:${file.shown}`;
    this.timeLimit = timeLimit;
    this.#file = file;
    this.#scope = scope;
    this.#io = io;
    this.#endWaiting = beginWaiting(`reading the warehouse ${file.shown}`);
  }

  /** The calls that match a filter of the API, as a question to the warehouse. */
  selection(filter: Filter): CallSelection {
    const { accounts, where, version } = this.#scope;
    return {
      ...(accounts.length > 0 ? { accounts } : {}),
      ...(where === null ? {} : { where }),
      q: printFilter(filter),
      // Only v3 leaves out calls through call extensions unless the filter includes them.
      ...(version === 'v2' ? { calls: 'all' } : {}),
    };
  }

  /** What was erased and purged from the accounts, which a copy of their calls takes along; null for nothing. */
  async removals(): Promise<string | null> {
    const notes: Record<string, RemovalNote> = {};
    for (const { account } of this.#used(await this.warehouse.lastSync())) {
      const { note } = await this.warehouse.removals(account);
      if (!isNothing(note)) notes[account] = note;
    }
    return Object.keys(notes).length === 0 ? null : printRemovals(notes);
  }

  async count(filter: Filter): Promise<Total> {
    const { calls, accounts } = await this.#countCalls(filter);
    await this.sayAnswered(accounts, timesOf(filter));
    const incomplete = (await this.#lacks(this.#used(accounts), timesOf(filter))).map(
      ({ account, lacks }) => `account ${account}: ${lacks}`,
    );
    return { total: calls, source: 'warehouse', ...(incomplete.length > 0 ? { incomplete } : {}) };
  }

  async get(sid: string): Promise<Call> {
    const { accounts } = this.#scope;
    for (const account of accounts.length > 0 ? accounts : [undefined]) {
      const call = await this.warehouse.get(sid, account);
      if (call === null) continue;
      await this.sayAnswered();
      return call;
    }
    throw new CliError(`the warehouse has no call with the session ID ${sid}`, {
      exitCode: exitCodes.notFound,
      hints: ['--store none asks the API'],
    });
  }

  async *list({ filter, limit, skip, end }: Part): AsyncGenerator<Match> {
    if (limit === Number.POSITIVE_INFINITY) {
      await this.sayAnswered(undefined, timesOf(filter));
      for await (const call of this.#calls(filter)) yield { call, total: null };
      return;
    }
    const { calls: total, accounts } = await this.#countCalls(filter);
    await this.sayAnswered(accounts, timesOf(filter));
    const left = Math.max(0, total - skip);
    if (left === 0) return;
    const cut =
      end === 'first'
        ? { limit, offset: skip }
        : { limit: Math.min(limit, left), offset: Math.max(0, left - limit) };
    for await (const call of this.#calls(filter, cut)) yield { call, total };
  }

  read({ filter }: CallStreamOptions): Reading {
    const self = this;
    let count = 0;
    let copy: WarehouseVerdict['copy'] = { proof: 'whole', reasons: [] };
    const calls = async function* () {
      const period = timesOf(toFilter(filter ?? ''));
      await self.sayAnswered(undefined, period);
      copy = together(await self.#lacks(self.#used(await self.warehouse.lastSync()), period));
      for await (const call of self.#calls(toFilter(filter ?? ''))) {
        count += 1;
        yield call;
      }
    };
    const stream = Readable.from(calls());
    const verdict = new Promise<WarehouseVerdict>((resolve) => {
      stream.once('end', () => resolve({ proof: 'whole', calls: count, copy }));
    });
    return { stream, verdict };
  }

  /** Says that the warehouse answered, how fresh it is, and what it lacks of a period. Returns the first sentence. */
  async sayAnswered(statuses?: readonly AccountStatus[], period?: TimeSlice): Promise<string> {
    const { accounts } = this.#scope;
    const used = this.#used(statuses ?? (await this.warehouse.lastSync()));
    const text = answeredText(this.#file.shown, used);
    say(this.#io, text);
    this.incomplete = (await this.#lacks(used, period)).map(({ account, lacks }) => {
      // Of several accounts, or of those that were chosen, each is named.
      const of = used.length > 1 || accounts.length > 0 ? ` of account ${account}` : '';
      return `INCOMPLETE, the copy${of} is not whole: ${lacks}; calls sync reads them again`;
    });
    for (const line of this.incomplete) say(this.#io, line);
    return text;
  }

  #used(all: readonly AccountStatus[]): readonly AccountStatus[] {
    const { accounts } = this.#scope;
    return accounts.length > 0 ? all.filter(({ account }) => accounts.includes(account)) : all;
  }

  /** The accounts whose copy is not whole, and what it lacks in words. */
  async #lacks(used: readonly AccountStatus[], period?: TimeSlice): Promise<Lack[]> {
    const found: Lack[] = [];
    for (const { account } of used) {
      const verdict = await this.warehouse.verdict(account, period);
      const lacks = verdict === null ? null : describeCopy(verdict);
      if (verdict !== null && lacks !== null) found.push({ account, lacks, ...verdict });
    }
    return found;
  }

  close(): Promise<void> {
    this.#endWaiting();
    return this.warehouse.close();
  }

  #countCalls(filter: Filter) {
    const { signal } = this.#io;
    return this.warehouse.count({ ...this.selection(filter), timeLimit: this.timeLimit, signal });
  }

  #calls(filter: Filter, cut: { readonly limit?: number; readonly offset?: number } = {}) {
    return this.warehouse.calls({ ...this.selection(filter), ...cut, signal: this.#io.signal });
  }
}

/** What the copy of an account lacks, also in words. */
interface Lack extends Pick<CopyVerdict, 'proof' | 'reasons'> {
  readonly account: string;
  readonly lacks: string;
}

/** What is proved of several accounts together. */
function together(lacks: readonly Lack[]): WarehouseVerdict['copy'] {
  const proof = lacks.find((one) => one.proof === 'short')?.proof ?? lacks[0]?.proof ?? 'whole';
  return { proof, reasons: lacks.flatMap(({ reasons }) => reasons) };
}

/** The times that a filter is about. */
export function timesOf({ clauses }: Filter): TimeSlice {
  const range = clauses.find((clause) => clause.kind === 'range' && clause.field === 'date_added');
  if (range?.kind !== 'range') return { from: null, to: null };
  return { from: range.lower?.text ?? null, to: range.upper?.text ?? null };
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
