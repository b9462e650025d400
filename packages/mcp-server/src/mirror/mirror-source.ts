import { type Call, type FieldSpec, fields } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { printFilter } from '@call-attribution/query-dsl';
import {
  type Condition,
  parseCondition,
  planQuestion,
  type CallSelection as StoredSelection,
  type Answer as WarehouseAnswer,
} from '@call-attribution/questions';
import { type Cell, keyTextLimit, type RecordView } from '../fields/view.ts';
import type { Reveal } from '../privacy/masking.ts';
import type {
  Analysis,
  CallSource,
  Counted,
  Description,
  Found,
  FoundOne,
  Part,
  Question,
  ReadRun,
  Selection,
} from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import { type CopyState, incompleteNote, loadingNote } from '../text/mirror.ts';
import { copyFailure } from './copy-failure.ts';
import { isMasked, unmasked } from './masked-condition.ts';
import type { Copy, Mirror } from './mirror.ts';
import { Cells } from './safe-cells.ts';

/** What the source needs besides the copy. */
export interface MirrorContext {
  readonly mirror: Mirror;
  /** Answers while the copy cannot. */
  readonly api: CallSource;
  readonly view: RecordView;
  readonly reveal: ReadonlySet<Reveal>;
  /** The zone of the records, when the operator named it. */
  readonly timeZone?: string | undefined;
}

/** Milliseconds that DuckDB may work on a question. */
const timeLimit = 30_000;

/** Reads calls from a local copy; from the API while the copy does not have them. */
export class MirrorSource implements CallSource {
  readonly #context: MirrorContext;
  /** Values that masks stand for, found so far. */
  readonly #masks = new Map<string, readonly string[]>();

  constructor(context: MirrorContext) {
    this.#context = context;
  }

