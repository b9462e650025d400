import type { FieldSpec } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  planQuestion,
  planSelection,
  type Question,
} from '@call-attribution/questions';
import { ToolError } from '../text/failures.ts';
import { farNotes } from '../text/notes.ts';
import { countOf, edgeOf, endsOf, factsOf, sampleOf } from './api-looks.ts';
import { filterOf, type Stretch } from './api-reads.ts';
import {
  type ApiAccount,
  type ApiSettings,
  askAll,
  namedPeriod,
  originOf,
  readAll,
  stretchesOf,
  wholeOf,
  withoutFailed,
} from './parts.ts';
import { clausesOf, coversAll } from './push-down.ts';
import type {
  Analysis,
  Around,
  CallSource,
  Counted,
  Description,
  Found,
  FoundOne,
  Part,
  ReadRun,
} from './source.ts';
import { ListTally, QuestionTally } from './tallies.ts';

/** Reads calls from the API. What one tool call cannot read is saved, and the next one goes on there. */
export class ApiSource implements CallSource {
  readonly accounts: readonly string[];
  readonly #accounts: readonly ApiAccount[];
  readonly #settings: ApiSettings;

  constructor(accounts: readonly ApiAccount[], settings: ApiSettings) {
    this.accounts = accounts.map(({ name }) => name);
    this.#accounts = accounts;
    this.#settings = settings;
  }

  async analyze(question: Question, run: ReadRun): Promise<Analysis> {
    const now = this.#settings.clock.now();
    const plan = planQuestion(question, { now });
    const clauses = clausesOf(plan.conditions.map(({ condition }) => condition));
    // Which call of a caller it is depends on all of them.
    const stretches = plan.needsSequence
      ? [{ from: null, to: null, clauses: [] }]
      : stretchesOf([plan.period, ...(plan.compared === null ? [] : [plan.compared])], clauses);
    const { parts, failed } = await readAll(
      this.#accounts,
      this.#settings,
      stretches,
      () => new QuestionTally(question, now),
      run,
    );
    const whole = wholeOf(parts, () => new QuestionTally(question, now));
    const origin = originOf(parts, failed);
    const answer = whole.running.answer(this.accounts.map((account) => ({ account, ...nothingKnown })));
    const isDoubtful = answer.compared !== null || hasEmptyTimes(answer);
    if (origin.unfinished !== undefined || !isDoubtful) return { ...origin, answer };
    // Little or nothing in a time: whether there was nothing, or the data does not reach so far, is worth two requests.
    const statuses = await this.#statuses(run);
    if (statuses === null) return { ...origin, answer };
    const told = whole.running.answer(statuses);
    const last =
      statuses
        .flatMap((status) => status.last ?? [])
        .sort()
        .at(-1) ?? null;
    return { ...origin, answer: { ...told, notes: farNotes(told.notes, told.period.to, last) } };
  }

