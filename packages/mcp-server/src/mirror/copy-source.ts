import type { Call, FieldSpec } from '@call-attribution/core';
import { describeCopy } from '@call-attribution/node-stream/copies';
import {
  type Answer,
  type CallSelection,
  type Question,
  type QuestionField,
  selectCalls,
} from '@call-attribution/questions';
import type { Warehouse } from '@call-attribution/warehouse';
import { showValue } from '../fields/view.ts';
import type { MaskedCall } from '../privacy/mask-record.ts';
import { isObject } from '../protocol/messages.ts';
import { derivedFacts } from '../source/derived-facts.ts';
import type {
  Analysis,
  Around,
  CallSource,
  Counted,
  Description,
  FieldFacts,
  Found,
  FoundOne,
  Listed,
  Part,
  ReadRun,
} from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import { type CopyState, incompleteNote, loadingNote } from '../text/mirror.ts';
import { farNotes, sentencesOf } from '../text/notes.ts';
import { copyFailure } from './copy-failure.ts';
import type { Copy, Mirror } from './mirror.ts';

/** An account, and what keeps its copy. */
export interface CopyAccount {
  readonly name: string;
  readonly mirror: Mirror;
}

/** A copy that can answer, and whose it is. */
type Ready = Copy & { readonly name: string };

type Period = { readonly from: string | null; readonly to: string | null };

const always: Period = { from: null, to: null };

/** Milliseconds that DuckDB may work on a question. */
const timeLimit = 30_000;

/** Reads calls from a local copy, which holds no personal data; from the API while the copy does not have them. */
export class CopySource implements CallSource {
  readonly accounts: readonly string[];
  readonly #accounts: readonly CopyAccount[];
  readonly #api: CallSource;

  constructor(accounts: readonly CopyAccount[], api: CallSource) {
    this.accounts = accounts.map(({ name }) => name);
    this.#accounts = accounts;
    this.#api = api;
  }

