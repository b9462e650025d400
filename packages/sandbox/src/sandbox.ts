import type { Call } from '@call-attribution/core';
import type { Fault } from '@call-attribution/core/testing';
import { formatNaive } from '@call-attribution/core/time';
import type { LogEntry, PageAccount } from '@call-attribution/service';
import { createService, type ListenOptions, type ServiceOptions } from '@call-attribution/service';
import type { Store } from '@call-attribution/store';
import { openStore, StoreError } from '@call-attribution/store';
import { sandboxDefaults } from './defaults.ts';
import { controlRoutes } from './faults/control-routes.ts';
import { createFaultBook, type FaultBook } from './faults/fault-book.ts';
import { createIntercept } from './faults/intercept.ts';
import { createJournal, type Journal } from './faults/journal.ts';
import { createLiveClock, type LiveOptions } from './live/live-clock.ts';
import { createSchedule, type Schedule } from './live/schedule.ts';
import type { MadeUpAccount } from './made-up/account.ts';
import { type GenerateOptions, type MadeUpCalls, madeUpAccounts } from './made-up/generate.ts';

/** How a sandbox is set up. Without options: 2,000 calls of one account on a free port, always the same. */
export interface SandboxOptions extends GenerateOptions, ListenOptions {
  /** Where the calls are kept. Default `sqlite::memory:`. */
  readonly store?: string;
  /** Lets new calls come in and ad data move on. Default false: the calls stay as they are. */
  readonly live?: boolean | LiveOptions;
  /** Faults by access key or bearer token, or for all requests by `*`. Default none. */
  readonly faults?: Readonly<Record<string, string | readonly Fault[]>>;
  /** How many requests the journal keeps. Default 1,000. */
  readonly journal?: number;
  /** The clock of a live sandbox and of the journal, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Shapes, limits and the like of the service. Default as in `createService`. */
  readonly service?: Omit<ServiceOptions, 'store' | 'accounts' | 'intercept' | 'now'>;
}

/** An account of a sandbox, with the test keys that open it. */
export type SandboxAccount = PageAccount;

/** A running sandbox. */
export interface Sandbox {
  /** Base URL of v2 and v3. */
  readonly url: string;
  /** Base URL of the SMS listing. */
  readonly legacyUrl: string;
  readonly accounts: readonly SandboxAccount[];
  /** Faults, to be set and taken back while it runs. */
  readonly faults: FaultBook;
  /** The last requests to the API. */
  readonly requests: Journal;
  /** Lets this many seconds pass at once: calls come in and ad data moves on. Works without `live` too. */
  advance(seconds: number): Promise<{ arrived: number; changed: number }>;
  close(): Promise<void>;
}

/** The test keys of an account: the same in every sandbox. */
export function testKeys(accountId: string): Pick<PageAccount, 'accessKey' | 'secretKey' | 'bearerToken'> {
  return {
    accessKey: `test_access_${accountId}`,
    secretKey: `test_secret_${accountId}`,
    bearerToken: `test_bearer_${accountId}`,
  };
}

/** Starts the API over made-up calls. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { live = false, now = Date.now, faults = {} } = options;
  const log = options.service?.log;
  const liveOptions = typeof live === 'object' ? live : {};
  const until = options.until ?? (live ? formatNaive(now()) : undefined);
  const sources = madeUpAccounts(until === undefined ? options : { ...options, until });
  const book = createFaultBook(options.seed);
  for (const [key, value] of Object.entries(faults)) book.set(key, value);
  const journal = createJournal(options.journal);

  const store = await openStore(options.store ?? 'sqlite::memory:');
  // Made-up calls and public test keys have no place in a store that somebody keeps real calls in.
  const stranger = (await store.accounts()).find(
    ({ id }) => !sources.some(({ account }) => account.id === id),
  );
  if (stranger) {
    await store.close();
    throw new StoreError(
      'not_a_sandbox',
      `The store holds account ${stranger.id}, which is none of this sandbox. Give a sandbox a store of its own.`,
    );
  }
  const accounts = sources.map(({ account, records }) => ({
    id: account.id,
    name: account.name,
    records,
    ...testKeys(account.id),
  }));
  const schedules = sources.map((source) =>
    createSchedule(source, liveOptions.callsPerMinute ?? sandboxDefaults.callsPerMinute),
  );
  const clock = createLiveClock(
    schedules,
    sources[0]?.until ?? 0,
    async ({ accountId, arrived, changed }) => {
      await store.upsert(accountId, [...arrived, ...changed]);
    },
    { ...liveOptions, now, onError: () => log?.(storeFailed(now())) },
  );
  const service = createService({
    ...options.service,
    // Clients that are left stalled or waiting by a fault must not hold up the end of a test.
    limits: { drainMs: 500, ...options.service?.limits },
    store,
    accounts,
    now,
    intercept: createIntercept(book, journal, now),
    routes: [...(options.service?.routes ?? []), ...controlRoutes({ book, journal, advance: clock.advance })],
    page:
      options.service?.page === false
        ? false
        : { ...options.service?.page, kind: 'sandbox', live: live !== false, accounts },
  });
  try {
    await fill(store, sources, schedules);
    const { port, host, adminPort, tls } = options;
    const { url, legacyUrl } = await service.listen(given({ port, host, adminPort, tls }));
    if (live) clock.start();
    return {
      url,
      legacyUrl,
      accounts,
      faults: book,
      requests: journal,
      advance: clock.advance,
      async close() {
        await clock.stop();
        await service.close();
        await store.close();
      },
    };
  } catch (error) {
    await service.close();
    await store.close();
    throw error;
  }
}

function storeFailed(now: number): LogEntry {
  return { time: new Date(now).toISOString(), level: 'error', message: 'new calls could not be stored' };
}

async function fill(store: Store, sources: readonly MadeUpCalls[], schedules: readonly Schedule[]) {
  for (const [index, source] of sources.entries()) {
    const { id, name } = source.account;
    await store.putAccount({ id, name });
    await store.load(id, watched(source, schedules[index] as Schedule));
    await store.putSmsNumbers(id, smsNumbers(source.account));
  }
}

function* watched(source: MadeUpCalls, schedule: Schedule): Generator<Call> {
  for (let i = 0; i < source.records; i++) {
    const made = source.at(i, source.until);
    schedule.watch(i, made);
    yield made.call;
  }
}

function smsNumbers({ numbers }: MadeUpAccount) {
  return numbers.slice(0, 3).map(({ number }, i) => ({
    number,
    smsEnabled: i < 2 ? '1' : '0',
    url: `https://listener.example/sms?number=${number}&try=${i + 1}`,
  }));
}

// Options that are not given must not stand as undefined where exact optional properties are wanted.
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
