import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call, Clock } from '@call-attribution/core';
import { copyVerdict } from '@call-attribution/node-stream/copies';
import {
  findAccount,
  listAccounts,
  listCredentials,
  noteSyncKeys,
  putAccount,
  putCredential,
  revokeCredential,
} from './accounts/accounts.ts';
import { committed, holdClaim, listNotes, putNote, takeClaim } from './accounts/claims.ts';
import { listSms, replaceSms } from './accounts/sms.ts';
import type { Driver } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { openJournal, type StoreJournal } from './journal.ts';
import type { StoreSettings } from './options.ts';
import { columnsOf } from './rows/columns.ts';
import { type DocumentRow, document, documentIn, printed } from './rows/documents.ts';
import { eachCall } from './rows/each-call.ts';
import { readPage } from './rows/pages.ts';
import { positionOf } from './rows/position.ts';
import { countCalls } from './rows/pyramid.ts';
import { type CallRow, toRow } from './rows/record.ts';
import { keyOf } from './rows/record-key.ts';
import { readRemovals } from './rows/removed.ts';
import { scanCalls } from './rows/scan.ts';
import { everything } from './rows/selection.ts';
import { secondsOf } from './rows/wire-values.ts';
import {
  bothStored,
  deleteCalls,
  holdAccount,
  nothingStored,
  type Stored,
  writeCalls,
} from './rows/write.ts';
import type { Store } from './store.ts';
import { addRemovals, eraseCallers } from './upkeep/erasure.ts';
import { checkTally, measureStore, purgeBefore, rebuildTally } from './upkeep/upkeep.ts';

