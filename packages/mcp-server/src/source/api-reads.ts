import { type Call, CallsError, type Client, type Clock } from '@call-attribution/core';
import {
  type Checkpoint,
  createCallStream,
  describeVerdict,
  type Progress,
} from '@call-attribution/node-stream';
import { type Clause, printFilter } from '@call-attribution/query-dsl';
import { cleanText } from '../privacy/untrusted.ts';
import type { Unfinished } from '../text/summaries.ts';
import type { ReadRun } from './source.ts';

/** How much one tool call reads from the API. */
export interface ReadLimits {
  /** Calls. */
  readonly maxCalls: number;
  /** Milliseconds. */
  readonly maxTime: number;
}

/** The calls to read: a period of naive times, null where it is open, and what else a filter of the API says. */
export interface Stretch {
  readonly from: string | null;
  readonly to: string | null;
  readonly clauses: readonly Clause[];
}

/** What a tool call may still read. */
export interface Allowance {
  calls: number;
  readonly until: number;
}

/** How far a read came. */
export interface StretchRead {
  /** When the first of its calls were read. */
  readonly asOf: number;
  /** Where to go on; null when all was read. */
  readonly checkpoint: Checkpoint | null;
  /** Calls read, in all runs. */
  readonly read: number;
  readonly total: number | null;
  readonly why: Unfinished['why'] | null;
  /** What was not proved, in words. */
  readonly doubt: string | null;
}

/** Where an earlier run stopped. */
export interface StretchStart {
  readonly checkpoint: Checkpoint;
  readonly asOf: number;
}

/** Milliseconds for which the calls of a stretch are used again. */
const keptFor = 120_000;
/** Most calls that are kept, of all stretches. */
const mostKept = 60_000;

/** The calls of a stretch, while and after they are read. */
interface Kept {
  readonly stretch: Stretch;
  readonly rest: string;
  readonly asOf: number;
  readonly calls: Call[];
  checkpoint: Checkpoint | null;
  isWhole: boolean;
}

/** The filter of a stretch. With `withExtensions` it includes calls through call extensions, as v3 of the API wants it said. */
export function filterOf({ from, to, clauses }: Stretch, withExtensions: boolean): { clauses: Clause[] } {
  const all: Clause[] = [...clauses];
  if (from !== null || to !== null) {
    const lower = from === null ? null : { text: from, inclusive: true };
    const upper = to === null ? null : { text: to, inclusive: false };
    all.unshift({ kind: 'range', field: 'date_added', lower, upper });
  }
  if (withExtensions) all.push({ kind: 'flag', field: 'inc_gce' });
  return { clauses: all };
}

/**
 * Reads calls of one account from the API, for all tool calls together: those that want the same calls wait for each other, and what was
 * read a moment ago is used again.
 */
export class ApiReads {
  readonly #client: () => Promise<Client>;
  readonly #clock: Pick<Clock, 'now'>;
  #kept: Kept[] = [];
  readonly #turns = new Map<string, Promise<void>>();

