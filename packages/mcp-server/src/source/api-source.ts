import type { Call, Client, Clock, FieldSpec } from '@call-attribution/core';
import { addMonths, formatNaive, parseNaive } from '@call-attribution/core/time';
import { matcher } from '@call-attribution/query-dsl';
import type { Cell } from '../fields/view.ts';
import { ToolError } from '../text/failures.ts';
import { repeatedNotes } from '../text/summaries.ts';
import { aggregate, ofKind, type Row } from './aggregate.ts';
import { type ApiReads, filterOf, type ReadCalls } from './api-reads.ts';
import type { KeyContext } from './keys.ts';
import { compareRows, readOrder } from './ranking.ts';
import type {
  Analysis,
  CallSource,
  Counted,
  Description,
  Found,
  FoundOne,
  Origin,
  Part,
  Question,
  ReadRun,
  Selection,
} from './source.ts';

/** What the source needs besides the API. */
export interface ApiContext extends KeyContext {
  readonly client: () => Promise<Client>;
  readonly reads: ApiReads;
  /** The time in milliseconds since 1970. */
  readonly clock: Pick<Clock, 'now'>;
}

const latestRows = 100;

/** Reads calls from the API, as exactly as it can without a copy of them. */
export class ApiSource implements CallSource {
  readonly #context: ApiContext;

  constructor(context: ApiContext) {
    this.#context = context;
  }

