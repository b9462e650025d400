import type { Call, Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  dated,
  day,
  everything,
  formatNaive,
  hull,
  intersect,
  merge,
  type Period,
  parseNaive,
  periodOf,
  periodOfText,
} from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream/copies';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  firstCallSentence,
  type Plan,
  planCalls,
  planQuestion,
  type Question,
  selectCalls,
} from '@call-attribution/questions';
import { formatCount } from '@call-attribution/questions/chart';
import { ask } from '@call-attribution/store';
import type { MaskedCall } from '../privacy/mask.ts';
import { fence, quotable } from '../privacy/text.ts';
import { apiError, noClient, ToolError } from '../text/failures.ts';
import { isSaidElsewhere, sentencesOf } from '../text/words.ts';
import {
  type Copy,
  filterOf,
  type KeptCalls,
  type LoadedCopy,
  type Loading,
  newestOf,
  type Waiting,
} from './copy.ts';
import type { InTurn } from './turns.ts';

/** An account that is asked. */
export interface AskedAccount {
  readonly name: string;
  /** Its ID, where it is known before its calls are. */
  readonly id: string | undefined;
  readonly version: 'v2' | 'v3';
  readonly timeZone: string | undefined;
  client(): Promise<Client>;
  /** Masks a call that was read from the API. */
  mask(call: Call): MaskedCall;
  readonly copy: Copy;
}

/** A call as it was sent, which nobody else gets, and what belongs to it. */
export interface SentCall {
  readonly call: Call;
  readonly account: AskedAccount;
}

/** Where an answer comes from, and what to say about it. */
export interface Origin {
  /** As of when it is so, as an ISO instant. */
  readonly asOf: string;
  readonly notes: readonly string[];
  /** Accounts that could not be asked; the numbers are of the others. */
  readonly without: readonly string[];
}

/** How many calls a selection has. */
export interface Counted extends Origin {
  readonly total: number;
  /** How many calls through call extensions are left out; null when nobody counted them. */
  readonly extensionsLeftOut: number | null;
}

/** A call, and the account that it belongs to. */
export interface Listed {
  readonly account: string;
  readonly call: MaskedCall;
}

/** A part of a list of calls. */
export interface Found extends Origin {
  readonly calls: readonly Listed[];
  /** How many calls the list has; null while older ones are still loaded. */
  readonly total: number | null;
  readonly extensionsLeftOut: number | null;
  /** How many calls the configuration excludes of them; null while older ones are still loaded. */
  readonly excluded: number | null;
  /** The fields of which a negation leaves out calls without a value. */
  readonly negated: readonly string[];
}

/**
 * Thrown where calls are not there yet. Its message says how far they are, without a number that
 * could be taken for an answer.
 */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';

  constructor({ there, total, seconds }: Loading) {
    const of = total === null ? '' : ` of ${formatCount(total)}`;
    const when = Math.min(600, Math.max(5, Math.ceil(seconds ?? 20)));
    super(
      `INCOMPLETE: ${formatCount(there)}${of} calls of the question are loaded, so it has no answer yet. Ask again in ${when} s.`,
    );
  }
}

/** A copy that can answer, and whose it is. */
interface Ready extends LoadedCopy {
  readonly name: string;
}

interface FailedAccount {
  readonly account: string;
  readonly error: ToolError;
}

/**
 * Answers questions about the calls of one or more accounts, from their copies. Nothing in them is
 * personal.
 */
export class Source {
  readonly accounts: readonly string[];
  readonly #accounts: readonly AskedAccount[];
  readonly #now: () => number;
  readonly #inTurn: InTurn;

  constructor(accounts: readonly AskedAccount[], now: () => number, inTurn: InTurn) {
    this.accounts = accounts.map(({ name }) => name);
    this.#accounts = accounts;
    this.#now = now;
    this.#inTurn = inTurn;
  }

  /** What else an account is called. */
  readonly #namesOf = (account: string): readonly string[] =>
    this.#accounts
      .filter(({ name }) => name === account)
      .map(({ id }) => id ?? null)
      .filter((id) => id !== null);

