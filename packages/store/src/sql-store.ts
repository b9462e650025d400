import type { Call } from '@call-attribution/core';
import { checkList } from '@call-attribution/core/options';
import { textOf } from '@call-attribution/core/time';
import { copyVerdict } from '@call-attribution/node-stream/copies';
import type { Answer } from '@call-attribution/questions';
import { accountsIn, checkAccount } from './accounts/accounts.ts';
import {
  committed,
  holdClaim,
  noteLoss,
  putNote,
  readNote,
  revisionOf,
  takeClaim,
  tallyOf,
  writeHeld,
} from './accounts/claims.ts';
import { ask, statusesOf, verdictsOf } from './ask.ts';
import { lastChange } from './changes.ts';
import { keyOf, recordsOf } from './columns.ts';
import type { Dialect, Driver } from './database/driver.ts';
import { openJournal, type StoreJournal } from './journal.ts';
import { createCounter, eachCall, readColumns, rowsOfKeys } from './read.ts';
import { deleteKeys, finishRemovals, removalsIn } from './removals.ts';
import type { AccountSize, Store } from './store.ts';
import { callRows, upsertCalls, writeCalls } from './write.ts';

/** A store over a driver whose database has the tables of this release. */
export function createSqlStore(driver: Driver, name: string): Store {
  const { clock } = driver;
  let closed: Promise<void> | undefined;
  const journals = new Set<StoreJournal>();
  const accounts = accountsIn(driver);
  const counter = createCounter(driver);

  const close = () =>
    (closed ??= Promise.all([...journals].map((journal) => journal.close())).then(() =>
      driver.close(),
    ));

  const store: Store = {
    name,

    ...accounts,
    ...removalsIn(driver),
    upsert: (account, calls) => upsertCalls(driver, account, calls),
    async remove(account, sids) {
      checkList('sids', sids);
      return writeHeld(driver, account, (session) =>
        deleteKeys(driver, session, account, sids.map(keyOf)),
      );
    },

    count: async (account, selection) => counter.count(checkAccount(account), selection),
    page: async (account, query) => counter.page(checkAccount(account), query),
    async document(account, sid, version) {
      const [found] = recordsOf(await rowsOfKeys(driver, driver, account, [keyOf(sid)]), version);
      return found === undefined ? null : Buffer.from(JSON.stringify(found));
    },
    get: async (account, sid) =>
      (recordsOf(await rowsOfKeys(driver, driver, account, [keyOf(sid)]), 'neutral')[0] ??
        null) as Call | null,
    calls: (account, selection = {}, part = {}) =>
      eachCall(driver, checkAccount(account), selection, part),
    columns: (account, fields, selection = {}, signal) =>
      readColumns(driver, checkAccount(account), selection, fields, signal),
    async ask(question, { accounts: named, signal } = {}) {
      const { planQuestion } = await import('@call-attribution/questions');
      const plan = planQuestion(question, { now: clock.now() });
      const ids = named ?? (await accounts.accounts()).map(({ id }) => id);
      const copies = ids.map((account) => ({ store, account }));
      const statuses = await statusesOf(copies);
      const [answer] = await ask([plan], copies, { signal, statuses });
      return { answer: answer as Answer, statuses, verdicts: await verdictsOf([plan], copies) };
    },
    revision: (account) => revisionOf(driver, account),
    changedAt: (account) => lastChange(driver, driver, account),
    tally: (account) => tallyOf(driver, account),
    noteLoss: (account) => noteLoss(driver, account),

    async claim(account, holder) {
      await finishRemovals(driver, account);
      return takeClaim(driver, account, holder, clock.now());
    },
    async commitClaimed(claim, { calls, note }) {
      const rows = callRows(claim.account, calls);
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
    verdict: async (account, period) =>
      copyVerdict((await readNote(driver, account))?.note, period && textOf(period)),
    journal(journalName) {
      const journal = openJournal(driver, journalName);
      journals.add(journal);
      return journal;
    },

    async sizes() {
      const sizes: AccountSize[] = [];
      for (const { id: account } of await accounts.accounts()) {
        const [row] = await driver.all(agesQuery(driver.dialect), [account]);
        const { oldest, newest } = row as Record<'oldest' | 'newest', string | null>;
        const syncedAt = (await readNote(driver, account))?.notedAt ?? null;
        sizes.push({
          account,
          calls: await counter.count(account),
          oldest,
          newest,
          syncedAt,
        });
      }

      return sizes;
    },
    async ping() {
      await driver.all('SELECT layout FROM meta WHERE id = 1');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return store;
}

const agesQuery = ({ text }: Dialect): string =>
  `SELECT ${text('min(date_added)')} AS oldest, ${text('max(date_added)')} AS newest
     FROM records WHERE account = $1 AND date_added >= '0001-01-01 00:00:00'`;
