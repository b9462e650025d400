import type { FieldSpec } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  createAnswer,
  planQuestion,
  planSelection,
  type Question,
  type QuestionField,
} from '@call-attribution/questions';
import { ToolError } from '../text/failures.ts';
import { farNotes, isOnEnds, sentencesOf } from '../text/notes.ts';
import { countOf, edgeOf, endsOf, factsOf, sampleOf } from './api-looks.ts';
import { filterOf, type Stretch } from './api-reads.ts';
import { derivedFacts } from './derived-facts.ts';
import {
  type ApiAccount,
  type ApiSettings,
  askAll,
  namedPeriod,
  originOf,
  readAll,
  sentPeriod,
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
  #ends: { readonly at: number; readonly statuses: readonly AccountStatus[] } | null = null;

  constructor(accounts: readonly ApiAccount[], settings: ApiSettings) {
    this.accounts = accounts.map(({ name }) => name);
    this.#accounts = accounts;
    this.#settings = settings;
  }

  async analyze(question: Question, run: ReadRun): Promise<Analysis> {
    const now = this.#settings.clock.now();
    const plan = planQuestion(question, { now });
    const clauses = clausesOf(plan.conditions.map(({ condition }) => condition));
    const asked = plan.compared === null ? [plan.period] : [plan.period, plan.compared];
    const periods = asked.map((period) => sentPeriod(period, plan.zones));
    // Which call of a caller it is depends on all of them.
    const stretches = plan.needsSequence
      ? [{ from: null, to: null, clauses: [] }]
      : stretchesOf(periods, clauses);
    const { parts, failed } = await readAll(
      this.#accounts,
      this.#settings,
      stretches,
      () => new QuestionTally(question, now),
      run,
    );
    const whole = wholeOf(parts, () => new QuestionTally(question, now));
    const origin = originOf(parts, failed);
    const seen = whole.running.answer();
    const plain = { ...seen, notes: seen.notes.filter((note) => !isOnEnds(note)) };
    if (origin.unfinished !== undefined || !withoutFar(seen).notes.some(isOnEnds))
      return { ...origin, answer: plain };
    // What was read begins late or ends early: whether the data does so is worth two requests.
    const statuses = await this.#statuses(run);
    return { ...origin, answer: statuses === null ? plain : withoutFar(whole.running.answer(statuses)) };
  }

  /** What the first and the last calls of the accounts say of a period. */
  async #endNotes(selection: CallSelection, run: ReadRun): Promise<readonly string[]> {
    if (selection.from === undefined && selection.to === undefined) return [];
    const statuses = await this.#statuses(run);
    return statuses === null
      ? []
      : sentencesOf(withoutFar(createAnswer(selection).answer(statuses)).notes.filter(isOnEnds));
  }

  /** Of when the first and the last calls of the accounts are. Null when one of them does not say, or there is no time to ask. */
  async #statuses(run: ReadRun): Promise<readonly AccountStatus[] | null> {
    const now = this.#settings.clock.now();
    if (now > run.began + this.#settings.limits.maxTime) return null;
    if (this.#ends !== null && now - this.#ends.at < keptFor) return this.#ends.statuses;
    try {
      const { found, failed } = await askAll(this.#accounts, run, async (account) => ({
        ...nothingKnown,
        account: account.name,
        ...(await endsOf(account, run)),
      }));
      if (failed.length > 0) return null;
      this.#ends = { at: now, statuses: found };
      return found;
    } catch (error) {
      run.signal.throwIfAborted();
      if (error instanceof CallsError || error instanceof ToolError) return null;
      throw error;
    }
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
      const notes = [...origin.notes, ...sentencesOf(answer.notes.filter(isOnEnds))];
      return { ...origin, notes, total: answer.calls, extensionsLeftOut: answer.extensions.leftOut };
    }
    const stretch = { ...namedPeriod(period), clauses: clausesOf(all) };
    const asOf = this.#now();
    const [{ found, failed }, ends] = await Promise.all([
      askAll(this.#accounts, run, (each) => countOf(each, stretch, calls, run)),
      this.#endNotes(selection, run),
    ]);
    const without = withoutFailed(failed);
    return {
      total: found.reduce((sum, { total }) => sum + total, 0),
      extensionsLeftOut: found.reduce((sum, { left }) => sum + left, 0),
      asOf,
      ...without,
      notes: [...without.notes, ...ends],
    };
  }

  async list(selection: CallSelection, part: Part, run: ReadRun): Promise<Found> {
    const found = await this.#listed(selection, part, run);
    const isFirst = part.offset === 0 && part.after === undefined;
    if (!isFirst || found.unfinished !== undefined) return found;
    return { ...found, notes: [...found.notes, ...(await this.#endNotes(selection, run))] };
  }

  async #listed(selection: CallSelection, part: Part, run: ReadRun): Promise<Found> {
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
    const stretches = stretchesOf([sentPeriod(period, zones)], clausesOf(all));
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
  async describe(
    fields: readonly FieldSpec[],
    derived: readonly QuestionField[],
    run: ReadRun,
  ): Promise<Description> {
    const asOf = this.#now();
    const { found: samples, failed } = await askAll(this.#accounts, run, async (account) => ({
      account: account.name,
      ...(await sampleOf(account, run)),
    }));
    const ask = async (questions: readonly Question[]): Promise<readonly Answer[]> =>
      questions.map((question) => {
        const running = createAnswer(question);
        for (const { account, calls } of samples) for (const call of calls) running.add(call, account);
        return running.answer();
      });
    const sample = samples.flatMap(({ calls }) => calls);
    const total = samples.reduce((sum, each) => sum + each.total, 0);
    const times = samples.flatMap((each) => each.times).sort();
    return {
      calls: total,
      first: times[0] ?? null,
      last: times.at(-1) ?? null,
      asOf,
      ...withoutFailed(failed),
      fields: [...fields.map((field) => factsOf(field, sample)), ...(await derivedFacts(derived, ask))],
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
      // The next page is as long as this one.
      rows: Math.min(limit, mostOnPage),
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

/** Most rows that the API sends at once. */
const mostOnPage = 1000;
/** Milliseconds for which the first and the last call are known. */
const keptFor = 60_000;

const withoutFar = (answer: Answer): Answer => ({
  ...answer,
  notes: farNotes(
    answer.notes,
    answer.period.to,
    answer.accounts
      .flatMap(({ last }) => last ?? [])
      .sort()
      .at(-1) ?? null,
  ),
});

const nothingKnown = { storedAt: null, syncedAt: null };