  /** Of when the first and the last calls of the accounts are. Null when one of them does not say. */
  async #statuses(run: ReadRun): Promise<readonly AccountStatus[] | null> {
    const { found, failed } = await askAll(this.#accounts, run, async (account) => ({
      ...nothingKnown,
      account: account.name,
      ...(await endsOf(account, run)),
    }));
    return failed.length === 0 ? found : null;
  }

  async count(selection: CallSelection, run: ReadRun): Promise<Counted> {
    const { conditions, calls, period, zones } = planSelection(selection, {
      now: this.#settings.clock.now(),
    });
    const all = conditions.map(({ condition }) => condition);
    const isMoved = zones.inZone !== null && zones.inZone !== zones.timeZone;
    const isCounted = this.#accounts.every(({ version }) => version === 'v3' || calls === 'all');
    if (!coversAll(all) || isMoved || !isCounted) {
      const { answer, ...origin } = await this.analyze({ ...selection, measures: ['calls'] }, run);
      return { ...origin, total: answer.calls, extensionsLeftOut: answer.extensions.leftOut };
    }
    const stretch = { ...namedPeriod(period), clauses: clausesOf(all) };
    const asOf = this.#now();
    const { found, failed } = await askAll(this.#accounts, run, (each) => countOf(each, stretch, calls, run));
    return {
      total: found.reduce((sum, { total }) => sum + total, 0),
      extensionsLeftOut: found.reduce((sum, { left }) => sum + left, 0),
      asOf,
      ...withoutFailed(failed),
    };
  }

  async list(selection: CallSelection, part: Part, run: ReadRun): Promise<Found> {
    const now = this.#settings.clock.now();
    const { conditions, period, calls, zones } = planSelection(selection, { now });
    const [only, ...more] = this.#accounts;
    const isMoved = zones.inZone !== null && zones.inZone !== zones.timeZone;
    const all = conditions.map(({ condition }) => condition);
    if (only && more.length === 0 && part.order === undefined && coversAll(all) && !isMoved) {
      const page = await this.#page(
        only,
        { ...namedPeriod(period), clauses: clausesOf(all) },
        calls,
        part,
        run,
      );
      if (page !== null) return page;
    }
    const stretches = stretchesOf([period], clausesOf(all));
    const make = () => new ListTally(selection, part, now);
    const { parts, failed } = await readAll(this.#accounts, this.#settings, stretches, make, run);
    const whole = wholeOf(parts, make);
    return {
      ...originOf(parts, failed),
      ...whole.found(),
      total: whole.total,
      extensionsLeftOut: selection.calls === 'website' ? whole.others : 0,
    };
  }

  async get(sid: string, run: ReadRun): Promise<FoundOne | null> {
    let missing: unknown = null;
    const has = async ({ name, client, mask }: ApiAccount) => {
      try {
        const call = await (await client()).getCall(sid, { signal: run.signal });
        return { account: name, call: mask.whole(call), asOf: null, notes: [] };
      } catch (error) {
        if (!CallsError.is(error, 'not_found')) throw error;
        missing = error;
        return name;
      }
    };
    const { found, failed } = await askAll(this.#accounts, run, has);
    const others: string[] = [];
    for (const each of found)
      if (typeof each === 'string') others.push(each);
      else return each;
    const [first] = failed;
    if (first === undefined) throw missing;
    throw new ToolError({ code: 'call_not_known', sid, error: first.error, others });
  }

  /** Says what the latest calls look like: for more, all of them would have to be read. */
  async describe(fields: readonly FieldSpec[], run: ReadRun): Promise<Description> {
    const asOf = this.#now();
    const { found: samples, failed } = await askAll(this.#accounts, run, (account) => sampleOf(account, run));
    const sample = samples.flatMap(({ calls }) => calls);
    const total = samples.reduce((sum, each) => sum + each.total, 0);
    const times = samples.flatMap((each) => each.times).sort();
    return {
      calls: total,
      first: times[0] ?? null,
      last: times.at(-1) ?? null,
      asOf,
      ...withoutFailed(failed),
      fields: fields.map((field) => factsOf(field, sample)),
      basis: sample.length === total ? 'all calls' : `the latest ${sample.length} calls`,
    };
  }

  async around({ from, to }: { from: string | null; to: string | null }, run: ReadRun): Promise<Around> {
    const { found, failed } = await askAll(this.#accounts, run, async (account) => ({
      before:
        from === null ? null : await edgeOf(account, { from: null, to: from, clauses: [] }, 'last', run),
      after: to === null ? null : await edgeOf(account, { from: to, to: null, clauses: [] }, 'first', run),
    }));
    const times = (side: 'before' | 'after') => found.flatMap((each) => each[side] ?? []).sort();
    const { unfinished } = withoutFailed(failed);
    return { before: times('before').at(-1) ?? null, after: times('after')[0] ?? null, unfinished };
  }

  /** A page that the API itself can give. */
  async #page(
    { name, client: open, mask }: ApiAccount,
    stretch: Stretch,
    calls: 'all' | 'website' | 'extensions',
    { offset, limit }: Part,
    run: ReadRun,
  ): Promise<Found | null> {
    const client = await open();
    if (client.version === 'v2' ? calls !== 'all' : calls === 'extensions') return null;
    const asOf = this.#now();
    const filter = filterOf(stretch, client.version === 'v3' && calls === 'all');
    const page = await client.listCalls({
      rows: limit,
      page: offset / limit,
      signal: run.signal,
      ...(filter.clauses.length > 0 ? { filter } : {}),
    });
    return {
      calls: page.records.map((call) => ({ account: name, call: mask.whole(call) })),
      first: page.range?.first ?? offset + 1,
      total: page.range?.total ?? null,
      extensionsLeftOut: calls === 'all' ? 0 : null,
      asOf,
      notes: [],
    };
  }

  #now(): string {
    return new Date(this.#settings.clock.now()).toISOString();
  }
}

/** Whether a day, week or month of the period has no calls. Hours without calls say nothing. */
const hasEmptyTimes = ({ columns, rows, total, calls, period }: Answer): boolean =>
  calls > 0 &&
  (period.from !== null || period.to !== null) &&
  columns.some(
    ({ kind, unit, name }) => kind === 'group' && unit === 'time' && name !== 'hour' && name !== 'weekday',
  ) &&
  [total, ...rows].some((row) => columns.some(({ name }) => row[name] === 0 || row[name] === null));

const nothingKnown = { calls: 0, first: null, last: null, storedAt: null, syncedAt: null };
