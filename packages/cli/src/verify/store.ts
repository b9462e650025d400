import { existsSync } from 'node:fs';
import type { Call, Client } from '@call-attribution/core';
import { everything, intersect, type PeriodText } from '@call-attribution/core/time';
import type { SyncState } from '@call-attribution/node-stream';
import { deliveredOf, describe } from '@call-attribution/node-stream/copies';
import { toNdjson } from '@call-attribution/node-stream/encoders';
import { parse } from '@call-attribution/query-dsl';
import { markUnread, type Store, selectionOf } from '@call-attribution/store';
import { UsageError } from '../errors.ts';
import { explain } from '../failures.ts';
import {
  inPeriod,
  leavesExtensions,
  periodOfRange,
  withExtensions,
  withoutTimes,
} from '../input/filter.ts';
import { openChosen, refusePassword, storeNamed } from '../stores/open.ts';
import { count, plural } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import {
  type Ask,
  begin,
  compareWithApi,
  type Finding,
  type Part,
  type Row,
  Rows,
} from './check.ts';

/** An account, and how the API is asked about it. */
export interface CheckedAccount {
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

/**
 * Verifies accounts of a store: counts their rows, and compares them with what syncs have proved,
 * or with the API.
 */
export async function checkStore(
  { url, shown }: { readonly url: string; readonly shown: string },
  choose: (stored: readonly string[]) => readonly CheckedAccount[],
  ask: Ask,
): Promise<void> {
  const { settings, from, signal, period: asked, againstApi, checks } = ask;
  refusePassword(url);
  const chosen = storeNamed(url, from);
  if (chosen.path !== null && !existsSync(chosen.path))
    throw new UsageError(`there is no store ${shown}`);
  const store = await openChosen(chosen, settings, { readOnly: true });

  const nothing = { code: 'not_whole', text: 'nothing was synced yet' } as const;

  const check = async (
    { id, api, part }: CheckedAccount,
    isOneOfSeveral: boolean,
  ): Promise<void> => {
    const removed = await store.removals(id);
    const { erased, purgedBefore } = removed;
    const erasedCallers = erased.reduce((sum, { callers }) => sum + callers.length, 0);
    const check = begin(shown, { stored: { account: id, erasedCallers, purgedBefore } });
    const find = (code: Finding['code'], text: string) => check.findings.push({ code, text });

    /** Periods of which calls are missing, which the next sync reads. */
    const lost: PeriodText[] = [];

    // With the API, only rows of the period that was asked for count.
    const counted = againstApi ? asked : everything;
    let held = 0;
    let left = 0;
    for await (const call of store.calls(id, { period: counted })) {
      signal.throwIfAborted();
      held += 1;
      if (removed.isRemoved(call)) left += 1;
    }

    check.rows = held;
    if (left > 0) {
      const again = 'run the same calls store erase or calls store purge again';
      const way = removed.isUnfinished ? `the next calls sync deletes them, or ${again}` : again;
      find(
        'left',
        `${plural(left, 'call')} of erased callers, or from before the purge, ${left === 1 ? 'is' : 'are'} still here, because that was interrupted: ${way}`,
      );
    }
    const verdict = await store.verdict(id);
    check.only = verdict && describe(verdict).scope;
    if (againstApi) {
      const client = await api();
      const parts = part === null ? await syncedParts(store, id, client) : [part];
      for (const { filter, period: read } of parts) {
        const period = intersect(asked, read);
        if (period === null) continue;
        const here = new Rows();
        const extensions = !leavesExtensions(filter, client.version);
        for await (const call of store.calls(
          id,
          selectionOf(inPeriod(filter, period), { extensions }),
        ))
          if (purgedBefore === null || (call.date_added ?? '') >= purgedBefore)
            here.add(rowOf(call));
        const what = { account: id, client, filter, period, here, rowOf, removed, isOneOfSeveral };
        await compareWithApi(check, { ...what, mayLackExtensions: false }, ask);
      }
      for (const { difference } of check.findings)
        if (verdict !== null && difference?.kind === 'missing') lost.push(difference);
    } else if (verdict === null) check.findings.push(nothing);
    else {
      const lacks = describe(verdict).lacks;
      if (lacks !== null) find('not_whole', lacks);
      const { rows, written } = await store.tally(id);

      // A store of an earlier release took what it had for what its writes have left.
      const isAsRead = erasedCallers === 0 && purgedBefore === null;
      const read = isAsRead ? deliveredOf(verdict) : 0;
      const expected = Math.max(written, rows < read ? read : 0);
      if (rows !== expected)
        find(
          'rows',
          `it has ${plural(rows, 'row')}, and by what was written and removed it should have ${count(expected)}`,
        );
      if (rows < expected) lost.push({ from: null, to: null });
    }

    if (lost.length > 0) find('unread', await noteLost(id, lost));
    checks.push(check);
  };

  const noteLost = async (id: string, lost: readonly PeriodText[]): Promise<string> => {
    try {
      const writable = await openChosen(chosen, settings);
      try {
        for (const period of lost) await markUnread(writable, id, period);
      } finally {
        await writable.close();
      }
      return 'the next calls sync or calls fleet work reads what is missing';
    } catch (error) {
      return `that could not be noted for the next sync: ${explain(error).message}`;
    }
  };

  try {
    const accounts = choose((await store.accounts()).map(({ id }) => id));
    if (accounts.length === 0) checks.push(begin(shown, { findings: [nothing] }));
    for (const account of accounts)
      await whileWaiting(`reading account ${account.id}`, () =>
        check(account, accounts.length > 1),
      );
  } finally {
    await store.close();
  }
}

/**
 * What the syncs of an account were asked for, up to where its calls were no longer too young to be
 * counted.
 */
async function syncedParts(
  store: Store,
  account: string,
  { version }: Client,
): Promise<readonly Part[]> {
  const state = (await store.note(account))?.note as SyncState | undefined;
  if (state === undefined)
    return [{ filter: withExtensions({ clauses: [] }, version), period: everything }];
  return state.parts.flatMap(({ version: read, filter, asked, countedTo }) => {
    if (read !== version)
      throw new UsageError(`its calls were read in ${read}, and the API is asked in ${version}`, [
        `add --api-version ${read}`,
      ]);
    const others = withoutTimes(parse(filter, { version }));
    return asked.map(({ from, to }) => ({
      filter: others,
      period: periodOfRange({ from, to: to ?? countedTo }),
    }));
  });
}
