import type { Client, FieldSpec } from '@call-attribution/core';
import { type Cell, showValue } from '../fields/view.ts';
import type { MaskedCall, RecordMask } from '../privacy/mask-record.ts';
import { filterOf, type Stretch } from './api-reads.ts';
import type { Description, ReadRun } from './source.ts';

// What one or two requests say of the calls of an account.

/** An account, as far as a look at it is concerned. */
interface Looked {
  readonly client: () => Promise<Client>;
  readonly mask: RecordMask;
}

const latestRows = 100;

/** How many calls there are, and how many through call extensions are left out. */
export async function countOf(
  { client: open }: Looked,
  stretch: Stretch,
  calls: 'all' | 'website' | 'extensions',
  { signal }: ReadRun,
): Promise<{ readonly total: number; readonly left: number }> {
  const client = await open();
  const count = async (withExtensions: boolean): Promise<number> => {
    const filter = filterOf(stretch, withExtensions);
    return (await client.countCalls({ signal, ...(filter.clauses.length > 0 ? { filter } : {}) })).total;
  };
  if (client.version === 'v2') return { total: await count(false), left: 0 };
  if (calls === 'all') return { total: await count(true), left: 0 };
  const [website, all] = await Promise.all([count(false), count(true)]);
  const extensions = Math.max(0, all - website);
  return calls === 'website' ? { total: website, left: extensions } : { total: extensions, left: 0 };
}

/** The newest calls, and the times of the oldest. */
export async function sampleOf(
  { client: open, mask }: Looked,
  { signal }: ReadRun,
): Promise<{
  readonly calls: readonly MaskedCall[];
  readonly total: number;
  readonly times: readonly string[];
}> {
  const client = await open();
  const filter = filterOf({ from: null, to: null, clauses: [] }, client.version === 'v3');
  const query = { signal, rows: latestRows, ...(filter.clauses.length > 0 ? { filter } : {}) };
  const oldest = await client.listCalls(query);
  const total = oldest.range?.total ?? oldest.records.length;
  const size = oldest.records.length;
  const lastPage = size === 0 ? 0 : Math.floor((total - 1) / size);
  const page = async (number: number) =>
    (await client.listCalls({ ...query, rows: size, page: number })).records;
  const newest = lastPage === 0 ? oldest.records : await page(lastPage);
  const before = newest.length < size && lastPage > 1 ? await page(lastPage - 1) : [];
  const sample = [
    ...before,
    ...(newest === oldest.records ? [] : newest),
    ...(lastPage < 2 ? oldest.records : []),
  ];
  return {
    calls: sample.map((call) => mask.view(call)),
    total,
    times: [...oldest.records, ...sample].map(({ date_added: at }) => at),
  };
}

/** The time of the first or the last call of a stretch. */
export async function edgeOf(
  looked: Looked,
  stretch: Stretch,
  edge: 'first' | 'last',
  run: ReadRun,
): Promise<string | null> {
  const { first, last } = await firstOf(looked, stretch, run);
  const { records } = edge === 'first' ? first : await last();
  return records[0]?.date_added ?? null;
}

/** How many calls an account has, and the times of the first and the last one. */
export async function endsOf(
  looked: Looked,
  run: ReadRun,
): Promise<{ readonly calls: number; readonly first: string | null; readonly last: string | null }> {
  const { total, first, last } = await firstOf(looked, { from: null, to: null, clauses: [] }, run);
  const [start, end] = [first, await last()].map(({ records }) => records[0]?.date_added ?? null);
  return { calls: total, first: start ?? null, last: end ?? null };
}

async function firstOf({ client: open }: Looked, stretch: Stretch, { signal }: ReadRun) {
  const client = await open();
  const filter = filterOf(stretch, client.version === 'v3');
  const query = { signal, rows: 1, ...(filter.clauses.length > 0 ? { filter } : {}) };
  const first = await client.listCalls(query);
  const total = first.range?.total ?? first.records.length;
  const last = async () => (total < 2 ? first : client.listCalls({ ...query, page: total - 1 }));
  return { total, first, last };
}

/** How often a field is empty, and its most frequent values. */
export function factsOf(field: FieldSpec, calls: readonly MaskedCall[]): Description['fields'][number] {
  const counts = new Map<Cell, number>();
  let nulls = 0;
  for (const call of calls) {
    const cell = showValue(field, Reflect.get(call, field.name), 60);
    if (cell === null) nulls += 1;
    else counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
  const isTelling = !field.personal && (top[0]?.[1] ?? 0) > 1;
  return {
    name: field.name,
    nulls: calls.length === 0 ? 0 : nulls / calls.length,
    top: isTelling ? top : [],
  };
}
