import { hull, naiveAt, type Period } from '@call-attribution/core/time';
import { toFilter } from '@call-attribution/query-dsl';
import {
  type AccountStatus,
  type Answer,
  createAnswers,
  machineZone,
  type Plan,
  type RunningAnswers,
} from '@call-attribution/questions';
import type { ChartMark } from '@call-attribution/questions/chart';
import { annotationsOf } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { exitCodes, Interrupted, UsageError } from '../../errors.ts';
import { inPeriod, withExtensions } from '../../input/filter.ts';
import { isFirstCall } from '../../input/first-call.ts';
import { statusOf, watch } from '../../input/verdict.ts';
import { type Io, say } from '../../io.ts';
import { count } from '../../terminal/numbers.ts';
import {
  accountsOfApi,
  chooseStored,
  eachAccount,
  type ReadAccount,
  type Stored,
} from '../typed/accounts.ts';

/** Answers, and how it is known that they are about all calls. */
export interface ReportAnswers {
  readonly answers: readonly Answer[];
  /** Which calls were read or counted, a sentence for each account or copy. */
  readonly ends: readonly string[];
  /** What a copy lacks, a sentence for each account. */
  readonly incomplete: readonly string[];
  /** Whether it is proved that these are all calls of the API. */
  readonly isProved: boolean;
  /** No sync of the copy was asked for all of the period. */
  readonly isUnread: boolean;
  /** The exit status. */
  readonly status: number;
}

/** Who answers: a copy, or the API of each account. */
export interface Place {
  readonly accounts: readonly ReadAccount[];
  /** Answers all questions in one pass. Nothing is answered when all accounts have failed. */
  ask(plans: readonly Plan[]): Promise<ReportAnswers>;
}

/** Who answers the questions of a command. */
export async function placeOf(args: Args, io: Io): Promise<Place> {
  const stored = await chooseStored(args, io);
  const accounts = stored?.accounts ?? accountsOfApi(args, io);
  const isByAccount = args.list('by').some((name) => name.toLowerCase() === 'account');
  if (isByAccount && accounts.every(({ name }) => name === null))
    throw new UsageError('--by account groups the calls of several accounts', [
      'add --all-accounts, or --account with several names',
    ]);

  if (stored !== null) return { accounts, ask: (plans) => askCopy(stored, plans, io) };
  return { accounts, ask: (plans) => askApi(accounts, plans, args, io) };
}

/** The annotations of the configuration file for an answer. In one of several accounts they say whose. */
export function annotationsFor(
  { period: { from, to }, accounts: counted }: Answer,
  [first]: readonly ReadAccount[],
): ChartMark[] {
  if (first === undefined) return [];
  const accounts = counted.map(({ account }) => account);
  return annotationsOf(first.settings, { from, to, accounts }).map(({ date, text, account }) => ({
    date,
    text: account === null || accounts.length < 2 ? text : `${text} (${account})`,
  }));
}

async function askCopy(stored: Stored, plans: readonly Plan[], io: Io): Promise<ReportAnswers> {
  const source = await stored.open();
  try {
    const { answers, answered, isUnread, said, lacks } = await source.ask(plans);
    for (const line of said) say(io, line);
    return {
      answers: answers.map((answer) => withNames(withoutEnd(answer), stored.nameOf)),
      ends: [answered],
      incomplete: lacks,
      isProved: false,
      isUnread,
      status: exitCodes.ok,
    };
  } catch (error) {
    throw io.signal.aborted ? new Interrupted() : error;
  } finally {
    await source.close();
  }
}

/** The time that plans need the calls of. */
const neededPeriod = (plans: readonly Plan[]): Period =>
  hull(plans.flatMap(({ needs }) => needs.map((need) => need.period)));

/** Whether a sync has finished is said with what the copy has. */
const withoutEnd = (answer: Answer): Answer => ({
  ...answer,
  notes: answer.notes.filter(({ code }) => code !== 'not_synced'),
});

