import {
  type Call,
  type CallPage,
  CallsError,
  type Client,
  type Clock,
  type Version,
} from '@call-attribution/core';
import { type Clause, printFilter } from '@call-attribution/query-dsl';
import type { Incomplete } from '../text/summaries.ts';
import { cleanText } from '../text/untrusted.ts';
import type { ReadRun } from './source.ts';

/** How much is read from the API. */
export interface ReadLimits {
  /** Calls of one period. */
  readonly maxCalls: number;
  /** Milliseconds that a tool call waits. */
  readonly maxTime: number;
}

/** A period, and what else a filter of the API says. */
export interface ReadQuery {
  readonly from: string | null;
  readonly to: string | null;
  readonly clauses: readonly Clause[];
}

/** The calls of a period, through call extensions too. */
export interface ReadCalls {
  readonly calls: readonly Call[];
  /** When the read began. */
  readonly asOf: number;
  readonly incomplete?: Incomplete | undefined;
  /** Rows that came more than once. */
  readonly repeated: number;
}

/** Rows requested per page. The API does not name a largest page; a server that sends fewer is followed. */
const pageRows = 500;
/** Pages that are requested at a time, over all tool calls. */
const atOnce = 2;
/** Milliseconds for which the calls of a period are used again. */
const keptFor = 120_000;
/** Calls of all periods that are kept, as a multiple of what one period may have. */
const keptPeriods = 3;

/** The filter that reads a period, with calls through call extensions. */
export function filterOf({ from, to, clauses }: ReadQuery, withExtensions: boolean): { clauses: Clause[] } {
  const range: Clause[] =
    from === null && to === null
      ? []
      : [
          {
            kind: 'range',
            field: 'date_added',
            lower: from === null ? null : { text: from, inclusive: true },
            upper: to === null ? null : { text: to, inclusive: false },
          },
        ];
  const flag: Clause[] = withExtensions ? [{ kind: 'flag', field: 'inc_gce' }] : [];
  return { clauses: [...range, ...clauses, ...flag] };
}

/** One period while it is read, and after that. */
class PeriodRead {
  readonly query: ReadQuery;
  readonly rest: string;
  readonly asOf: number;
  readonly calls: Call[] = [];
  readonly #seen = new Set<string>();
  usedAt: number;
  repeated = 0;
  total: number | null = null;
  isDone = false;
  page: CallPage | null = null;
  /** The request under way, which all tool calls wait for. */
  step: Promise<void> | null = null;
  #isAscending = true;

  constructor(query: ReadQuery, rest: string, now: number) {
    this.query = query;
    this.rest = rest;
    this.asOf = now;
    this.usedAt = now;
  }

  take(page: CallPage): void {
    this.page = page;
    this.total = page.range?.total ?? this.total;
    for (const call of page.records) {
      if (this.#seen.has(call.sid)) {
        this.repeated += 1;
        continue;
      }
      const before = this.calls.at(-1);
      if (before !== undefined && call.date_added < before.date_added) this.#isAscending = false;
      this.#seen.add(call.sid);
      this.calls.push(call);
    }
    this.isDone = !page.hasNext();
  }

  get upTo(): string | null {
    return this.#isAscending ? (this.calls.at(-1)?.date_added ?? null) : null;
  }

  covers({ from, to }: ReadQuery): boolean {
    const own = this.query;
    const begins = own.from === null || (from !== null && own.from <= from);
    const ends = own.to === null || (to !== null && own.to >= to);
    return begins && ends;
  }
}

/** The calls of a period, out of what was read for a longer one. */
function within(calls: readonly Call[], { from, to }: ReadQuery): readonly Call[] {
  return calls.filter(
    ({ date_added: time }) => (from === null || time >= from) && (to === null || time < to),
  );
}

/**
 * Reads periods from the API, for all tool calls together: a period is read once however many calls want it, few pages are
 * requested at a time, and what was read before a failure or a limit is kept, so that the next call resumes there.
 */
