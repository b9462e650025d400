import { ConfigurationError } from '@call-attribution/core';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl';
import { rawArguments } from '../arguments/read.ts';
import { isObject } from '../protocol/messages.ts';
import { ToolError } from '../text/failures.ts';
import type { ToolRunner } from './call.ts';

// One server for several accounts. Each has a lane of its own, with its client, its masks and its reads; a question is asked of those that
// a call names.

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

/** Runs tools for the accounts that a call names: for all of them without `account`. One question is asked of all together. */
export function createAccountRunner<Lane extends { readonly name: string }>(
  lanes: readonly Lane[],
  runnerOf: (lanes: readonly Lane[]) => ToolRunner,
): ToolRunner {
  if (lanes.length === 0) throw noAccount();
  if (lanes.length === 1) return runnerOf(lanes);
  return async (name, given, request) => {
    const raw = rawArguments(given);
    if (!isObject(raw)) return runnerOf(lanes)(name, raw, request);
    const { account, ...args } = raw;
    const named = isLeftOut(account) ? lanes : choose(account, lanes);
    if (named.length === lanes.length) return runnerOf(lanes)(name, args, request);
    const names = named.map((lane) => lane.name);
    const data = await runnerOf(named)(name, args, request);
    return { ...data, summary: `${names.join(', ')}: ${String(data.summary)}` };
  };
}

/** Some hosts send an empty value for what was left out. */
const isLeftOut = (account: unknown): boolean =>
  account === undefined ||
  account === null ||
  account === '' ||
  (Array.isArray(account) && account.length === 0);

function choose<Lane extends { readonly name: string }>(account: unknown, lanes: readonly Lane[]): Lane[] {
  if (account === 'all') return [...lanes];
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