  analyze(selection: Selection, question: Question, run: ReadRun): Promise<Analysis> {
    const overApi = () => this.#context.api.analyze(selection, question, run);
    return this.#over(selection, run, overApi, async (copy) => {
      const { groupBy, measures, having, order, limit, topPer, compare, spend } = question;
      await this.#refuseMasked(measures);
      const cells = new Cells(copy, this.#context);
      const answer = await copy.warehouse.analyze({
        ...(await this.#stored(copy, selection)),
        groupBy,
        measures,
        having,
        order,
        limit,
        topPer,
        compare,
        spend,
        personal: 'show',
        signal: run.signal,
        timeLimit,
      });
      const columns = answer.columns.map(({ name }) => name);
      const groups = answer.columns.flatMap(({ name, kind }) => (kind === 'group' ? [name] : []));
      // Spend next to a mask would say whose mask it is.
      const masked = fields.find(
        (spec) => groups.includes(spec.name) && isMasked(spec, this.#context.reveal),
      );
      if (spend !== undefined && masked) throw new ToolError({ code: 'masked_spend', field: masked.name });
      const rows = await cells.rows(answer.rows, groups);
      return {
        ...originOf(answer, copy, selection),
        columns,
        fields: groups,
        rows: rows.map((row) => columns.map((column) => row[column] ?? null)),
        totals: answer.total as Readonly<Record<string, Cell>>,
        calls: answer.calls,
        groups: answer.groups,
        compared: answer.compared,
      };
    });
  }

  count(selection: Selection, run: ReadRun): Promise<Counted> {
    const overApi = () => this.#context.api.count(selection, run);
    return this.#over(selection, run, overApi, async (copy) => {
      const stored = await this.#stored(copy, selection);
      const answer = await copy.warehouse.count({ ...stored, signal: run.signal, timeLimit });
      return { ...originOf(answer, copy, selection), total: answer.calls };
    });
  }

  list(selection: Selection, { order, offset, limit }: Part, run: ReadRun): Promise<Found> {
    const overApi = () => this.#context.api.list(selection, { order, offset, limit }, run);
    return this.#over(selection, run, overApi, async (copy) => {
      const stored = await this.#stored(copy, selection);
      const answer = await copy.warehouse.count({ ...stored, signal: run.signal, timeLimit });
      const calls: Call[] = [];
      for await (const call of copy.warehouse.calls({ ...stored, order, offset, limit, signal: run.signal }))
        calls.push(call);
      return { ...originOf(answer, copy, selection), calls, total: answer.calls };
    });
  }

  get(sid: string, run: ReadRun): Promise<FoundOne> {
    const overApi = () => this.#context.api.get(sid, run);
    return this.#over({ from: null, to: '' }, run, overApi, async (copy) => {
      const call = await copy.warehouse.get(sid, copy.account);
      if (call === null) return overApi();
      const verdict = await copy.warehouse.verdict(copy.account);
      const lacks = verdict === null ? null : describeCopy(verdict);
      return { call, asOf: copy.status.syncedAt, notes: lacks === null ? [] : [incompleteNote(lacks)] };
    });
  }

  describe(specs: readonly FieldSpec[], run: ReadRun): Promise<Description> {
    const overApi = () => this.#context.api.describe(specs, run);
    return this.#over({ from: null, to: null }, run, overApi, async (copy) => {
      const { calls, first, last, syncedAt } = copy.status;
      const cells = new Cells(copy, this.#context);
      return {
        calls,
        first,
        last,
        asOf: syncedAt ?? '',
        fields: await cells.facts(specs, calls),
        basis: copy.lacks === null ? 'all calls' : `the calls of a copy that is INCOMPLETE (${copy.lacks})`,
      };
    });
  }

  /** Answers from the copy if it can, otherwise over the API, which may have to say that it needs the copy. */
  async #over<T>(
    selection: Pick<Selection, 'from' | 'to'>,
    run: ReadRun,
    overApi: () => Promise<T>,
    overCopy: (copy: Copy) => Promise<T>,
  ): Promise<T> {
    let copy: Copy | CopyState;
    try {
      copy = await this.#context.mirror.copyFor(selection, run.signal);
      if ('warehouse' in copy) return await overCopy(copy);
    } catch (error) {
      run.signal.throwIfAborted();
      throw copyFailure(error);
    }
    try {
      return withNote(await overApi(), copy);
    } catch (error) {
      if (error instanceof ToolError && error.problem.code === 'needs_mirror')
        throw new ToolError({ code: 'mirror_not_ready', what: error.problem.what, state: copy });
      throw error;
    }
  }

  async #stored(copy: Copy, selection: Selection): Promise<StoredSelection> {
    const { timeZone } = this.#context;
    const conditions: Condition[] = [];
    if (selection.where !== undefined) conditions.push(await this.#condition(copy, selection.where));
    if (selection.caller !== undefined)
      conditions.push(await this.#condition(copy, `ani = '${selection.caller.replaceAll("'", "''")}'`));
    return {
      accounts: [copy.account],
      calls: selection.calls,
      ...(selection.from === null ? {} : { from: selection.from }),
      ...(selection.to === null ? {} : { to: selection.to }),
      ...(selection.clauses.length === 0 ? {} : { q: printFilter({ clauses: [...selection.clauses] }) }),
      ...(conditions.length === 0 ? {} : { where: { kind: 'and', parts: conditions } }),
      ...(selection.timeZone === undefined || selection.timeZone === timeZone
        ? {}
        : { inZone: selection.timeZone, ...(timeZone === undefined ? {} : { timeZone }) }),
    };
  }

  async #condition(copy: Copy, text: string): Promise<Condition> {
    const result = parseCondition(text);
    if (!result.ok) {
      const { message, frame, corrected } = result.problem;
      throw new ToolError({ code: 'invalid_where', message, frame, corrected });
    }
    return unmasked(result.condition, this.#context.reveal, (field, mask) => this.#unmask(copy, field, mask));
  }

  /** A measure with a condition may not try values of what is masked, as `where` may not. */
  async #refuseMasked(measures: readonly string[]): Promise<void> {
    for (const part of planQuestion({ measures }).parts)
      if ('condition' in part) await unmasked(part.condition, this.#context.reveal, async () => []);
  }

  /** The stored values that a mask stands for: the spellings of one number. */
  async #unmask(copy: Copy, field: string, mask: string): Promise<readonly string[]> {
    const id = `${field}\n${mask}`;
    const known = this.#masks.get(id);
    if (known !== undefined) return known;
    const spec = fields.filter(({ name }) => name === field);
    const found: string[] = [];
    for (const value of await new Cells(copy, this.#context).valuesOf(field)) {
      if (this.#context.view({ [field]: value }, spec, keyTextLimit)[0] === mask) found.push(value);
    }
    if (found.length > 0) this.#masks.set(id, found);
    return found;
  }
}

function originOf(
  answer: Pick<WarehouseAnswer, 'asOf' | 'leftOut' | 'notes'>,
  { isPart, lacks, status }: Copy,
  { calls, to }: Selection,
): Pick<Analysis, 'asOf' | 'extensionsLeftOut' | 'notes'> {
  const left = answer.leftOut.find(({ code }) => code === 'extensions')?.count ?? 0;
  // Sentences on zones, extensions and groups have their place in the summary.
  const said = answer.leftOut.filter(
    ({ code }) => !['extensions', 'website', 'having', 'top_per', 'limit'].includes(code),
  );
  // The last call of a period is usually some time before its end.
  const isNear =
    to === null || status.last === null || Date.parse(`${to}Z`) - Date.parse(`${status.last}Z`) < day;
  const known = isNear
    ? /^Days and hours are|^No sync of account|^The last call is/
    : /^Days and hours are|^No sync of account/;
  const notes = answer.notes.filter((note) => !known.test(note));
  return {
    asOf: answer.asOf ?? '',
    extensionsLeftOut: calls === 'website' ? left : 0,
    notes: [
      ...(lacks === null ? [] : [incompleteNote(lacks)]),
      ...said.map(({ message }) => message),
      ...notes,
      ...(isPart ? ['The first load is under way; the calls of this period are all there.'] : []),
    ],
  };
}

function withNote<T>(result: T, state: CopyState): T {
  const { notes } = result as { notes?: readonly string[] };
  return notes === undefined ? result : { ...result, notes: [...notes, loadingNote(state)] };
}