export class ApiReads {
  readonly #client: () => Promise<Client>;
  readonly #version: Version;
  readonly #limits: ReadLimits;
  readonly #clock: Pick<Clock, 'now'>;
  #reads: PeriodRead[] = [];
  #active = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    client: () => Promise<Client>,
    version: Version,
    limits: ReadLimits,
    clock: Pick<Clock, 'now'>,
  ) {
    this.#client = client;
    this.#version = version;
    this.#limits = limits;
    this.#clock = clock;
  }

  async read(query: ReadQuery, run: ReadRun): Promise<ReadCalls> {
    const started = this.#clock.now();
    const read = this.#readOf(query);
    const isLater = read.calls.length > 0;
    let why: Incomplete['why'] | null = null;
    while (!read.isDone && why === null) {
      if (read.calls.length >= this.#limits.maxCalls) why = { code: 'rows', rows: this.#limits.maxCalls };
      else if (read.page !== null && this.#clock.now() - started > this.#limits.maxTime)
        why = { code: 'time', ms: this.#limits.maxTime };
      else {
        try {
          await this.#advance(read, run.signal);
          const said = `Read ${read.calls.length} calls`;
          run.progress(Math.min(read.calls.length, this.#limits.maxCalls), read.total, said);
        } catch (error) {
          run.signal.throwIfAborted();
          // Without a single page there is nothing to answer with.
          if (read.calls.length === 0 || !(error instanceof CallsError)) throw error;
          // A failure of a read that resumed is worth an answer only when it came further.
          if (isLater && !error.isRetryable) throw error;
          why = { code: 'failed', reason: cleanText(error.message).slice(0, 200) };
        }
      }
    }
    read.usedAt = this.#clock.now();
    this.#forget();
    if (isLater && read.isDone)
      run.progress(read.calls.length, read.total, `Read ${read.calls.length} calls`);
    const isShort = read.isDone && read.total !== null && read.calls.length < read.total - read.repeated;
    if (why === null && read.isDone && isShort) why = { code: 'changed' };
    const { asOf, repeated, total, upTo } = read;
    const calls = within(read.calls, why === null || upTo === null ? query : { ...query, to: upTo });
    if (why === null) return { calls, asOf, repeated };
    return { calls, asOf, repeated, incomplete: { read: calls.length, total, upTo, why } };
  }

  #readOf(query: ReadQuery): PeriodRead {
    const rest = printFilter({ clauses: query.clauses });
    const now = this.#clock.now();
    this.#reads = this.#reads.filter((each) => each.step !== null || now - each.asOf < keptFor);
    const same = this.#reads.find(
      (each) => each.rest === rest && each.query.from === query.from && each.query.to === query.to,
    );
    const known = same ?? this.#reads.find((each) => each.isDone && each.rest === rest && each.covers(query));
    if (known) return known;
    const read = new PeriodRead(query, rest, now);
    this.#reads.push(read);
    return read;
  }

  /** Waits for the next page, which another tool call may have requested already. */
  async #advance(read: PeriodRead, signal: AbortSignal): Promise<void> {
    read.step ??= this.#next(read).finally(() => {
      read.step = null;
    });
    const { step } = read;
    signal.throwIfAborted();
    let stop = (): void => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      await Promise.race([step, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #next(read: PeriodRead): Promise<void> {
    await this.#enter();
    try {
      if (read.page === null) {
        const client = await this.#client();
        const rows = Math.min(pageRows, this.#limits.maxCalls);
        const filter = filterOf(read.query, this.#version === 'v3');
        read.take(await client.listCalls({ rows, ...(filter.clauses.length > 0 ? { filter } : {}) }));
      } else read.take(await read.page.next());
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#active >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#active += 1;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#active -= 1;
  }

  /** Keeps memory within bounds: the periods that were not used for longest go first. */
  #forget(): void {
    const most = keptPeriods * this.#limits.maxCalls;
    const inOrder = [...this.#reads].sort((a, b) => b.usedAt - a.usedAt);
    let held = 0;
    this.#reads = inOrder.filter((read) => {
      held += read.calls.length;
      return read.step !== null || held <= most;
    });
  }
}
