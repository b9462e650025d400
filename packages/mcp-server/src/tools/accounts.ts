import { ConfigurationError } from '@call-attribution/core';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl';
import { rawArguments } from '../arguments/read.ts';
import { isObject } from '../protocol/messages.ts';
import { cellsOf, countThatFits } from '../results/table.ts';
import { failureText, ToolError } from '../text/failures.ts';
import type { ToolRunner, ToolSettings } from './call.ts';

// One server for several accounts. Each account has a lane of its own, with its client, its masks and its copy; a tool runs in
// the lanes of the accounts that a call names, and only their results are put together.

/** A lane, as far as calling tools is concerned. */
export interface AccountLane {
  readonly name: string;
  readonly settings: ToolSettings;
}

/** Returns the accounts. Throws unless each has a name of its own. */
export function checkAccounts<Account extends { readonly name: string }>(
  accounts: readonly Account[],
): readonly Account[] {
  const wrong = accounts.find(
    ({ name }, i) => !isAccountName(name) || accounts.findIndex((each) => each.name === name) !== i,
  );
  if (accounts.length === 0) throw noAccount();
  if (wrong === undefined) return accounts;
  throw new ConfigurationError(
    'invalid_option',
    `createServer cannot use the account name ${JSON.stringify(wrong.name)}; use different names of ${accountNameWords}.`,
  );
}

const noAccount = (): ConfigurationError =>
  new ConfigurationError('invalid_option', 'createServer needs at least one account.');

/** Runs tools in the lanes that a call names: in all without `account`. */
export function createAccountRunner(
  lanes: readonly AccountLane[],
  runnerOf: (settings: ToolSettings) => ToolRunner,
): ToolRunner {
  const [only, ...more] = lanes;
  if (only === undefined) throw noAccount();
  if (more.length === 0) return runnerOf(only.settings);
  return async (name, given, request) => {
    const raw = rawArguments(given);
    // Each lane would say the same about it.
    if (!isObject(raw)) return runnerOf(only.settings)(name, raw, request);
    const { account, ...args } = raw;
    const named = choose(account, lanes);
    const chosen = named.length === 0 ? lanes : named;
    const [first = only] = chosen;
    if (chosen.length === 1) return withName(first.name, await runnerOf(first.settings)(name, args, request));
    if (name === 'get_call')
      return firstFound(chosen, (lane) => runnerOf(lane.settings)(name, args, request));
    const { budget } = first.settings;
    const share = Math.max(1000, Math.floor(budget / chosen.length));
    // A cursor is a place in the list of one account.
    if (args.cursor !== undefined && args.cursor !== '')
      throw new ToolError({ code: 'one_account', names: chosen.map((lane) => lane.name) });
    const results = await Promise.allSettled(
      chosen.map((lane) =>
        runnerOf({ ...lane.settings, budget: share })(name, withoutAccount(args), request),
      ),
    );
    return together(
      results.map((result, i) => ({ account: chosen[i]?.name ?? '', result })),
      budget,
    );
  };
}

