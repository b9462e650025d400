import type { RawPage } from '@call-attribution/core';
import { formatNaive, hour, second } from '@call-attribution/core/time';
import { Reading, type ReadingOptions, type ReadStart } from '../reader/reading.ts';
import type { Batch } from '../reader/run.ts';
import type { Verdict } from '../reader/verdict.ts';
import { callAxis } from './call-axis.ts';
import { callSource, type PageClient, queryHash } from './call-source.ts';
import { IncompleteError, StreamError } from './errors.ts';
import type { StreamSettings } from './options.ts';
import { ReadTrace } from './read-trace.ts';
import { type WindowQuery, windowQuery } from './window-query.ts';

// The time zone furthest east is 14 hours ahead of UTC; a day more covers clocks that are wrong.
const ahead = 38 * hour;
/** Age from which records are settled: in no time zone are any expected to appear. */
const settled = 14 * hour;

/** One read of calls. Each kind of stream is built on one. */
export class Session extends Reading<RawPage> {
  readonly options: StreamSettings;
  /** What it is about. */
  readonly query: WindowQuery;
  /** Records before this naive time are settled: no more of them are expected to come or go. */
  readonly sealedBefore: string;
  readonly #client: PageClient;
  /** Undefined before the first records are wanted; null when nobody listens. */
  #trace: ReadTrace | null | undefined;

  constructor(client: PageClient, options: StreamSettings, start: ReadStart | null = null) {
    const query = windowQuery(options.filter, client.version);
    const read = readOf(client, query, options, start);
    super(callSource(client, query, options), read);
    this.#client = client;
    this.query = query;
    this.options = options;
    this.sealedBefore = formatNaive(read.settings.sealedBefore);
  }

  /** The next records; null at the end. */
  override next(): Promise<Batch<RawPage> | null> {
    if (this.#trace === undefined) {
      this.#trace = ReadTrace.begin(this.#client, this.options.checkpoint != null);
      this.trace = this.#trace;
    }
    return super.next();
  }

  /** The verdict of a read that came to its end. Throws when the server gave no totals, unless that is to be reported. */
  conclude(): Verdict {
    const verdict = this.verdict(true);
    if (this.options.incomplete === 'report' || !this.ledger.read.isUnproven) return verdict;
    const slice = { from: null, to: null };
    throw new IncompleteError({
      ...{ slice, expected: null, got: verdict.delivered },
      ...{ trouble: 'no_total', tries: 1 },
    });
  }

  /** Publishes how the stream ended. */
  endTrace(outcome: { readonly error: unknown } | { readonly verdict: Verdict }): void {
    this.#trace?.end(outcome);
  }
}

function readOf(
  client: PageClient,
  query: WindowQuery,
  options: StreamSettings,
  start: ReadStart | null,
): ReadingOptions {
  const { clock, rows, prefetch, checkpoint, onProgress } = options;
  const { lower, upper, hasExclusiveBound } = query;
  return {
    ...{ checkpoint, clock, start, onProgress },
    place(error, at) {
      if (error instanceof StreamError) error.checkpoint = at;
    },
    hash: queryHash(query, client.version),
    style: null,
    settings: {
      ...{ axis: callAxis, rows, lower, upper, hasExclusiveBound },
      slicePages: 1,
      tries: 5,
      sealedBefore: Math.floor((clock.now() - settled) / second) * second,
      horizon: Math.floor((clock.now() + ahead) / second) * second,
      lookahead: { ...prefetch, isCareful: start?.goesOn === true },
      keepsFirst: options.onChange === 'keep',
    },
  };
}
