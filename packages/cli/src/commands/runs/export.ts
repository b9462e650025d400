import { formatNaive, naiveAt } from '@call-attribution/core/time';
import type { Args } from '../../args.ts';
import { noTimeZone, UsageError } from '../../errors.ts';
import type { Writer } from '../../export/job.ts';
import { badRecords, withWayOut } from '../../input/bad-records.ts';
import { statusOf, watch } from '../../input/verdict.ts';
import { type Io, say } from '../../io.ts';
import {
  chooseAccounts,
  contextOf,
  eachAccount,
  planEach,
  type ReadAccount,
} from '../typed/accounts.ts';
import { spelledWhere } from '../typed/chosen-calls.ts';
import { askedPeriod, type FilterContext, filterOf, sayPeriod } from '../typed/filter.ts';
import { outputOf } from '../typed/output.ts';

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

  // Names of the configuration file that mean another file for each account.
  const ownNames = args.list('outcomes').filter((name) => {
    const paths = accounts.map(({ settings }) => settings.outcomes.get(name)?.path);
    return !paths.includes(undefined) && new Set(paths).size === accounts.length;
  });
  const planned = await planEach(accounts, ({ name }) =>
    name === null ? args : argsOfAccount(args, name, ownNames),
  );
  return eachAccount(planned, args, io, (account) =>
    exportAccount(account, plan, account.plan, io),
  );
}

/**
 * The options for one of several accounts: {account} in the names of files becomes its name, so
 * that no file is shared.
 */
function argsOfAccount(args: Args, name: string, ownNames: readonly string[]): Args {
  const own = ['left-out', 'ledger', 'outcomes'];
  for (const option of args.flag('partition') ? own : ['output', ...own]) {
    const isOutcomes = option === 'outcomes';
    const isOwn = (file: string) =>
      file.includes('{account}') || (isOutcomes && ownNames.includes(file));
    const files = isOutcomes ? args.list(option) : [args.text(option) ?? '{account}'];
    const file = files.find((each) => !isOwn(each));
    if (file === undefined) continue;
    const [, stem = '', extension = ''] =
      /^(.*?)((?:\.\w+)*[/\\]?)$/s.exec(file === '-' ? 'calls.csv' : file) ?? [];
    throw new UsageError(`--${option} ${file}: each account has a file of its own`, [
      `put {account} in the name: --${option} ${stem}-{account}${extension || (isOutcomes ? '.csv' : '')}`,
      ...(isOutcomes ? ['or give each account its own under "outcomes" of calls.config.json'] : []),
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
  list: (option) => args.list(option).map((text) => text.replaceAll(word, value)),
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
  const bad = badRecords(args.text('on-bad-record') === 'skip');
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');

  // What is said ends the line of progress, and comes below it.
  const onNote = (text: string): void => {
    line.close();
    say(io, text);
  };

  try {
    const { signal, clock } = io;
    const rows = args.integer('rows');
    const stream = {
      ...(rows === null ? {} : { rows }),
      filter,
      onProgress,
      onError: bad.onError,
      signal,
    };
    const where = await spelledWhere(args, settings);
    const ended = await write({ settings, source, filter, where, stream, signal, clock, onNote });
    for (const text of [...ended.said, ended.text]) onNote(text);
    return statusOf(ended);
  } catch (error) {
    throw await withWayOut(error);
  } finally {
    line.close();
    for (const line of bad.names()) say(io, line);
    await source.close();
  }
}