  /** Answers questions about the same periods in one pass. */
  async analyze(
    questions: readonly Question[],
    run: Waiting,
  ): Promise<Origin & { readonly answers: readonly Answer[] }> {
    const now = this.#now();
    const plans = questions.map((question) => planQuestion(question, { now }));
    const periods = periodsOf(plans);
    const { ready, failed } = await this.#held(periods, run);
    return this.#inTurn(run.signal, async () => {
      const { from: begin } = hull(periods);
      const statuses = await Promise.all(ready.map((held) => this.#statusOf(held, begin, run)));
      const asked = await ask(plans, ready, {
        signal: run.signal,
        statuses,
        namesOf: this.#namesOf,
      });
      const answers = asked.map((answer): Answer => {
        const notes = answer.notes.filter((note) => !isSaidElsewhere(note));
        return { ...answer, notes: notes.map(fenced), leftOut: answer.leftOut.map(fenced) };
      });
      return { ...originOf(ready, failed), answers };
    });
  }

  /**
   * Counts calls in the copies. All of a period that they do not hold yet are counted by the server
   * itself.
   */
  async count(selection: CallSelection, run: Waiting): Promise<Counted> {
    const { period, calls, zones } = planCalls(selection, { now: this.#now() });
    const isMoved = zones.inZone !== null && zones.inZone !== zones.timeZone;
    const isPlain = this.#accounts.every(({ version }) =>
      version === 'v2' ? calls === 'all' : calls !== 'extensions',
    );
    // An account that is not set up has no copy, and says so when it is asked.
    const isHeld = async (): Promise<boolean> =>
      this.askEach(run, async ({ copy }) => copy.holds([period])).then(
        ({ found, failed }) => failed.length === 0 && found.every(Boolean),
        () => false,
      );

    const isAll = selection.where === undefined && selection.exclude === undefined;
    if (isAll && !isMoved && isPlain && !(await isHeld())) {
      const { found, failed } = await this.askEach(run, async ({ name, client: open, version }) => {
        const client = await open();
        const filter = filterOf(period, version === 'v3' && calls === 'all');
        const { total } = await client.countCalls({ signal: run.signal, filter });
        const first = total === 0 ? null : await firstWithin(period, client, run.signal);
        return { total, first, name, scope: describe(client).scope };
      });
      const firsts = found.map(({ first }) => first);
      const [first] = firsts.filter((each) => each !== null).sort();
      const begins = firsts.includes(null) || first === undefined ? [] : [firstCallSentence(first)];
      return {
        ...originOf([], failed),
        asOf: new Date(this.#now()).toISOString(),
        notes: [...failed.map(({ error }) => error.line), ...scopesSaid(found), ...begins],
        total: found.reduce((sum, { total }) => sum + total, 0),
        extensionsLeftOut: calls === 'all' ? 0 : null,
      };
    }

    const { answers, ...origin } = await this.analyze(
      [{ ...selection, measures: ['calls'], personal: 'show' }],
      run,
    );
    const [answer] = answers;
    const said = sentencesOf([
      ...(answer?.leftOut ?? []).filter(({ code }) => code === 'no_time' || code === 'excluded'),
      ...(answer?.notes ?? []),
    ]);
    return {
      ...origin,
      notes: [...origin.notes, ...said],
      total: answer?.calls ?? 0,
      extensionsLeftOut: answer?.extensions.leftOut ?? 0,
    };
  }

  /** Lists calls in an order, the newest first when there is none. */
  async list(
    selection: CallSelection,
    {
      order,
      offset,
      limit,
    }: { readonly order?: string | undefined; readonly offset: number; readonly limit: number },
    run: Waiting,
  ): Promise<Found> {
    const now = this.#now();
    const plan = planCalls(selection, { order: order ?? 'date_added desc', now });
    const needsSequence = plan.otherCalls !== 'none';
    const { fields } = selectCalls(plan);
    const periods = periodsOf([plan]);

    const read = async (held: readonly (KeptCalls & Pick<Ready, 'name' | 'since'>)[]) => {
      const selector = selectCalls(plan, { namesOf: this.#namesOf });

      const each = async (take: (call: Call, of: (typeof held)[number]) => void): Promise<void> => {
        for (const of of held) {
          const known = plan.needs
            .map(({ period }) => intersect(period, since(of.since)))
            .filter((period) => period !== null);
          await eachCall(of, known, fields, run.signal, (call) => take(call, of));
        }
      };

      if (needsSequence) await each((call, { name }) => selector.learn(call, name));
      const entries: {
        readonly of: (typeof held)[number];
        readonly sid: string;
        readonly key: ReturnType<typeof selector.keyOf>;
      }[] = [];
      let others = 0;
      let excluded = 0;
      await each((call, of) => {
        const judged = selector.judge(call, of.name);
        if (judged === 'other') others += 1;
        if (judged === 'excluded') excluded += 1;
        if (judged === 'selected')
          entries.push({ of, sid: call.sid, key: selector.keyOf(call, of.name) });
      });
      return { entries: entries.sort((a, b) => selector.compare(a.key, b.key)), others, excluded };
    };

    const collect = (held: Parameters<typeof read>[0]) =>
      this.#inTurn(run.signal, () => read(held));

    // The newest calls are enough, once there are as many as are wanted.
    const isNewestFirst = order === undefined && !needsSequence && this.#accounts.length === 1;

    const partly = async (kept: KeptCalls, since: string): Promise<boolean> => {
      return (await collect([{ ...kept, name: '', since }])).entries.length > offset + limit;
    };

    const { ready, failed } = await this.#held(periods, run, isNewestFirst ? partly : undefined);
    const { entries, others, excluded } = await collect(ready);
    const calls: Listed[] = [];
    for (const { of, sid } of entries.slice(offset, offset + limit)) {
      const call = await of.store.get(of.account, sid);
      if (call !== null) calls.push({ account: of.name, call: call as MaskedCall });
    }

    const isWhole = ready.every(({ since }) => since === null);
    return {
      ...originOf(ready, failed),
      calls,
      negated: plan.negated,
      total: isWhole ? entries.length : null,
      extensionsLeftOut: isWhole && plan.calls === 'website' ? others : null,
      excluded: isWhole ? excluded : null,
    };
  }

  /** Asks the API for one call. */
  async get(sid: string, run: Waiting): Promise<Listed> {
    const { call, account } = await this.sent(sid, run);
    return { account: account.name, call: account.mask(call) };
  }

  /** The same as it was sent, for what judges it. Whatever is said of it has to be masked. */
  async sent(sid: string, run: Waiting): Promise<SentCall> {
    let missing: CallsError | null = null;
    const { found, failed } = await this.askEach(run, async (account) => {
      const client = await account.client();
      try {
        return { account, call: await client.getCall(sid, { signal: run.signal }) };
      } catch (error) {
        if (!CallsError.is(error, 'not_found')) throw error;
        missing = error;
        return account.name;
      }
    });
    const one = found.find((each) => typeof each !== 'string');
    if (typeof one === 'object') return one;
    const [first] = failed;
    if (first === undefined && missing !== null)
      throw apiError(
        'get_call',
        missing,
        'Look the sid up with list_calls; calls of other accounts cannot be read.',
      );

    if (first === undefined) throw new Error('No account was asked.');
    const others = found.filter((each) => typeof each === 'string');
    const { what, ...words } = first.error.words;
    const verb = others.length === 1 ? 'does' : 'do';
    const place = others.length === 0 ? '' : ` ${others.join(', ')} ${verb} not have it.`;
    throw new ToolError('call_not_known', {
      ...words,
      what: `It is not known whether there is a call "${quotable(sid)}"`,
      why: `${what}: ${words.why}${place}`,
    });
  }

  /**
   * Answers questions about all calls, or while older ones are still loaded about those of at least
   * the time since `from`.
   */
  async newest(
    from: string,
    questions: readonly Question[],
    run: Waiting,
  ): Promise<
    Origin & {
      readonly answers: readonly Answer[];
      /** Where the calls begin; null when it is all. */
      readonly since: string | null;
      readonly last: string | null;
    }
  > {
    const partly = async ({ store, account }: KeptCalls, begin: string): Promise<boolean> =>
      begin <= from && (await store.count(account, { period: since(begin) })) > 0;

    const { ready, failed } = await this.#held([dated], run, partly);
    const plans = questions.map((question) => planQuestion(question, { now: this.#now() }));
    const copies = ready.map((held) => ({ ...held, from: since(held.since).from }));
    const answers = await this.#inTurn(run.signal, () =>
      ask(plans, copies, { signal: run.signal, statuses: [], namesOf: this.#namesOf }),
    );

    return {
      ...originOf(ready, failed),
      answers,
      since: newestOf(ready.map(({ since }) => since)),
      last: newestOf(ready.map(({ latest }) => latest)),
    };
  }

  /**
   * The last call before a period, and the first one after it, by the API; null where there is
   * none.
   */
  async around(
    { from, to }: Period,
    run: Waiting,
  ): Promise<{ readonly before: string | null; readonly after: string | null }> {
    const { found } = await this.askEach(run, async ({ client: open }) => {
      const client = await open();

      const at = async (edge: Period, isLast: boolean): Promise<string | null> => {
        const query = {
          rows: 1,
          signal: run.signal,
          filter: filterOf(edge, client.version === 'v3'),
        };
        const first = await client.listCalls(query);
        const total = first.range?.total ?? first.records.length;
        const { records } =
          isLast && total > 1 ? await client.listCalls({ ...query, page: total - 1 }) : first;
        return records[0]?.date_added ?? null;
      };

      return {
        before: from === null ? null : await at(periodOf(null, from), true),
        after: to === null ? null : await at(periodOf(to, null), false),
      };
    });
    const afters = found.map(({ after }) => after).filter((each) => each !== null);
    const [after = null] = afters.sort();
    return { before: newestOf(found.map(({ before }) => before)), after };
  }

  /**
   * What is known of an account: where its calls end, and where they begin if a period begins
   * before that.
   */
  async #statusOf(
    { store, account, name, isAll, asOf, latest }: Ready,
    begin: number | null,
    run: Waiting,
  ): Promise<AccountStatus> {
    const at = new Date(asOf).toISOString();
    const known = {
      account: name,
      calls: await store.count(account),
      last: latest,
      since: null,
      storedAt: at,
      syncedAt: at,
    };
    if (begin === null) return { ...known, first: null };
    let first: string | null = null;
    for await (const call of store.calls(account, { period: periodOf(begin, null) })) {
      first = call.date_added;
      break;
    }

    const day = formatNaive(begin).slice(0, 10);
    if (first === null || first.slice(0, 10) === day) return { ...known, first };
    if (isAll)
      return {
        ...known,
        first: (await store.count(account, { period: periodOf(null, begin) })) > 0 ? null : first,
      };

    const client = await this.#accounts.find((each) => each.name === name)?.client();
    const before = await client
      ?.countCalls({
        filter: filterOf(periodOf(null, begin), client.version === 'v3'),
        signal: run.signal,
      })
      .catch(() => null);
    return { ...known, first: before?.total === 0 ? first : null };
  }

  async #held(
    periods: readonly Period[],
    run: Waiting,
    partly?: (kept: KeptCalls, since: string) => Promise<boolean>,
  ): Promise<{ readonly ready: readonly Ready[]; readonly failed: readonly FailedAccount[] }> {
    const { found, failed } = await this.askEach(run, async ({ name, copy }) => ({
      name,
      ...(await copy.have(periods, run, partly)),
    }));
    const ready = found.filter((each) => each.kind === 'ready');
    const waits = found.filter((each) => each.kind === 'loading');
    if (waits.length === 0) return { ready, failed };

    const sum = (numbers: readonly (number | null)[]): number | null =>
      numbers.reduce(
        (all, one) => (all === null || one === null ? null : all + one),
        0 as number | null,
      );

    throw new NotLoaded({
      there: sum(waits.map(({ there }) => there)) ?? 0,
      total: sum(waits.map(({ total }) => total)),
      seconds: sum(waits.map(({ seconds }) => seconds)),
    });
  }

  /** Asks each account something. Throws when none answers. */
  async askEach<T>(
    { signal }: Waiting,
    ask: (account: AskedAccount) => Promise<T>,
  ): Promise<{ readonly found: readonly T[]; readonly failed: readonly FailedAccount[] }> {
    const found: T[] = [];
    const failed: FailedAccount[] = [];
    await Promise.all(
      this.#accounts.map(async (account) => {
        try {
          found.push(await ask(account));
        } catch (error) {
          signal.throwIfAborted();
          failed.push(failureOf(account.name, error, this.#accounts.length));
        }
      }),
    );
    const [first] = failed;
    if (found.length === 0 && first !== undefined) throw first.error;
    return { found, failed };
  }
}

/**
 * What it says of one of several accounts that it cannot be asked. Throws what is no fault of one
 * account.
 */
function failureOf(account: string, error: unknown, accounts: number): FailedAccount {
  if (accounts > 1 && error instanceof ToolError && error.code === 'no_client')
    return { account, error: noClient(error.words.why, account) };
  if (accounts > 1 && error instanceof CallsError && error.name !== 'QuestionError')
    return { account, error: apiError(account, error) };
  throw error;
}

function originOf(ready: readonly Ready[], failed: readonly FailedAccount[]): Origin {
  const of = (name: string): string => (ready.length > 1 ? ` of ${name}` : '');
  const notes = failed.map(({ error }) => error.line);
  for (const { lacks, name } of ready)
    if (lacks !== null)
      notes.push(
        `INCOMPLETE: ${lacks}${of(name)}. They are read again with the next question about now.`,
      );
  notes.push(...scopesSaid(ready));
  for (const { failure, name } of ready)
    if (failure !== null) notes.push(`Newer calls${of(name)} could not be read: ${failure}`);

  return {
    asOf:
      ready.length === 0 ? '' : new Date(Math.min(...ready.map(({ asOf }) => asOf))).toISOString(),
    without: failed.map(({ account }) => account),
    notes,
  };
}

/**
 * The first call of an account, where the account begins a day or more after a period does; null
 * where it does not, or nobody can say.
 */
async function firstWithin(
  period: Period,
  client: Client,
  signal: AbortSignal,
): Promise<string | null> {
  if (period.from === null) return null;
  const isAll = client.version === 'v3';
  try {
    const before = await client.countCalls({
      filter: filterOf(periodOf(null, period.from), isAll),
      signal,
    });
    if (before.total > 0) return null;
    const filter = filterOf(period, isAll);
    const { records } = await client.listCalls({ rows: 1, signal, filter });
    const first = records[0]?.date_added ?? null;
    return first !== null && parseNaive(first) - period.from >= day ? first : null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CallsError) return null;
    throw error;
  }
}

/** Where a server serves a copy that was filled with a filter, the answer is of its calls. */
const scopesSaid = (accounts: readonly Pick<Ready, 'name' | 'scope'>[]): string[] =>
  accounts
    .filter(({ scope }) => scope !== null)
    .map(({ name, scope }) => {
      const of = accounts.length > 1 ? ` of ${name}` : '';
      return `The server has ${scope}${of}: this answer is of these calls.`;
    });

/** What quotes values of records is data as a whole. */
const fenced = <Said extends { readonly code: string; readonly message: string }>(
  said: Said,
): Said =>
  said.code === 'no_match' || said.code === 'spend_without_calls'
    ? { ...said, message: fence(said.message) }
    : said;

/** Passes some fields of the calls of periods, one call after the other. */
export async function eachCall(
  { store, account }: KeptCalls,
  periods: readonly Period[],
  names: readonly string[],
  signal: AbortSignal,
  take: (call: Call) => void,
): Promise<void> {
  for (const period of periods) {
    for await (const { length, columns } of store.columns(account, names, { period }, signal)) {
      const lists = names.map((name) => columns[name] ?? []);
      for (let at = 0; at < length; at += 1) {
        const call: Record<string, unknown> = {};
        for (let i = 0; i < names.length; i += 1) call[names[i] as string] = lists[i]?.[at];
        take(call as unknown as Call);
      }
    }
  }
}

/**
 * The periods that plans need the calls of. What a question is about comes before what it is
 * compared with, so later times come first.
 */
const periodsOf = (plans: readonly Plan[]): Period[] =>
  merge(plans.flatMap(({ needs }) => needs.map(({ period }) => period)))
    .map((period) => intersect(period, dated))
    .filter((period) => period !== null)
    .reverse();

/** From a time on; everything from nowhere. */
const since = (begin: string | null): Period =>
  begin === null ? everything : periodOfText({ from: begin, to: null });