/** Accounts are shown by the names that they have in the configuration. */
function withNames(answer: Answer, nameOf: (id: string) => string): Answer {
  const named = {
    ...answer,
    accounts: answer.accounts.map((one) => ({ ...one, account: nameOf(one.account) })),
    outcomes: answer.outcomes.map((one) => {
      return { ...one, account: one.account === null ? null : nameOf(one.account) };
    }),
  };
  if (!answer.columns.some(({ name, kind }) => name === 'account' && kind === 'group'))
    return named;
  return {
    ...named,
    rows: answer.rows.map((row) => ({ ...row, account: nameOf(String(row.account)) })),
  };
}

/**
 * Reads the calls of each account and counts them apart, so that one that fails half way leaves
 * nothing behind.
 */
async function askApi(
  accounts: readonly ReadAccount[],
  plans: readonly Plan[],
  args: Args,
  io: Io,
): Promise<ReportAnswers> {
  const isOne = accounts.every(({ name }) => name === null);
  const period = neededPeriod(plans);
  const isAll = period.from === null && period.to === null;
  const asked = isAll ? { clauses: [] } : inPeriod(toFilter(plans[0]?.q ?? ''), period);
  const names = new Map(accounts.map(({ key, called }) => [key, called]));
  const counted: RunningAnswers[] = [];
  const statuses: AccountStatus[] = [];
  const ends: string[] = [];
  const incomplete: string[] = [];
  const status = await eachAccount(accounts, args, io, async (account) => {
    const { key, name, settings, namesOf } = account;
    const filter = withExtensions(asked, settings.apiVersion.value);
    const source = await account.open();
    const running = createAnswers(plans, { namesOf });
    const { line, onProgress } = watch(io, 'calls');
    try {
      const { stream, result } = await source.read({ filter, onProgress, signal: io.signal });
      let calls = 0;
      let first: string | null = null;
      let last: string | null = null;
      for await (const call of stream) {
        calls += 1;
        if (first === null || call.date_added < first) first = call.date_added;
        if (last === null || call.date_added > last) last = call.date_added;
        // The account of keys from the environment is that of its calls.
        if (names.get(key) === null) names.set(key, String(call.acct_id));
        running.add(call, key);
      }
      line.close();
      const ended = await result;
      const { text, isWhole, said, lacks } = ended;
      const end = `${isOne ? '' : `account ${name}: `}${text}`;
      ends.push(end);
      incomplete.push(...lacks);
      for (const line of said) say(io, line);
      counted.push(running);
      const now = naiveAt(io.clock.now(), settings.timeZone?.value ?? machineZone());
      const ofAnyCall = ['date_added', 'inc_gce'];
      const isOfAll = asked.clauses.every(({ field }) => ofAnyCall.includes(field));
      const isFirst =
        isOfAll &&
        (await isFirstCall(first, period, settings.apiVersion.value, (of) => source.count(of)));
      const isLast = isOfAll && (period.to === null || period.to > now);
      statuses.push({
        account: key,
        calls,
        first: isFirst ? first : null,
        last: isLast ? last : null,
        since: null,
        storedAt: null,
        syncedAt: null,
      });
      if (!isWhole) say(io, end);
      return statusOf(ended);
    } catch (error) {
      throw io.signal.aborted ? new Interrupted() : error;
    } finally {
      line.close();
      await source.close();
    }
  });

  // One answer of all accounts: order and limit hold for all of them.
  const [first, ...others] = counted;
  for (const other of others) first?.merge(other);
  const answers = first?.answers(statuses) ?? [];
  const [main] = answers;
  const read = statuses.reduce((sum, { calls }) => sum + calls, 0);
  if (main && args.flag('where'))
    say(io, `${count(main.calls)} of the ${count(read)} calls that were read fulfill --where`);
  const named = answers.map((answer) => withNames(answer, (key) => names.get(key) ?? key));
  return {
    answers: named,
    ends,
    incomplete,
    isProved: status === exitCodes.ok,
    isUnread: false,
    status,
  };
}
