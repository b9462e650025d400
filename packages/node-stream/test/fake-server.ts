import type { Call, ListQuery, PageItem, RawPage } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { type Filter, matcher } from '@call-attribution/query-dsl';
import type { PageClient } from '../src/call-source.ts';

/** What the streams ask of a client, in full. */
export interface PageQuery {
  readonly filter: Filter;
  readonly rows: number;
  readonly page: number;
  readonly signal: AbortSignal;
}

/** A record of the fake server: what the reading of pages depends on. */
export interface FakeRecord {
  readonly sid: string;
  readonly date_added: string;
  readonly acct_id?: string;
  readonly note?: string;
  readonly ppc_status?: string;
}

/** Ways a server may behave; all may be changed while it is read. */
export interface FakeBehaviour {
  /** The order of its rows. Default by time, then sid. */
  order?: (a: FakeRecord, b: FakeRecord) => number;
  /** Gives at most so many rows. */
  clamp?: (asked: number) => number;
  /** Called before each answer, to move records about. */
  before?: (request: PageQuery, server: FakeServer) => void;
  /** Takes `}` for `]`. */
  isClosed?: boolean;
  /** Gives no totals. */
  hasNoTotal?: boolean;
  /** Changes the page before it goes out. */
  after?: (page: FakePage, request: PageQuery) => FakePage;
  /** Answers late, or not before its signal aborts. */
  delay?: (request: PageQuery) => Promise<void>;
}

export interface FakePage {
  records: readonly FakeRecord[];
  first: number;
  total: number | null;
}

/** A server without a network: pages of records in memory, cut and counted as the API says. */
export class FakeServer implements PageClient {
  readonly version: 'v2' | 'v3' = 'v3';
  readonly requests: PageQuery[] = [];
  readonly behaviour: FakeBehaviour;
  records: FakeRecord[];

  constructor(records: readonly FakeRecord[], behaviour: FakeBehaviour = {}) {
    this.records = [...records];
    this.behaviour = behaviour;
  }

  async fetchPage(query: ListQuery = {}): Promise<RawPage> {
    const request = query as unknown as PageQuery;
    request.signal.throwIfAborted();
    this.requests.push(request);
    if (this.requests.length > 5000)
      throw new Error('The fake server was asked 5000 times: the reader is lost.');
    const { behaviour } = this;
    await behaviour.delay?.(request);
    behaviour.before?.(request, this);
    const matches = matcher(behaviour.isClosed ? closed(request.filter) : request.filter);
    const all = this.records
      .filter((record) => matches({ ...record }))
      .sort(behaviour.order ?? byTime);
    const rows = behaviour.clamp?.(request.rows) ?? request.rows;
    const from = request.page * rows;
    const page = {
      records: all.slice(from, from + rows),
      first: from + 1,
      total: behaviour.hasNoTotal ? null : all.length,
    };
    return rawPage(behaviour.after?.(page, request) ?? page);
  }
}

/** A server whose record with this sid cannot be parsed; null: none can. */
export function breaking(records: readonly FakeRecord[], sid: string | null): FakeServer {
  const server = new FakeServer(records);
  const fetchPage = server.fetchPage.bind(server);
  server.fetchPage = async (query) => {
    const page = await fetchPage(query);

    const items = page.items().map((item) => ({
      ...item,
      read() {
        if (sid === null || item.id === sid) throw new Error('talk_minutes is not a number');
        return item.read();
      },
    }));
    return { ...page, items: () => items };
  };
  return server;
}

/** A server that gives a record twice, the second time with a note. */
export const doubling = (records: readonly FakeRecord[], sid: string): FakeServer =>
  new FakeServer(records, {
    after(page) {
      const rows = page.records.flatMap((one) =>
        one.sid === sid ? [one, { ...one, note: 'twice' }] : [one],
      );
      return {
        ...page,
        records: rows,
        total: (page.total ?? 0) + rows.length - page.records.length,
      };
    },
  });

/** The bytes and places of a page, as core's client gives them. */
export function rawPage({ records, first, total }: FakePage): RawPage {
  const parts = records.map((record) => Buffer.from(JSON.stringify(record)));
  const bytes = Buffer.from(`[${parts.join(',')}]`);
  const isEmpty = records.length === 0;
  const page: RawPage = {
    bytes,
    count: records.length,
    range: { first: isEmpty ? 0 : first, last: isEmpty ? 0 : first + records.length - 1, total },
    meta: { status: 200, headers: {}, requestId: null, attempts: 1, rows: 0, page: 0 },
    items: () => items,
  };
  let end = 0;
  const items = records.map((record, index): PageItem => {
    const start = end + 1;
    end = start + (parts[index] as Buffer).length;
    const read = () => JSON.parse(String(parts[index])) as Call;
    const { acct_id: account = null } = record;
    const at = parseNaive(record.date_added);
    return { id: record.sid, at, account, page, index, start, end, read };
  });
  return page;
}

/** `count` records, the first at `start`, `step(i)` seconds from each to the next. */
export function fakeRecords(
  count: number,
  step: (i: number) => number = () => 60,
  start = '2026-01-01 00:00:00',
): FakeRecord[] {
  let time = Date.parse(`${start.replace(' ', 'T')}Z`);
  return Array.from({ length: count }, (_, i) => {
    const date_added = new Date(time).toISOString().slice(0, 19).replace('T', ' ');
    time += step(i) * 1000;
    return { sid: `s${String(i).padStart(7, '0')}`, date_added };
  });
}

export function byTime(a: FakeRecord, b: FakeRecord): number {
  return a.date_added.localeCompare(b.date_added) || a.sid.localeCompare(b.sid);
}

function closed({ clauses }: Filter): Filter {
  return {
    clauses: clauses.map((clause) =>
      clause.kind === 'range' && clause.upper !== null
        ? { ...clause, upper: { ...clause.upper, inclusive: true } }
        : clause,
    ),
  };
}
