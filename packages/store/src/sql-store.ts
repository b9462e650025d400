import type { Call } from '@call-attribution/core';
import {
  findAccount,
  listAccounts,
  listCredentials,
  putAccount,
  putCredential,
  revokeCredential,
} from './accounts/accounts.ts';
import { listSms, replaceSms } from './accounts/sms.ts';
import type { Driver } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { fromStored, jsonText } from './rows/documents.ts';
import { type PageTuning, readPage, tailColumn } from './rows/pages.ts';
import { countCalls, otherConditions, parameters } from './rows/pyramid.ts';
import { everything, type Selection } from './rows/selection.ts';
import { secondsOf } from './rows/wire-values.ts';
import { deleteCalls, holdAccount, type Stored, writeCalls } from './rows/write.ts';
import type { Store } from './store.ts';
import { eraseCaller } from './upkeep/erasure.ts';
import { checkTally, measureStore, purgeBefore, rebuildTally } from './upkeep/upkeep.ts';

/** A store over a driver whose database has the current schema. */
export function createSqlStore(
  driver: Driver,
  name: string,
  { now = Date.now, ...tuning }: PageTuning & { now?: () => number } = {},
): Store {
  const upsert = (account: string, calls: readonly Call[]): Promise<Stored> =>
    driver.write((session) => writeCalls(driver, session, account, calls));

  return {
    name,
    putAccount: (account) => putAccount(driver, account),
    accounts: () => listAccounts(driver),
    putCredential: (account, credential) => putCredential(driver, account, credential),
    credentials: (account) => listCredentials(driver, account),
    revokeCredential: (id) => revokeCredential(driver, id),
    findAccount: (credential) => findAccount(driver, credential),

    upsert,
    async load(account, calls, { batch = 500 } = {}) {
      const sum = { stored: 0, added: 0, changed: 0, leftOut: 0 };
      let waiting: Call[] = [];
      const flush = async () => {
        const part = await upsert(account, waiting);
        for (const name of ['stored', 'added', 'changed', 'leftOut'] as const) sum[name] += part[name];
        waiting = [];
      };
      for await (const call of calls) if (waiting.push(call) >= batch) await flush();
      if (waiting.length > 0) await flush();
      return sum;
    },
    remove: (account, sids) =>
      driver.write(async (session) => {
        await holdAccount(driver, session, account);
        return deleteCalls(driver, session, account, sids);
      }),

    count: (account, selection) => countCalls(driver, account, selection),
    page: (account, query) => readPage(driver, account, query, tuning),
    // A sid with a NUL character cannot be stored, and PostgreSQL fails on it.
    async document(account, sid, version) {
      if (sid.includes('\0')) return null;
      const [row] = await driver.all(
        `SELECT common, ${tailColumn(version)} AS tail FROM calls WHERE account = $1 AND sid = $2`,
        [account, sid],
      );
      return row === undefined ? null : Buffer.from(jsonText(row.common) + jsonText(row.tail));
    },
    async get(account, sid) {
      if (sid.includes('\0')) return null;
      const [row] = await driver.all('SELECT common, v2, v3 FROM calls WHERE account = $1 AND sid = $2', [
        account,
        sid,
      ]);
      return row === undefined ? null : callOf(row);
    },
    calls: (account, selection = everything) => eachCall(driver, account, selection),

    smsNumbers: (account) => listSms(driver, account),
    putSmsNumbers: (account, numbers) => replaceSms(driver, account, numbers),

    async syncState(account) {
      const [row] = await driver.all('SELECT state FROM sync_state WHERE account = $1', [account]);
      return row === undefined ? null : JSON.parse(String(row.state));
    },
    commitSync: (account, { calls, state }) =>
      driver.write(async (session) => {
        const stored = await writeCalls(driver, session, account, calls);
        await session.run(
          `INSERT INTO sync_state (account, state, committed_at) VALUES ($1, $2, $3)
             ON CONFLICT (account) DO UPDATE SET state = excluded.state, committed_at = excluded.committed_at`,
          [account, JSON.stringify(state), now()],
        );
        return stored;
      }),

    async purge(account, before) {
      const at = secondsOf(before);
      if (at === null)
        throw new StoreError('unfit_record', 'The time of a purge must have the form YYYY-MM-DD HH:MM:SS.');
      return purgeBefore(driver, account, at);
    },
    erase: (account, caller) => eraseCaller(driver, account, caller),
    check: () => checkTally(driver),
    rebuild: () => rebuildTally(driver),
    sizes: () => measureStore(driver),
    async ping() {
      await driver.all('SELECT version FROM meta WHERE id = 1');
    },
    close: () => driver.close(),
  };
}

/** Calls per statement when all are read. */
const batchSize = 500;

async function* eachCall(driver: Driver, account: string, selection: Selection): AsyncGenerator<Call> {
  for (let from = selection.from, after = ''; ; ) {
    const { values, put } = parameters();
    const owner = put(account);
    const start = put(from);
    const rows = await driver.all(
      `SELECT common, v2, v3, at, sid FROM calls
        WHERE account = ${owner} AND at >= ${start} AND at < ${put(selection.to)} AND (at > ${start} OR sid > ${put(after)})
          ${otherConditions(selection, put)}
        ORDER BY at, sid LIMIT ${batchSize}`,
      values,
    );
    for (const row of rows) yield callOf(row);
    const last = rows.at(-1);
    if (rows.length < batchSize || last === undefined) return;
    from = Number(last.at);
    after = String(last.sid);
  }
}

function callOf(row: Readonly<Record<string, unknown>>): Call {
  return fromStored(jsonText(row.common), jsonText(row.v2), jsonText(row.v3));
}
