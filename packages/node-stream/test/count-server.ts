import type { Client, ListQuery, RawPage } from '@call-attribution/core';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { type Bound, type Filter, printFilter } from '@call-attribution/query-dsl';
import { rawPage } from './fake-server.ts';

/** Ways a server of totals may behave. */
export interface CountBehaviour {
  /** Which record of a range comes first. Default the earliest. */
  order?: 'earliest' | 'latest' | 'any';
  /** Refuses `}`, takes it for `]`, or ignores ranges or one end of them. */
  reads?: 'no }' | '} as ]' | 'no ranges' | 'no lower end' | 'no upper end';
  hasNoTotal?: boolean;
  /** Called before each answer; may change the times. */
  before?: (server: CountServer) => void;
}

/** A server without a network that knows when its calls were and nothing else, for plans over many of them. */
export class CountServer implements Pick<Client, 'version' | 'fetchPage'> {
  readonly version: 'v2' | 'v3' = 'v3';
  readonly filters: string[] = [];
  /** Naive milliseconds, ascending. */
  times: number[];
  readonly behaviour: CountBehaviour;

  constructor(times: readonly number[], behaviour: CountBehaviour = {}) {
    this.times = [...times].sort((a, b) => a - b);
    this.behaviour = behaviour;
  }

  async fetchPage(query: ListQuery = {}): Promise<RawPage> {
    query.signal?.throwIfAborted();
    const filter = query.filter as Filter;
    this.filters.push(printFilter(filter));
    if (this.filters.length > 20_000) throw new Error('The planner asks without end.');
    const { order, reads, hasNoTotal, before } = this.behaviour;
    before?.(this);
    const clause = filter.clauses.find((one) => one.kind === 'range' && one.field === 'date_added');
    let { lower, upper } = clause as { lower: Bound | null; upper: Bound | null };
    if (reads === 'no }' && upper?.inclusive === false)
      throw Object.assign(new Error('400: unexpected }'), { status: 400, code: 'bad_request' });
    if (reads === 'no ranges' || reads === 'no lower end') lower = null;
    if (reads === 'no ranges' || reads === 'no upper end') upper = null;
    if (reads === '} as ]' && upper !== null) upper = { ...upper, inclusive: true };
    const [from, to] = [this.#before(lower, true), this.#before(upper, false)];
    const total = Math.max(0, to - from);
    const at = { earliest: from, latest: to - 1, any: from + ((total * 7) >> 4) }[order ?? 'earliest'];
    const records = total === 0 ? [] : [{ sid: `s${at}`, date_added: formatNaive(this.times[at] as number) }];
    return rawPage({ records, first: 1, total: hasNoTotal ? null : total });
  }

  /** How many calls lie before a bound. */
  #before(bound: Bound | null, isLower: boolean): number {
    if (bound === null) return isLower ? 0 : this.times.length;
    return this.countBefore(parseNaive(bound.text) + (bound.inclusive === isLower ? 0 : 1));
  }

  countBefore(time: number): number {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