function choose(account: unknown, lanes: readonly AccountLane[]): AccountLane[] {
  if (account === undefined || account === null || account === '' || account === 'all') return [...lanes];
  const list: readonly unknown[] = Array.isArray(account)
    ? account
    : String(account)
        .replace(/^\[|\]$/g, '')
        .split(',');
  const names = lanes.map(({ name }) => name);
  const chosen = list.map((each) => {
    const name = String(each)
      .trim()
      .replace(/^["']|["']$/g, '');
    const lane =
      lanes.find((other) => other.name === name) ??
      lanes.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (lane) return lane;
    throw new ToolError({
      code: 'unknown_name',
      what: 'account',
      name,
      nearest: nearest(name, names),
      known: names,
    });
  });
  return [...new Set(chosen)];
}

/** Rows always say whose they are; `account` need not be a group. */
function withoutAccount(args: Record<string, unknown>): Record<string, unknown> {
  const { group_by: groups } = args;
  const list = Array.isArray(groups) ? groups : typeof groups === 'string' ? groups.split(',') : null;
  if (list === null) return args;
  const others = list.filter((group) => !/^\W*accounts?\W*$/i.test(String(group)));
  return others.length === list.length ? args : { ...args, group_by: others };
}

type Data = Record<string, unknown>;

const withName = (account: string, data: Data): Data => ({
  ...data,
  summary: `${account}: ${String(data.summary)}`,
});

async function firstFound(
  lanes: readonly AccountLane[],
  run: (lane: AccountLane) => Promise<Data>,
): Promise<Data> {
  let missing: unknown;
  for (const lane of lanes) {
    try {
      return withName(lane.name, await run(lane));
    } catch (error) {
      const isMissing =
        error instanceof ToolError &&
        error.problem.code === 'api_error' &&
        error.problem.error.code === 'not_found';
      if (!isMissing) throw error;
      missing = error;
    }
  }
  throw missing;
}

interface Found {
  readonly account: string;
  readonly data: Data;
}

/** The results of several accounts as one: `account` is the first column. */
function together(
  results: readonly { readonly account: string; readonly result: PromiseSettledResult<Data> }[],
  budget: number,
): Data {
  const found: Found[] = [];
  const failed: { readonly account: string; readonly error: ToolError }[] = [];
  for (const { account, result } of results) {
    if (result.status === 'fulfilled') found.push({ account, data: result.value });
    else if (result.reason instanceof ToolError) failed.push({ account, error: result.reason });
    else throw result.reason;
  }
  const [first] = found;
  // An argument is wrong for all of them in the same way.
  if (first === undefined) throw failed[0]?.error;
  const { columns, rows } = tableOf(found);
  const summaries = [
    ...found.map(({ account, data }) => `${account}: ${String(data.summary)}`),
    ...failed.map(
      ({ account, error }) => `${account} FAILED: ${failureText(error.problem).replaceAll('\n', ' ')}`,
    ),
  ];
  const shown = rows.slice(0, countThatFits(rows, [columns, summaries], budget - 300));
  const rest =
    shown.length < rows.length
      ? `\nOnly ${shown.length} of ${rows.length} rows fit: name fewer accounts.`
      : '';
  const has = (name: string): boolean => first.data[name] !== undefined;
  return {
    summary: summaries.join('\n') + rest,
    ...(columns.length > 0 ? { columns: ['account', ...columns], rows: shown } : {}),
    ...sumOf('total', found),
    ...sumOf('calls', found),
    ...sumOf('groups', found),
    ...(has('first') ? { first: shown.length === 0 ? 0 : 1, last: shown.length } : {}),
    ...(has('complete')
      ? { complete: failed.length === 0 && found.every(({ data }) => data.complete === true) }
      : {}),
    ...(has('totals')
      ? { totals: Object.fromEntries(found.map(({ account, data }) => [account, data.totals])) }
      : {}),
    ...(has('notes') ? { notes: [...new Set(found.flatMap(({ data }) => listOf(data.notes)))] } : {}),
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The rows of all accounts under the columns that any of them has. */
function tableOf(found: readonly Found[]): { columns: string[]; rows: unknown[][] } {
  const tables = found.map(({ account, data }) => ({ account, ...cellsOf(data) }));
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  const rows = tables.flatMap(({ account, columns: own, rows }) => {
    const places = columns.map((column) => own.indexOf(column));
    return rows.map((row) => [account, ...places.map((at) => (at < 0 ? null : (row[at] ?? null)))]);
  });
  return { columns, rows };
}

/** A number of all accounts; nothing where one of them does not have it. */
function sumOf(name: string, found: readonly Found[]): Data {
  const values = found.map(({ data }) => data[name]).filter((value) => typeof value === 'number');
  return values.length < found.length ? {} : { [name]: values.reduce((total, value) => total + value, 0) };
}
