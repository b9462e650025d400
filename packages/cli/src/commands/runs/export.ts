import { formatNaive, naiveAt } from '@call-attribution/core/time';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import type { Settings } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { noTimeZone, UsageError } from '../../errors.ts';
import { badRecords, withWayOut } from '../../input/bad-records.ts';
import type { Source } from '../../input/source.ts';
import { type Ending, statusOf, watch } from '../../input/verdict.ts';
import { type Io, say } from '../../io.ts';
import { outputOf } from '../../output/index.ts';
import {
  chooseAccounts,
  contextOf,
  eachAccount,
  planEach,
  type ReadAccount,
} from '../typed/accounts.ts';
import { askedPeriod, type FilterContext, filterOf, sayPeriod } from '../typed/filter.ts';

/** What writing the calls of one account needs. */
export interface Job {
  readonly args: Args;
  readonly io: Io;
  readonly settings: Settings;
  readonly source: Source;
  /** The source, with a line that shows how far it is read. */
  readonly calls: Pick<Source, 'read'>;
  readonly filter: Filter;
  readonly stream: CallStreamOptions;
}

/** Writes the calls in one way. Resolves with how the reading ended. */
export type Writer = (job: Job) => Promise<Ending>;

/** How the calls of one account are written: read from the options, before any request. */
export interface Plan {
  readonly write: Writer;
  /** Of an upload sheet: days before the period that are read as well. */
  readonly history?: number;
}

/** Makes the plan of an account. */
export type Planner = (args: Args, context: FilterContext, io: Io) => Promise<Plan>;

/**
 * Writes the calls of each chosen account: of one into the file, of several into a file of its own
 * for each.
 */
export async function exportEach(plan: Planner, args: Args, io: Io): Promise<number> {
  const output = outputOf(args);
  const accounts = await chooseAccounts(args, io);
  if (accounts.every(({ name }) => name === null) && output.includes('{account}'))
    throw new UsageError(`--output ${output}: no account is chosen whose name {account} could be`, [
      '--all-accounts writes a file for each account of the configuration; --account NAME chooses',
    ]);

  const planned = await planEach(accounts, ({ name }) =>
    name === null ? args : argsOfAccount(args, name),
  );
  return eachAccount(planned, args, io, (account) =>
    exportAccount(account, plan, account.plan, io),
  );
}

/**
 * The options for one of several accounts: {account} in the names of files becomes its name, so
 * that no file is shared.
 */
function argsOfAccount(args: Args, name: string): Args {
  for (const option of [...(args.flag('partition') ? [] : ['output']), 'left-out', 'ledger']) {
    const file = args.text(option);
    if (file === null || file.includes('{account}')) continue;
    const [, stem = '', extension = ''] =
      /^(.*?)((?:\.\w+)*[/\\]?)$/s.exec(file === '-' ? 'calls.csv' : file) ?? [];
    throw new UsageError(`--${option} ${file}: each account has a file of its own`, [
      `put {account} in the name: --${option} ${stem}-{account}${extension}`,
      ...(file === '-' ? ['calls list --all writes the calls of several accounts to stdout'] : []),
    ]);
  }
  return replacing(args, '{account}', name);
}

/**
 * The options of one day: {date} in the names of files is today where the account is. What is kept
 * from day to day has no date.
 */
function argsOfToday(args: Args, { now, timeZone }: FilterContext): Args {
  const isDated = (option: string) => args.text(option)?.includes('{date}') ?? false;
  if (isDated('ledger'))
    throw new UsageError(`--ledger ${args.text('ledger')}: the ledger is the same file every day`, [
      'leave {date} out of its name',
    ]);

  if (!['output', 'left-out'].some(isDated)) return args;
  if (timeZone === null) throw noTimeZone('{date} in the name of a file');
  return replacing(args, '{date}', formatNaive(naiveAt(now, timeZone)).slice(0, 10));
}

const replacing = (args: Args, word: string, value: string): Args => ({
  ...args,
  text: (option) => args.text(option)?.replaceAll(word, value) ?? null,
});

async function exportAccount(
  { settings, open }: ReadAccount,
  planOf: Planner,
  typed: Args,
  io: Io,
): Promise<number> {
  const context = contextOf(settings, io);
  const args = argsOfToday(typed, context);
  const { write, history = null } = await planOf(args, context, io);
  const filter = await filterOf(args, context, history);
  await sayPeriod(await askedPeriod(args, context), context, io);
  const bad = badRecords(args, io);
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');

  // The line of progress ends with the last call: what is said then comes below it.
  const calls: Job['calls'] = {
    async read(options) {
      const reading = await source.read(options);
      const close = () => line.close();
      void reading.ending.then(close);
      return reading;
    },
  };
  try {
    const rows = args.integer('rows');
    const stream = { ...(rows === null ? {} : { rows }), filter, onProgress, onError: bad.onError };
    const ended = await write({ args, io, settings, source, calls, stream, filter });
    for (const text of [...ended.said, ended.text]) say(io, text);
    return statusOf(ended);
  } catch (error) {
    throw await withWayOut(error);
  } finally {
    line.close();
    bad.sayNames();
    await source.close();
  }
}