  async analyze(selection: Selection, question: Question, run: ReadRun): Promise<Analysis> {
    this.#refuseStored(selection);
    const compared = comparedPeriod(question.compare, selection);
    const now = await this.#read(selection, run);
    const past = compared === null ? null : await this.#read({ ...selection, ...compared }, run);
    const spent = question.spend === undefined ? question : { ...question, limit: Number.MAX_SAFE_INTEGER };
    const found = aggregate(now.calls, past?.calls ?? null, spent, selection, this.#context);
    const { columns, rows, totals } = question.spend === undefined ? found : withSpend(found, question.spend);
    const notes = [
      ...now.notes,
      ...(past?.incomplete ? ['The period compared with could not be read whole.'] : []),
    ];
    return {
      ...now,
      notes,
      incomplete: now.incomplete ?? past?.incomplete,
      columns,
      fields: found.columns.slice(0, question.groupBy.length),
      rows: rows.slice(0, question.limit).map((row) => columns.map((column) => row[column] ?? null)),
      totals,
      calls: now.calls.length,
      groups: found.groups,
      compared,
    };
  }

  async count(selection: Selection, run: ReadRun): Promise<Counted> {
    this.#refuseStored(selection);
    const isPlain =
      selection.caller === undefined && (this.#context.version === 'v3' || selection.calls === 'all');
    if (!isPlain) {
      const found = await this.#read(selection, run);
      return { ...found, total: found.calls.length };
    }
    const client = await this.#context.client();
    const asOf = this.#asOf();
    const countOf = async (withExtensions: boolean) => {
      const filter = filterOf(selection, withExtensions && this.#context.version === 'v3');
      return client.countCalls({ signal: run.signal, ...(filter.clauses.length > 0 ? { filter } : {}) });
    };
    if (selection.calls === 'all') {
      const { total } = await countOf(true);
      return { total, asOf, extensionsLeftOut: 0, notes: [] };
    }
    const [website, all] = await Promise.all([countOf(false), countOf(true)]);
    const extensions = Math.max(0, all.total - website.total);
    const isWebsite = selection.calls === 'website';
    return {
      total: isWebsite ? website.total : extensions,
      asOf,
      extensionsLeftOut: isWebsite ? extensions : 0,
      notes: [],
    };
  }

  async list(selection: Selection, part: Part, run: ReadRun): Promise<Found> {
    this.#refuseStored(selection);
    const found = await this.#read(selection, run);
    const columns = this.#context.fields.map(({ name }) => name);
    const order = readOrder(part.order, columns);
    const usual = [{ column: 'date_added', descending: false }];
    const sorted = [...found.calls].sort((a, b) =>
      compareRows(order.length > 0 ? order : usual, ['sid'])(sortable(a), sortable(b)),
    );
    return {
      ...found,
      calls: sorted.slice(part.offset, part.offset + part.limit),
      total: found.calls.length,
    };
  }

  async get(sid: string, run: ReadRun): Promise<FoundOne> {
    const client = await this.#context.client();
    return { call: await client.getCall(sid, { signal: run.signal }), asOf: null, notes: [] };
  }

  /** Says what the latest calls look like: for more, all of them would have to be read. */
  async describe(fields: readonly FieldSpec[], run: ReadRun): Promise<Description> {
    const { client: open, version, view } = this.#context;
    const client = await open();
    const asOf = this.#asOf();
    const filter = filterOf({ from: null, to: null, clauses: [] }, version === 'v3');
    const query = { signal: run.signal, rows: latestRows, ...(filter.clauses.length > 0 ? { filter } : {}) };
    const oldest = await client.listCalls(query);
    const total = oldest.range?.total ?? oldest.records.length;
    const size = oldest.records.length;
    const lastPage = size === 0 ? 0 : Math.floor((total - 1) / size);
    const newest = lastPage === 0 ? oldest : await client.listCalls({ ...query, rows: size, page: lastPage });
    const before =
      newest.records.length < size && lastPage > 1
        ? (await client.listCalls({ ...query, rows: size, page: lastPage - 1 })).records
        : [];
    const sample = [
      ...before,
      ...(newest === oldest ? [] : newest.records),
      ...(lastPage < 2 ? oldest.records : []),
    ];
    const times = [...oldest.records, ...sample].map(({ date_added: at }) => at).sort();
    return {
      calls: total,
      first: times[0] ?? null,
      last: times.at(-1) ?? null,
      asOf,
      fields: fields.map((field) => factsOf(field, sample, (call) => view(call, [field], 60)[0] ?? null)),
      basis: sample.length === total ? 'all calls' : `the latest ${sample.length} calls`,
    };
  }

  /** The calls of a selection. */
  async #read(selection: Selection, run: ReadRun): Promise<Origin & { calls: readonly Call[] }> {
    const { reads, view, fields } = this.#context;
    const { calls: all, asOf, incomplete, repeated }: ReadCalls = await reads.read(selection, run);
    const matches = matcher({ clauses: [...selection.clauses] });
    const ani = fields.filter(({ name }) => name === 'ani');
    const wanted = all.filter(
      (call) =>
        matches(call) && (selection.caller === undefined || view(call, ani, 99)[0] === selection.caller),
    );
    const calls = ofKind(wanted, selection.calls);
    return {
      calls,
      asOf: new Date(asOf).toISOString(),
      extensionsLeftOut: selection.calls === 'website' ? wanted.length - calls.length : 0,
      notes: repeatedNotes(repeated),
      incomplete,
    };
  }

  #refuseStored({ where, timeZone }: Selection): void {
    if (where !== undefined) throw new ToolError({ code: 'needs_mirror', what: 'where' });
    if (timeZone !== undefined) throw new ToolError({ code: 'needs_mirror', what: 'time_zone' });
  }

  #asOf(): string {
    return new Date(this.#context.clock.now()).toISOString();
  }
}

const numeric = /^-?\d+(?:\.\d+)?$/;

function sortable(call: Readonly<Record<string, unknown>>): Record<string, Cell> {
  return new Proxy<Record<string, Cell>>(
    {},
    {
      get: (_, name) => {
        const value = call[String(name)];
        if (typeof value === 'string')
          return value.length < 16 && numeric.test(value) ? Number(value) : value;
        return typeof value === 'number' ? value : null;
      },
    },
  );
}

/** How often a field is empty, and its most frequent values. */
function factsOf(
  field: FieldSpec,
  calls: readonly Call[],
  cellOf: (call: Call) => Cell,
): Description['fields'][number] {
  const counts = new Map<Cell, number>();
  let nulls = 0;
  for (const call of calls) {
    const cell = cellOf(call);
    if (cell === null) nulls += 1;
    else counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
  const isTelling = !field.personal && (top[0]?.[1] ?? 0) > 1;
  return { field, nulls: calls.length === 0 ? 0 : nulls / calls.length, top: isTelling ? top : [] };
}

/** The period that a question compares with. */
function comparedPeriod(
  compare: Question['compare'],
  { from, to }: Selection,
): { from: string; to: string } | null {
  if (compare === undefined) return null;
  if (typeof compare === 'object') return compare;
  if (from === null || to === null) throw new ToolError({ code: 'compare_needs_period' });
  const [start, end] = [parseNaive(from), parseNaive(to)];
  const begins = (millis: number): boolean => formatNaive(millis).endsWith('-01 00:00:00');
  const index = (millis: number): number =>
    new Date(millis).getUTCFullYear() * 12 + new Date(millis).getUTCMonth();
  const months = begins(start) && begins(end) ? index(end) - index(start) : null;
  if (compare === 'year')
    return { from: formatNaive(addMonths(start, -12)), to: formatNaive(addMonths(end, -12)) };
  // A month is compared with the month before it, whatever their lengths.
  if (months !== null) return { from: formatNaive(addMonths(start, -months)), to: from };
  return { from: formatNaive(start - (end - start)), to: from };
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly totals: Row;
}

/** Adds what was spent on each group, and what a call cost. */
function withSpend({ columns, rows, totals }: Table, spend: Readonly<Record<string, number>>): Table {
  const [group, second] = columns;
  if (group === undefined || !columns.includes('calls') || second === undefined)
    throw new ToolError({ code: 'spend_needs_group' });
  const cost = (row: Row, amount: number | undefined): Row => ({
    ...row,
    spend: amount ?? null,
    cost_per_call: amount === undefined || !row.calls ? null : amount / Number(row.calls),
  });
  // Names are given as people know them, without the marks around a visitor's text.
  const nameOf = (cell: Cell): string => String(cell).replace(/^«|»$/g, '').toLowerCase();
  const amounts = new Map(Object.entries(spend).map(([name, amount]) => [nameOf(name), amount]));
  const all = Object.values(spend).reduce((sum, amount) => sum + amount, 0);
  return {
    columns: [...columns, 'spend', 'cost_per_call'],
    rows: rows.map((row) => cost(row, amounts.get(nameOf(row[group] ?? null)))),
    totals: cost(totals, all),
  };
}
