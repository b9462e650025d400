import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import type { SyncBatch, SyncState } from '@call-attribution/node-stream';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { runSql } from '@call-attribution/test-tools/postgres';
import { openStore, type Store, type StoreOptions } from '../src/index.ts';

const [pattern] = fixtureCalls(1) as [Call];

/** A call that only differs in what a store orders and filters by. */
export function smallCall(
  sid: string,
  at: string,
  talk: string | null,
  extension = false,
  more: object = {},
): Call {
  const channel = extension ? 'Call Extension' : 'Tracker';
  return { ...pattern, sid, date_added: at, talk_minutes: talk, channel, ...more } as Call;
}

/** A wire time from seconds since 1970. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** A store that has the account 101. */
export async function openAt(url: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(url, options);
  await store.putAccount({ id: '101', name: 'One' });
  return store;
}

/** Runs statements in the database of a store, behind its back. */
export async function runOn(url: string, ...statements: string[]): Promise<void> {
  for (const sql of statements) {
    if (url.startsWith('postgres')) await runSql(url, sql);
    else {
      const database = new Database(url.slice('sqlite:'.length));
      database.exec(sql);
      database.close();
    }
  }
}

/** The last batch of a sync, whose state is the same whatever the receiver takes. */
export const batchOf = (calls: readonly Call[], state: SyncState): SyncBatch => ({
  calls,
  state,
  stateWithout: () => state,
  isLast: true,
});
