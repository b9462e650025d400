import {
  type Call,
  type CallPage,
  type Client,
  HttpError,
  type ListQuery,
  type RawPage,
  type Version,
} from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import { fixtureCalls } from '@call-attribution/core/testing';
import { matcher, toFilter } from '@call-attribution/query-dsl';

/** Calls that all came from a website. */
export const websiteCalls = (count: number): readonly Call[] =>
  fixtureCalls(count).map((call) => ({ ...call, channel: 'Tracker' }));

/** What a fake client is asked, and how it misbehaves. */
export interface FakeOptions {
  readonly version?: Version;
  /** Most rows a page has, however many are asked. */
  readonly maxRows?: number;
  /** Leaves out the total. */
  readonly withoutTotal?: boolean;
  /** Called before each answer; may throw or wait. */
  readonly before?: (query: ListQuery) => void | Promise<void>;
  readonly smsNumbers?: readonly { number: string; smsEnabled: boolean | string; url: string }[];
}

/** The page as bytes, as the readers of whole lists ask for it. */
function rawPageOf({ records, range, meta }: CallPage): RawPage {
  const parts = records.map((call) => Buffer.from(JSON.stringify(call)));
  let end = 1;
  const ranges = parts.map((part) => {
    const start = end;
    end = start + part.length + 1;
    return { start, end: end - 1 };
  });
  const bytes = Buffer.from(`[${parts.join(',')}]`);
  return {
    bytes,
    range,
    meta,
    count: records.length,
    byteRanges: () => ranges,
    records: () => [...records],
    record: (index: number) => records[index] as Call,
  };
}

/** A client over an array, for tests of what the tools make of answers. */
export function fakeClient(calls: readonly Call[], options: FakeOptions = {}): Client {
  const chosen = (query: Pick<ListQuery, 'filter'>): Call[] => {
    const filter = query.filter === undefined ? { clauses: [] } : toFilter(query.filter);
    const matches = matcher(filter);
    const isFlagged = filter.clauses.some(({ kind }) => kind === 'flag');
    return calls.filter(
      (call) =>
        matches(call as unknown as Record<string, unknown>) &&
        (isFlagged || options.version === 'v2' || !isCallExtension(call)),
    );
  };
  const onePage = async (query: ListQuery): Promise<CallPage> => {
    await options.before?.(query);
    query.signal?.throwIfAborted();
    const found = chosen(query);
    const asked = query.rows ?? 100;
    const rows = Math.min(asked, options.maxRows ?? asked);
    const number = query.page ?? 0;
    const records = found.slice(number * rows, (number + 1) * rows);
    const total = options.withoutTotal ? null : found.length;
    const first = records.length === 0 ? 0 : number * rows + 1;
    const end = number * rows + records.length;
    return {
      records,
      total: options.withoutTotal ? null : found.length,
      hasNext: () => (options.withoutTotal ? records.length > 0 : records.length > 0 && end < found.length),
      next: () => onePage({ ...query, page: number + 1 }),
      range: options.withoutTotal
        ? null
        : { first, last: first === 0 ? 0 : first + records.length - 1, total },
      meta: { status: 200, headers: {}, requestId: null, attempts: 1, rows: asked, page: number },
    } as unknown as CallPage;
  };
  const client = {
    version: options.version ?? 'v3',
    baseUrl: 'http://127.0.0.1:1',
    listCalls(query: ListQuery = {}) {
      const first = onePage(query);
      first.catch(() => {});
      async function* pages() {
        for (let number = 0; ; number += 1) {
          const page = number === 0 ? await first : await onePage({ ...query, page: number });
          if (page.records.length > 0 || number === 0) yield page;
          if (page.records.length === 0) return;
        }
      }
      return Object.assign(first, { pages });
    },
    async fetchPage(query: ListQuery = {}) {
      const page = await onePage({ ...query, rows: query.rows ?? 20 });
      return rawPageOf(page);
    },
    async getCall(sid: string) {
      await options.before?.({});
      const found = calls.find((call) => call.sid === sid);
      if (!found) throw new HttpError('not_found', 'There is no such call.', { status: 404 });
      return found;
    },
    async countCalls(query: Pick<ListQuery, 'filter'> = {}) {
      await options.before?.(query);
      return { total: chosen(query).length, source: 'content-range' };
    },
    async listSmsNumbers() {
      await options.before?.({});
      return [...(options.smsNumbers ?? [])];
    },
    async close() {},
  };
  return client as unknown as Client;
}