  analyze(question: Question, run: ReadRun): Promise<Analysis> {
    const overApi = () => this.#api.analyze(question, run);
    return this.#over(periodOf(question), run, overApi, async (copies) => {
      const [{ warehouse }] = copies;
      const accounts = copies.map(({ account }) => account);
      const { signal } = run;
      const answer = await warehouse.analyze({ ...question, accounts, signal, timeLimit });
      return { ...originOf(answer, copies), answer: withoutFar(answer, copies) };
    });
  }

  count(selection: CallSelection, run: ReadRun): Promise<Counted> {
    const overApi = () => this.#api.count(selection, run);
    return this.#over(periodOf(selection), run, overApi, (copies) => countIn(copies, selection, run));
  }

  list(selection: CallSelection, part: Part, run: ReadRun): Promise<Found> {
    const overApi = () => this.#api.list(selection, part, run);
    // Such a part goes on with a list that was begun over the API.
    if (part.after !== undefined) return overApi();
    return this.#over(periodOf(selection), run, overApi, async (copies) => {
      const counted = await countIn(copies, selection, run);
      const calls = await listIn(copies, selection, part, run);
      return { ...counted, calls, first: part.offset + 1 };
    });
  }

  get(sid: string, run: ReadRun): Promise<FoundOne | null> {
    const overApi = () => this.#api.get(sid, run);
    return this.#over({ from: null, to: '' }, run, overApi, async (copies) => {
      for (const copy of copies) {
        const call = await copy.warehouse.get(sid, copy.account);
        if (call === null) continue;
        const verdict = await copy.warehouse.verdict(copy.account);
        const lacks = verdict === null ? null : describeCopy(verdict);
        return {
          account: copy.name,
          call: stored(call),
          asOf: copy.status.syncedAt,
          notes: lacks === null ? [] : [incompleteNote(lacks)],
        };
      }
      return overApi();
    });
  }

  describe(
    specs: readonly FieldSpec[],
    derived: readonly QuestionField[],
    run: ReadRun,
  ): Promise<Description> {
    const overApi = () => this.#api.describe(specs, derived, run);
    return this.#over(always, run, overApi, async (copies) => {
      const calls = copies.reduce((sum, { status }) => sum + status.calls, 0);
      const lacks = copies.flatMap((copy) => copy.lacks ?? []);
      const [{ warehouse }] = copies;
      const accounts = copies.map(({ account }) => account);
      const ask = (questions: readonly Question[]) =>
        warehouse.analyzeAll(
          questions.map((question) => ({ ...question, accounts, signal: run.signal, timeLimit })),
        );
      return {
        calls,
        ...endsOf(copies),
        asOf: asOf(copies),
        notes: [],
        fields: [...(await factsIn(copies, specs, calls)), ...(await derivedFacts(derived, ask))],
        basis:
          lacks.length === 0 ? 'all calls' : `the calls of a copy that is INCOMPLETE (${lacks.join('; ')})`,
      };
    });
  }

  around({ from, to }: Period, run: ReadRun): Promise<Around> {
    const overApi = () => this.#api.around({ from, to }, run);
    return this.#over({ from: null, to: '' }, run, overApi, async (copies) => {
      const [{ warehouse }] = copies;
      const accounts = copies.map(({ account }) => account);
      const edge = async (measure: 'first' | 'last', selection: CallSelection): Promise<string | null> => {
        const { total } = await warehouse.analyze({ ...selection, accounts, measures: [measure], timeLimit });
        return total[measure] == null ? null : String(total[measure]);
      };
      return {
        before: from === null ? null : await edge('last', { to: from }),
        after: to === null ? null : await edge('first', { from: to }),
      };
    });
  }

  /** Answers from the copy if it can, otherwise over the API. */
  async #over<T>(
    period: Period,
    { signal }: ReadRun,
    overApi: () => Promise<T>,
    overCopy: (copies: readonly [Ready, ...Ready[]]) => Promise<T>,
  ): Promise<T> {
    let waits: CopyState | null = null;
    try {
      const found: Ready[] = [];
      for (const { name, mirror } of this.#accounts) {
        const copy = await mirror.copyFor(period, signal);
        if ('warehouse' in copy) found.push({ ...copy, name });
        else waits ??= copy;
      }
      const [first, ...others] = found;
      if (waits === null && first !== undefined) return await overCopy([first, ...others]);
    } catch (error) {
      signal.throwIfAborted();
      throw copyFailure(error);
    }
    try {
      return withNote(await overApi(), waits);
    } catch (error) {
      if (waits !== null && error instanceof ToolError && error.problem.code === 'needs_mirror')
        throw new ToolError({ code: 'mirror_not_ready', what: error.problem.what, state: waits });
      throw error;
    }
  }
}

const periodOf = ({ from, to }: CallSelection): Period => ({ from: from ?? null, to: to ?? null });

/** A record of the copy: it was masked before it was stored. */
const stored = (call: Call): MaskedCall => call as MaskedCall;

async function countIn(
  copies: readonly [Ready, ...Ready[]],
  selection: CallSelection,
  { signal }: ReadRun,
): Promise<Counted> {
  const accounts = copies.map(({ account }) => account);
  const answer = await copies[0].warehouse.count({ ...selection, accounts, signal, timeLimit });
  const { notes, leftOut, calls, extensions } = answer;
  const said = sentencesOf([
    ...leftOut.filter(({ code }) => code === 'no_time'),
    ...farNotes(notes, selection.to ?? null, endsOf(copies).last),
  ]);
  const origin = originOf(answer, copies);
  return {
    ...origin,
    notes: [...origin.notes, ...said],
    total: calls,
    extensionsLeftOut: extensions.leftOut,
  };
}

