import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { CopyVerdict, Removals } from '@call-attribution/node-stream/copies';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, Answer, CallSelection, Question } from '@call-attribution/questions';
import type { Warehouse } from '@call-attribution/warehouse';
import { loadLibrary, type WarehouseFile } from '../stores/choose.ts';
import { whileWaiting } from '../term/waiting.ts';
import { type CopyContext, CopySource, type Cut, type ReadCopy } from './copy-source.ts';
import { whereOf } from './filter.ts';
import type { Source } from './source.ts';

const usualTimeLimit = 60_000;

/** Opens a warehouse. The timeout is how long a question may take, and how long another process is waited for. */
export async function openWarehouseCopy(
  file: WarehouseFile,
  { settings, args, io }: CopyContext,
  accounts: readonly string[],
): Promise<WarehouseCopy> {
  const { openWarehouse } = await loadLibrary();
  const timeLimit = settings.timeout?.value ?? usualTimeLimit;
  const wait = Math.min(10_000, timeLimit);
  const warehouse = await whileWaiting(`waiting for the warehouse ${file.shown}`, () =>
    openWarehouse(file.path, { create: false, wait }),
  );
  const where = whereOf(args);
  const { signal } = io;
  return new WarehouseCopy(warehouse, file.shown, {
    ...{ accounts, where, timeLimit, signal },
    version: settings.apiVersion.value,
  });
}

/** Which calls of a warehouse a command reads, and how long it may take. */
interface Scope {
  readonly accounts: readonly string[];
  readonly version: 'v2' | 'v3';
  readonly where: string | null;
  readonly timeLimit: number;
  readonly signal: AbortSignal;
}

/** A source that is a warehouse. */
export type WarehouseSource = CopySource<WarehouseCopy>;

/** Is the source a warehouse, which counts groups and evaluates conditions by itself? */
export const isWarehouse = (source: Source): source is WarehouseSource =>
  source instanceof CopySource && source.copy instanceof WarehouseCopy;

/** Calls in DuckDB. */
export class WarehouseCopy implements ReadCopy {
  readonly kind = 'warehouse';
  readonly warehouse: Warehouse;
  readonly shown: string;
  readonly address: string;
  /** Milliseconds that a question may take. */
  readonly timeLimit: number;
  readonly #scope: Scope;

  constructor(warehouse: Warehouse, shown: string, scope: Scope) {
    this.warehouse = warehouse;
    this.shown = shown;
    this.address = `duckdb:${shown}`;
    this.timeLimit = scope.timeLimit;
    this.#scope = scope;
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

  statuses(): Promise<readonly AccountStatus[]> {
    return this.warehouse.lastSync();
  }

  verdict(account: string, period?: TimeSlice): Promise<CopyVerdict | null> {
    return this.warehouse.verdict(account, period);
  }

  removals(account: string): Promise<Removals> {
    return this.warehouse.removals(account);
  }

  get(sid: string, account: string | null): Promise<Call | null> {
    return this.warehouse.get(sid, account ?? undefined);
  }

  count(filter: Filter) {
    const { timeLimit, signal } = this.#scope;
    return this.warehouse.count({ ...this.selection(filter), timeLimit, signal });
  }

  async ask(questions: readonly Question[]): Promise<readonly Answer[]> {
    const { accounts, timeLimit, signal } = this.#scope;
    const limits = { timeLimit, signal, ...(accounts.length > 0 ? { accounts } : {}) };
    // An open statement keeps the file open between the questions.
    await using _open = await this.warehouse.query('select 1');
    const answers: Answer[] = [];
    for (const question of questions) answers.push(await this.warehouse.analyze({ ...question, ...limits }));
    return answers;
  }

  calls(filter: Filter, cut: Cut = {}): AsyncIterable<Call> {
    return this.warehouse.calls({ ...this.selection(filter), ...cut, signal: this.#scope.signal });
  }

  close(): Promise<void> {
    return this.warehouse.close();
  }
}