  constructor(client: () => Promise<Client>, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Reads a stretch and passes each page to `take`. `resume` says where an earlier process stopped, and is asked only when this one does
   * not have these calls: otherwise all of them are passed again.
   */
  async read(
    stretch: Stretch,
    allowance: Allowance,
    take: (calls: readonly Call[]) => void,
    run: ReadRun,
    resume: () => StretchStart | null,
  ): Promise<StretchRead> {
    const id = printFilter(filterOf(stretch, true));
    const leave = await this.#turn(id, run.signal);
    try {
      const kept = this.#find(stretch);
      if (kept?.isWhole) {
        take(within(kept.calls, stretch));
        run.progress(kept.calls.length, kept.calls.length, `Read ${kept.calls.length} calls`);
        const { asOf, calls } = kept;
        return { asOf, checkpoint: null, read: calls.length, total: calls.length, why: null, doubt: null };
      }
      if (kept) take(kept.calls);
      return await this.#readOn(stretch, kept, kept ? null : resume(), allowance, take, run);
    } finally {
      leave();
    }
  }

  async #readOn(
    stretch: Stretch,
    kept: Kept | undefined,
    start: StretchStart | null,
    allowance: Allowance,
    take: (calls: readonly Call[]) => void,
    { signal, progress }: ReadRun,
  ): Promise<StretchRead> {
    const client = await this.#client();
    const asOf = kept?.asOf ?? start?.asOf ?? this.#clock.now();
    // Calls that are not all here cannot be used again.
    let own = kept ?? (start === null ? this.#keep(stretch, asOf) : null);
    let come: Pick<Progress, 'done' | 'total'> = { done: 0, total: null };
    const stream = createCallStream(client, {
      filter: filterOf(stretch, client.version === 'v3'),
      checkpoint: kept?.checkpoint ?? start?.checkpoint ?? null,
      signal,
      onError: 'skip',
      onProgress: (now) => {
        come = now;
      },
      rows: Math.min(1000, Math.max(1, allowance.calls)),
    });
    let checkpoint = kept?.checkpoint ?? start?.checkpoint ?? null;
    let why: Unfinished['why'] | null = null;
    try {
      for await (const page of stream.pages()) {
        const { items } = page;
        take(items);
        checkpoint = page.checkpoint;
        allowance.calls -= items.length;
        if (own !== null) own = this.#add(own, items, checkpoint);
        const { done, total } = come;
        progress(done, total, `Read ${done} calls`);
        if (total !== null && done >= total) continue;
        if (allowance.calls <= 0) why = { code: 'rows' };
        else if (this.#clock.now() > allowance.until) why = { code: 'time' };
        if (why !== null) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      // Without a single page there is nothing to answer with.
      if (checkpoint === null || !(error instanceof CallsError)) throw error;
      why = { code: 'failed', reason: cleanText(error.summary).slice(0, 200) };
    }
    const { done: read, total } = come;
    if (why !== null) return { asOf, checkpoint, read, total, why, doubt: null };
    const verdict = await stream.verdict.catch(() => null);
    if (own !== null) own.isWhole = verdict?.proof === 'whole';
    // Without totals of the server nothing is ever proved, and saying so each time helps nobody.
    const isDoubtful = verdict?.gaps.some(({ why }) => why !== 'no_total') ?? false;
    const doubt = verdict !== null && isDoubtful ? describeVerdict(verdict) : null;
    return { asOf, checkpoint: null, read, total: total ?? read, why: null, doubt };
  }

  /** Calls that were read a moment ago. */
  #find(stretch: Stretch): Kept | undefined {
    const now = this.#clock.now();
    this.#kept = this.#kept.filter(({ asOf }) => now - asOf < keptFor);
    const rest = printFilter({ clauses: [...stretch.clauses] });
    const alike = this.#kept.filter((each) => each.rest === rest);
    return (
      alike.find(({ stretch: own }) => own.from === stretch.from && own.to === stretch.to) ??
      alike.find((each) => each.isWhole && covers(each.stretch, stretch))
    );
  }

  #keep(stretch: Stretch, asOf: number): Kept {
    const rest = printFilter({ clauses: [...stretch.clauses] });
    const kept: Kept = { stretch, rest, asOf, calls: [], checkpoint: null, isWhole: false };
    this.#kept.push(kept);
    return kept;
  }

  /** Adds a page. Returns null when there are too many calls to keep. */
  #add(kept: Kept, calls: readonly Call[], checkpoint: Checkpoint): Kept | null {
    kept.calls.push(...calls);
    kept.checkpoint = checkpoint;
    let held = this.#kept.reduce((sum, each) => sum + each.calls.length, 0);
    // The oldest goes first, and the one at hand last.
    for (const each of this.#kept.filter((other) => other !== kept)) {
      if (held <= mostKept) break;
      held -= each.calls.length;
      this.#kept = this.#kept.filter((other) => other !== each);
    }
    if (held <= mostKept) return kept;
    this.#kept = this.#kept.filter((other) => other !== kept);
    return null;
  }

  /** Waits until nobody else reads the same calls. */
  async #turn(id: string, signal: AbortSignal): Promise<() => void> {
    for (let before = this.#turns.get(id); before !== undefined; before = this.#turns.get(id))
      await orAborted(before, signal);
    signal.throwIfAborted();
    let end = (): void => undefined;
    this.#turns.set(id, new Promise((resolve) => (end = resolve)));
    return () => {
      this.#turns.delete(id);
      end();
    };
  }
}

function covers(own: Stretch, { from, to }: Stretch): boolean {
  const begins = own.from === null || (from !== null && own.from <= from);
  const ends = own.to === null || (to !== null && own.to >= to);
  return begins && ends;
}

/** The calls of a period, out of what was read for a longer one. */
function within(calls: readonly Call[], { from, to }: Stretch): readonly Call[] {
  return calls.filter(
    ({ date_added: time }) => (from === null || time >= from) && (to === null || time < to),
  );
}

async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