/** The first calls of each account, put together: the order and the limit hold for all. */
async function listIn(
  copies: readonly Ready[],
  selection: CallSelection,
  { order, offset, limit }: Part,
  { signal }: ReadRun,
): Promise<readonly Listed[]> {
  const isOne = copies.length === 1;
  const part = isOne ? { offset, limit } : { offset: 0, limit: offset + limit };
  const found: Listed[] = [];
  for (const { warehouse, account, name } of copies)
    for await (const call of warehouse.calls({ ...selection, accounts: [account], order, ...part, signal }))
      found.push({ account: name, call: stored(call) });
  if (isOne) return found;
  const { keyOf, compare } = selectCalls(selection, { order });
  return found
    .map((each) => ({ each, key: keyOf(each.call, each.account) }))
    .sort((a, b) => compare(a.key, b.key))
    .slice(offset, offset + limit)
    .map(({ each }) => each);
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const present = (spec: FieldSpec): string => `${quoted(spec.name)} IS NOT NULL`;

/** How often each field is empty, and its most frequent values. */
async function factsIn(
  copies: readonly [Ready, ...Ready[]],
  specs: readonly FieldSpec[],
  calls: number,
): Promise<readonly FieldFacts[]> {
  const [{ warehouse }] = copies;
  const from = `FROM calls WHERE account IN (${copies.map(({ account }) => literal(account)).join(', ')})`;
  const counts = specs.map((spec, i) => `count(*) FILTER (WHERE ${present(spec)})::INTEGER AS f${i}`);
  const tops = specs.flatMap((spec, i) =>
    spec.personal
      ? []
      : `(SELECT ${i} AS i, ${quoted(spec.name)}::VARCHAR AS v, count(*)::INTEGER AS n ${from} AND ${present(spec)} GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT 3)`,
  );
  const [[filled = {}], frequent] = await Promise.all([
    rowsOf(warehouse, `SELECT ${['1 AS one', ...counts].join(', ')} ${from}`),
    tops.length === 0 ? [] : rowsOf(warehouse, tops.join(' UNION ALL ')),
  ]);
  return specs.map((field, i) => {
    const top = frequent.filter((row) => Number(row.i) === i).sort((a, b) => Number(b.n) - Number(a.n));
    const nulls = calls === 0 ? 0 : 1 - Number(filled[`f${i}`] ?? 0) / calls;
    // Values that occur once say nothing.
    if (Number(top[0]?.n ?? 0) < 2) return { name: field.name, nulls, top: [] };
    return {
      name: field.name,
      nulls,
      top: top.map(({ v, n }) => [showValue(field, v, 60), Number(n)] as const),
    };
  });
}

async function rowsOf(warehouse: Warehouse, sql: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for await (const row of await warehouse.query(sql)) rows.push(row);
  return rows;
}

/** The oldest refresh of the copies. */
const asOf = (copies: readonly Ready[]): string =>
  copies.flatMap(({ status }) => status.syncedAt ?? status.storedAt ?? []).sort()[0] ?? '';

function endsOf(copies: readonly Ready[]): { readonly first: string | null; readonly last: string | null } {
  const times = (end: 'first' | 'last') => copies.flatMap(({ status }) => status[end] ?? []).sort();
  return { first: times('first')[0] ?? null, last: times('last').at(-1) ?? null };
}

function originOf(answer: Pick<Answer, 'asOf'>, copies: readonly Ready[]): Pick<Analysis, 'asOf' | 'notes'> {
  return {
    asOf: answer.asOf ?? '',
    notes: [
      ...copies.flatMap(({ lacks }) => (lacks === null ? [] : [incompleteNote(lacks)])),
      ...(copies.some(({ isPart }) => isPart)
        ? ['The first load is under way; the calls of this period are all there.']
        : []),
    ],
  };
}

const withoutFar = (answer: Answer, copies: readonly Ready[]): Answer => ({
  ...answer,
  notes: farNotes(answer.notes, answer.period.to, endsOf(copies).last),
});

function withNote<T>(result: T, state: CopyState | null): T {
  if (state === null || !isObject(result) || !Array.isArray(result.notes)) return result;
  return { ...result, notes: [...result.notes, loadingNote(state)] };
}