/** A store over a driver whose database has the current schema. */
export function createSqlStore(driver: Driver, name: string, settings: StoreSettings): Store {
  let closed: Promise<void> | undefined;
  const journals = new Set<StoreJournal>();
  const close = () =>
    (closed ??= Promise.all([...journals].map((journal) => journal.close())).then(() => driver.close()));
  return {
    name,
    readsAtOnce: driver.readsAtOnce,
    ...accountMethods(driver),
    ...writeMethods(driver, settings.clock),
    ...readMethods(driver, settings),
    ...upkeepMethods(driver),
    journal(journalName) {
      const journal = openJournal(driver, journalName);
      journals.add(journal);
      return journal;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const accountMethods = (driver: Driver) =>
  ({
    putAccount: (account) => putAccount(driver, account),
    accounts: () => listAccounts(driver),
    putCredential: (account, credential) => putCredential(driver, account, credential),
    noteSyncKeys: (account, keys, verdict) => noteSyncKeys(driver, account, keys, verdict),
    credentials: (account) => listCredentials(driver, account),
    revokeCredential: (id) => revokeCredential(driver, id),
    findAccount: (credential) => findAccount(driver, credential),
    smsNumbers: (account) => listSms(driver, account),
    putSmsNumbers: (account, numbers) => replaceSms(driver, account, numbers),
    notes: (account, prefix) => listNotes(driver, account, prefix),
    async verdict(account, period) {
      const notes = await listNotes(driver, account, 'sync');
      return copyVerdict(notes.find(({ name }) => name === 'sync')?.note, period);
    },
  }) satisfies Partial<Store>;

function writeMethods(driver: Driver, clock: Pick<Clock, 'now'>) {
  const rowsOf = (calls: readonly Call[]): CallRow[] => {
    const rows: CallRow[] = [];
    const refused: number[] = [];
    let first: StoreError | undefined;
    for (const [index, call] of calls.entries()) {
      try {
        rows.push(toRow(call));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        first ??= error;
        refused.push(index);
      }
    }
    if (first !== undefined) throw new StoreError(first.code, first.message, { refused });
    return rows;
  };
  const write = (account: string, rows: readonly CallRow[]): Promise<Stored> =>
    driver.write(async (session) => {
      await holdAccount(driver, session, account);
      return writeCalls(driver, session, account, rows);
    });
  return {
    upsert: async (account, calls) => write(account, rowsOf(calls)),
    async load(account, calls, { batch = driver.loadsAtOnce } = {}) {
      let sum = nothingStored;
      let writing = Promise.resolve(nothingStored);
      try {
        // While a server writes, the next calls are read.
        for await (const rows of inBatches(calls, batch)) {
          sum = bothStored(sum, await writing);
          writing = write(account, rows);
          writing.catch(() => undefined);
        }
      } catch (error) {
        // Calls before one that cannot be read are stored. If that fails, too, it comes first.
        await writing;
        throw error;
      }
      return bothStored(sum, await writing);
    },
    remove: (account, sids) =>
      driver.write(async (session) => {
        await holdAccount(driver, session, account);
        return deleteCalls(driver, session, account, sids);
      }),
    claim: (account, name, holder) => takeClaim(driver, account, name, holder, clock.now()),
    async commitClaimed(claim, { calls, remove = [], note }) {
      const rows = rowsOf(calls);
      const { stored, number } = await driver.write(async (session) => {
        const number = await holdClaim(driver, session, claim);
        const stored = await writeCalls(driver, session, claim.account, rows);
        if (remove.length > 0) await deleteCalls(driver, session, claim.account, remove);
        const given = typeof note === 'function' ? note(stored) : note;
        if (given !== undefined) await putNote(session, claim, given, clock.now());
        return { stored, number };
      });
      committed(claim, number);
      return stored;
    },
  } satisfies Partial<Store>;
}

function readMethods(driver: Driver, settings: StoreSettings) {
  const documentOf = async (account: string, sid: string): Promise<DocumentRow | null> => {
    const [row] = await driver.all(`SELECT ${document} FROM records WHERE account = $1 AND sid = $2`, [
      account,
      keyOf(sid),
    ]);
    return row === undefined ? null : documentIn(row);
  };
  return {
    count: (account, selection) => countCalls(driver, account, selection),
    page: (account, query) => readPage(driver, account, query, settings),
    async document(account, sid, version) {
      const found = await documentOf(account, sid);
      return found && Buffer.from(printed(found, version));
    },
    async get(account, sid) {
      const found = await documentOf(account, sid);
      return found && (JSON.parse(found.text) as Call);
    },
    calls: (account, selection = everything, part = {}) =>
      eachCall(driver, account, selection, part, settings.walkBelow),
    columns: (account, selection, fields, signal) =>
      columnsOf(eachCall(driver, account, selection, {}, settings.walkBelow), fields, signal),
    scan: (account, parts, begin, { signal } = {}) => scanCalls(driver, account, parts, begin, signal),
    position: (account) => positionOf(driver, account),
  } satisfies Partial<Store>;
}

const upkeepMethods = (driver: Driver) =>
  ({
    async purge(account, before) {
      const at = secondsOf(before);
      if (at === null)
        throw new StoreError('unfit_record', 'The time of a purge must have the form YYYY-MM-DD HH:MM:SS.');
      return purgeBefore(driver, account, at);
    },
    removals: (account) => driver.read((session) => readRemovals(session, account)),
    addRemovals: (account, note) => addRemovals(driver, account, note),
    erase: (account, callers) => eraseCallers(driver, account, callers),
    check: () => checkTally(driver),
    rebuild: (account) => rebuildTally(driver, account),
    sizes: () => measureStore(driver),
    async ping() {
      await driver.all('SELECT version FROM meta WHERE id = 1');
    },
  }) satisfies Partial<Store>;

/** Calls are read for about so long at a time while others are written. */
const busyMs = 2;

/** Characters of JSON after which a batch is written, however few calls they are: long records must fit into memory. */
const mostText = 16_000_000;

/** The rows of calls, some at a time. When a call cannot be read, the rows before it still come. */
async function* inBatches(
  calls: Iterable<Call> | AsyncIterable<Call>,
  size: number,
): AsyncGenerator<CallRow[]> {
  let rows: CallRow[] = [];
  let failure: { error: unknown } | undefined;
  const source = Symbol.asyncIterator in calls ? calls[Symbol.asyncIterator]() : calls[Symbol.iterator]();
  // One step at a time: for each further generator in between, a record would wait for some more promises.
  const next = async (): Promise<CallRow | null> => {
    try {
      const { done, value } = await source.next();
      return done ? null : toRow(value);
    } catch (error) {
      failure = { error };
      return null;
    }
  };
  let since = performance.now();
  let text = 0;
  try {
    for (let row = await next(); row !== null; row = await next()) {
      // What comes from memory would not let a server be sent anything until all of a batch is read.
      if (performance.now() - since > busyMs) {
        await nextTurn();
        since = performance.now();
      }
      text += row.text.length;
      if (rows.push(row) < size && text < mostText) continue;
      yield rows;
      rows = [];
      text = 0;
    }
  } finally {
    await source.return?.();
  }
  if (rows.length > 0) yield rows;
  if (failure !== undefined) throw failure.error;
}
