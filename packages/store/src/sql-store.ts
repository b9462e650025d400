import type { Call, Clock } from '@call-attribution/core';
import { copyVerdict } from '@call-attribution/node-stream/copies';
import {
  findAccount,
  listAccounts,
  listCredentials,
  listSms,
  noteSyncKeys,
  putAccount,
  putCredential,
  replaceSms,
  revokeCredential,
} from './accounts/accounts.ts';
import {
  committed,
  holdAccount,
  holdClaim,
  putNote,
  readNote,
  readRemovals,
  revisionOf,
  takeClaim,
} from './accounts/claims.ts';
import { keyOf, recordsOf } from './columns.ts';
import type { Driver } from './database/driver.ts';
import { openJournal, type StoreJournal } from './journal.ts';
import { createCounter, eachCall, oneCall, readColumns } from './read.ts';
import { addRemovals, eraseCallers, purgeBefore } from './removals.ts';
import { everything } from './selection.ts';
import type { AccountSize, Store } from './store.ts';
import { callRows, deleteKeys, upsertCalls, writeCalls } from './write.ts';

/** A store over a driver whose database has the tables of this release. */
export function createSqlStore(driver: Driver, name: string, clock: Pick<Clock, 'now'>): Store {
  let closed: Promise<void> | undefined;
  const journals = new Set<StoreJournal>();
  const counter = createCounter(driver);
  const close = () =>
    (closed ??= Promise.all([...journals].map((journal) => journal.close())).then(() => driver.close()));
  return {
    name,

    putAccount: (account) => putAccount(driver, account),
    accounts: () => listAccounts(driver),
    putCredential: (account, credential) => putCredential(driver, account, credential),
    noteSyncKeys: (account, keys, verdict) => noteSyncKeys(driver, account, keys, verdict),
    credentials: (account) => listCredentials(driver, account),
    revokeCredential: (id) => revokeCredential(driver, id),
    findAccount: (credential) => findAccount(driver, credential),
    smsNumbers: (account) => listSms(driver, account),
    putSmsNumbers: (account, numbers) => replaceSms(driver, account, numbers),

    upsert: (account, calls) => upsertCalls(driver, account, calls),
    remove: (account, sids) =>
      driver.write(async (session) => {
        await holdAccount(driver, session, account);
        return deleteKeys(driver, session, account, sids.map(keyOf));
      }),

    count: counter.count,
    page: counter.page,
    async document(account, sid, version) {
      const [found] = recordsOf(await oneCall(driver, account, sid), version);
      return found === undefined ? null : Buffer.from(JSON.stringify(found));
    },
    get: async (account, sid) =>
      (recordsOf(await oneCall(driver, account, sid), 'neutral')[0] ?? null) as Call | null,
    calls: (account, selection = everything, part = {}) => eachCall(driver, account, selection, part),
    columns: (account, selection, fields, signal) => readColumns(driver, account, selection, fields, signal),
    revision: (account) => revisionOf(driver, account),

    claim: (account, holder) => takeClaim(driver, account, holder, clock.now()),
    async commitClaimed(claim, { calls, note }) {
      const rows = await callRows(claim.account, calls);
      const { stored, held } = await driver.write(async (session) => {
        const done = await writeCalls(driver, session, claim.account, rows, () =>
          holdClaim(driver, session, claim),
        );
        if (note !== undefined) await putNote(session, claim, note, clock.now());
        return done;
      });
      committed(claim, held);
      return stored;
    },
    note: (account) => readNote(driver, account),
    verdict: async (account, period) => copyVerdict((await readNote(driver, account))?.note, period),
    journal(journalName) {
      const journal = openJournal(driver, journalName);
      journals.add(journal);
      return journal;
    },

    purge: (account, before) => purgeBefore(driver, account, before),
    removals: (account) => driver.read((session) => readRemovals(session, account)),
    addRemovals: (account, note) => addRemovals(driver, account, note),
    erase: (account, callers) => eraseCallers(driver, account, callers),
    async sizes() {
      const accounts: AccountSize[] = [];
      for (const { id } of await listAccounts(driver))
        accounts.push({
          account: id,
          calls: await counter.count(id, everything),
          ...(await agesOf(driver, id)),
        });
      const [size] = await driver.all(driver.dialect.sizeQuery);
      return { bytes: Number(size?.bytes ?? 0), accounts };
    },
    async ping() {
      await driver.all('SELECT layout FROM meta WHERE id = 1');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function agesOf(
  driver: Driver,
  account: string,
): Promise<Pick<AccountSize, 'oldest' | 'newest' | 'syncedAt'>> {
  const { dialect } = driver;
  const [row] = await driver.all(
    `SELECT ${dialect.text('min(date_added)')} AS oldest, ${dialect.text('max(date_added)')} AS newest,
       (SELECT noted_at FROM claims WHERE account = $1 AND name = 'sync' AND note IS NOT NULL) AS synced_at
     FROM records WHERE account = $1 AND date_added >= '0001-01-01 00:00:00'`,
    [account],
  );
  const syncedAt = row?.synced_at ?? null;
  return {
    oldest: (row?.oldest ?? null) as string | null,
    newest: (row?.newest ?? null) as string | null,
    syncedAt: syncedAt === null ? null : Number(syncedAt),
  };
}
