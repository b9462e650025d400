import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Call, Client } from '@call-attribution/core';
import type { SyncState, TimeSlice } from '@call-attribution/node-stream';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { toNdjson } from '@call-attribution/node-stream/encoders';
import { type Filter, parse } from '@call-attribution/query-dsl';
import { markUnread, type Store, selectionOf } from '@call-attribution/store';
import { readFileSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { explain } from '../failures.ts';
import { leavesExtensions, withExtensions, withinRange, withoutTimes } from '../input/filter.ts';
import { openChosen, refusePassword, storeUrl } from '../stores/open.ts';
import { count, plural } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import { type ApiCheck, type Ask, type Check, type Finding, judged } from './check.ts';
import { commonSlice, compareWithApi, type Row, Rows } from './compare.ts';

/** The calls that an account of a store should have. */
interface Part {
  readonly filter: Filter;
  readonly period: TimeSlice;
}

/** An account of a store, and how the API is asked about it. */
export interface StoredAccount {
  readonly id: string;
  api(): Promise<Client>;
  /** What a job reads of it; null for all that its syncs were asked for. */
  readonly part: Part | null;
}

const rows = toNdjson<Call>().rows;
const rowOf = (call: Call): Row => ({
  at: call.date_added ?? null,
  sid: call.sid ?? null,
  text: rows?.text(call) ?? '',
});

/** Verifies accounts of a store: counts their rows, and compares them with what syncs have proved, or with the API. */
export async function* checkStore(
  { url, shown }: { readonly url: string; readonly shown: string },
  choose: (stored: readonly string[]) => readonly StoredAccount[],
  ask: Ask,
): AsyncGenerator<Check, void, void> {
  const { args, io } = ask;
  refusePassword(url);
  const file = /^sqlite:(?:\/\/)?(.+)$/i.exec(url)?.[1] ?? null;
  const path = file === null ? null : resolve(io.cwd, file);
  if (path !== null && !existsSync(path)) throw new UsageError(`there is no store ${shown}`);
  const chosen = { url: storeUrl(url, io), typed: url, path };
  const settings = readFileSettings(args, io);
  const store = await openChosen(chosen, settings, { readOnly: true });
  /** Notes that calls are missing, so that the next sync reads them. */
  const markLost = async (account: string, periods: readonly TimeSlice[]): Promise<Finding> => {
    try {
      const writable = await openChosen(chosen, settings);
      try {
        for (const period of periods) await markUnread(writable, account, period);
      } finally {
        await writable.close();
      }
      return { code: 'unread', text: 'the next calls sync or calls fleet work reads what is missing' };
    } catch (error) {
      const { message } = await explain(error);
      return { code: 'unread', text: `that could not be noted for the next sync: ${message}` };
    }
  };
  try {
    const accounts = choose((await store.accounts()).map(({ id }) => id));
    for (const account of accounts) {
      const check = () => checkAccount(store, shown, { account, accounts, markLost, ask });
      yield await whileWaiting(`reading account ${account.id}`, check);
    }
  } finally {
    await store.close();
  }
}

interface AccountAsk {
  readonly account: StoredAccount;
  readonly accounts: readonly StoredAccount[];
  readonly ask: Ask;
  markLost(account: string, periods: readonly TimeSlice[]): Promise<Finding>;
}

async function checkAccount(
  store: Store,
  shown: string,
  { account, accounts, ask, markLost }: AccountAsk,
): Promise<Check> {
  const { id } = account;
  const { againstApi, range, io } = ask;
  const findings: Finding[] = [];
  const api: ApiCheck[] = [];
  const verdict = await store.verdict(id);
  const removed = await store.removals(id);
  const { erasedCallers, purgedBefore } = removed;
  const isCut = erasedCallers > 0 || purgedBefore !== null;
  const everything = { clauses: [] };
  // With the API, only rows of the period that was asked for count.
  const counted = againstApi ? range : { from: null, to: null };
  let held = 0;
  for await (const _ of store.calls(
    id,
    selectionOf(withinRange(everything, counted), { extensions: true }),
  )) {
    io.signal.throwIfAborted();
    held += 1;
  }
  if (againstApi) {
    const client = await account.api();
    for (const { filter, period } of account.part === null
      ? await syncedParts(store, id, client)
      : [account.part]) {
      const common = commonSlice(range, period);
      const here = new Rows();
      const selection = selectionOf(withinRange(filter, common), {
        extensions: !leavesExtensions(filter, client.version),
      });
      for await (const call of store.calls(id, selection))
        if (purgedBefore === null || (call.date_added ?? '') >= purgedBefore) here.add(rowOf(call));
      const what = { account: id, client, filter, period: common, here, rowOf, removed };
      const compared = await compareWithApi(
        { ...what, mayLackExtensions: false, isOneOfSeveral: accounts.length > 1 },
        io,
      );
      api.push(...compared.api);
      findings.push(...compared.findings);
    }
    const lost = findings.flatMap(({ difference }) => (difference?.kind === 'missing' ? [difference] : []));
    if (lost.length > 0 && verdict !== null) findings.push(await markLost(id, lost));
  } else if (verdict === null) findings.push({ code: 'not_whole', text: 'no sync has read it' });
  else {
    const expected = verdict.calls - verdict.missing;
    const lacks = describeCopy(verdict);
    if (lacks !== null) findings.push({ code: 'not_whole', text: lacks });
    if (held < expected && !isCut) {
      const text = `it has ${plural(held, 'row')}, and its syncs have read ${count(expected)}`;
      findings.push({ code: 'rows', text }, await markLost(id, [{ from: null, to: null }]));
    }
  }
  const stored = { account: id, erasedCallers, purgedBefore };
  return judged({ path: shown, rows: held, stored, receipt: null, api, findings });
}

/** What the syncs of an account were asked for, up to where its calls were no longer too young to be counted. */
async function syncedParts(store: Store, account: string, client: Client): Promise<readonly Part[]> {
  const state = (await store.note(account))?.note as SyncState | undefined;
  if (state === undefined) {
    const filter = withExtensions({ clauses: [] }, client.version);
    return [{ filter, period: { from: null, to: null } }];
  }
  return state.parts.flatMap(({ version, filter, asked, countedTo }) => {
    if (version !== client.version)
      throw new UsageError(`its calls were read in ${version}, and the API is asked in ${client.version}`, {
        hints: [`add --api-version ${version}`],
      });
    const others = withoutTimes(parse(filter, { version }));
    return asked.map(({ from, to }) => ({ filter: others, period: { from, to: to ?? countedTo } }));
  });
}
