import { setImmediate } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { checkNames } from '@call-attribution/core/options';
import type { Fault } from '@call-attribution/core/testing';
import {
  type Clock,
  type Duration,
  durationMillis,
  systemClock,
} from '@call-attribution/core/time';
import type { LogEntry, PageAccount } from '@call-attribution/service';
import { createService, type ListenOptions, type ServiceOptions } from '@call-attribution/service';
import type { Store } from '@call-attribution/store';
import { openStore, StoreError } from '@call-attribution/store';
import { sandboxDefaults } from './defaults.ts';
import { controlRoutes } from './faults/control-routes.ts';
import { createFaultBook, type FaultBook } from './faults/fault-book.ts';
import { createIntercept } from './faults/intercept.ts';
import { createJournal, type Journal } from './faults/journal.ts';
import type { GeneratedAccount } from './generate/account.ts';
import {
  type GeneratedCalls,
  type GenerateOptions,
  generatedAccounts,
} from './generate/generate.ts';
import { createLiveClock, type LiveOptions } from './live/live-clock.ts';
import { createSchedule, type Schedule } from './live/schedule.ts';

/**
 * What a sandbox serves, and how. Without options: 2,000 calls of one account up to now on a free
 * port; the same calls all day.
 */
export interface SandboxOptions extends GenerateOptions, ListenOptions {
  /** Where the calls are kept, in the form of `openStore`. Default `sqlite::memory:`. */
  readonly store?: string | undefined;
  /** Do new calls arrive and ad data change as time passes? Default false. */
  readonly live?: boolean | LiveOptions | undefined;
  /** Faults by access key or bearer token; the key `*` is for all requests. Default none. */
  readonly faults?: Readonly<Record<string, string | readonly Fault[]>> | undefined;
  /** The number of requests that the journal keeps. Default 1,000. */
  readonly journal?: number | undefined;
  /**
   * Called now and then while the calls are made and stored, which takes seconds for many. An error
   * that it throws ends the start.
   */
  readonly onProgress?: ((made: number, total: number) => void) | undefined;
  /** The clock of a sandbox and of its journal. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Further options of `createService`, such as shapes and limits. */
  readonly service?: Omit<ServiceOptions, 'store' | 'accounts' | 'intercept' | 'clock'> | undefined;
}

const optionNames = Object.keys({
  records: 1,
  seed: 1,
  accounts: 1,
  days: 1,
  to: 1,
  port: 1,
  host: 1,
  adminPort: 1,
  tls: 1,
  store: 1,
  live: 1,
  faults: 1,
  journal: 1,
  onProgress: 1,
  clock: 1,
  service: 1,
} satisfies Record<keyof SandboxOptions, 1>);

/** Options that several steps of the start need. */
interface Given {
  readonly live: boolean | LiveOptions;
  readonly clock: Pick<Clock, 'now'>;
  readonly service: NonNullable<SandboxOptions['service']>;
}

/** An account of a sandbox with its test keys. */
export type SandboxAccount = PageAccount;

/** A running sandbox. */
export interface Sandbox extends AsyncDisposable {
  /** Base URL of v2, v3 and the SMS listing. */
  readonly url: string;
  /** The accounts with their test keys. */
  readonly accounts: readonly SandboxAccount[];
  /** The faults, which can be set and cleared while it runs. */
  readonly faults: FaultBook;
  /** The last requests to the API. */
  readonly requests: Journal;
  /**
   * Lets so much time pass at once, such as `6h`: calls arrive and ad data changes. Works without
   * `live` too.
   */
  advance(span: Duration): Promise<{ arrived: number; changed: number }>;
  /** Stops the service and closes the store. */
  close(): Promise<void>;
}

/** The test keys of an account, which are the same in every sandbox. */
export function testKeys(
  accountId: string,
): Pick<PageAccount, 'accessKey' | 'secretKey' | 'bearerToken'> {
  return {
    accessKey: `test_access_${accountId}`,
    secretKey: `test_secret_${accountId}`,
    bearerToken: `test_bearer_${accountId}`,
  };
}

/**
 * Starts the API over generated calls.
 *
 * @example
 * const sandbox = await startSandbox({ records: 500 }); const [account] = sandbox.accounts; const
 * client = createClient({ baseUrl: sandbox.url, auth: apiKeys(account.accessKey, account.secretKey)
 * }); // ... await sandbox.close();
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkNames(options, optionNames);
  const { live = false, clock = systemClock, service: more = {}, journal, onProgress } = options;
  const { port, host, adminPort, tls } = options;
  const sources = generatedAccounts(options, Math.floor(clock.now() / 1000));
  const store = await openFor(sources, options.store ?? 'sqlite::memory:');
  const accounts = sources.map(accountOf);
  const keys = accounts.flatMap(({ accessKey, bearerToken }) => [accessKey, bearerToken]);
  const faults = createFaultBook(options.seed, keys);
  for (const [key, value] of Object.entries(options.faults ?? {})) faults.set(key, value);
  const requests = createJournal(journal);
  const { schedules, time } = createPassingTime(sources, store, { live, clock, service: more });
  const routes = controlRoutes({ book: faults, journal: requests, advance: time.advance });
  const intercept = createIntercept(faults, requests, clock);
  const service = createService(
    serviceOptions({ live, service: more }, { store, accounts, clock, intercept, routes }),
  );
  let closed: Promise<void> | undefined;

  const closeAll = async () => {
    await time.close();
    await service.close();
    await store.close();
  };

  const close = () => (closed ??= closeAll());
  try {
    await fill(store, sources, schedules, onProgress);
    const { url } = await service.listen({ port, host, adminPort, tls });
    if (live) time.start();
    const advance = (span: Duration) => time.advance(durationMillis(span, 'span') / 1000);
    return { url, accounts, faults, requests, advance, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the store. Generated calls and public test keys must not get into one with real calls. */
async function openFor(sources: readonly GeneratedCalls[], url: string): Promise<Store> {
  const store = await openStore(url);
  const known = new Set(sources.map(({ account }) => account.id));
  const stranger = (await store.accounts()).find(({ id }) => !known.has(id));
  if (stranger === undefined) return store;
  await store.close();
  throw new StoreError(
    'store_url',
    `The store has account ${stranger.id}, which does not belong to this sandbox. Use a separate store for a sandbox.`,
  );
}

const accountOf = ({ account: { id, name }, records }: GeneratedCalls): SandboxAccount => ({
  id,
  name,
  records,
  ...testKeys(id),
});

/** What changes the calls of the store as time passes. */
function createPassingTime(
  sources: readonly GeneratedCalls[],
  store: Store,
  { live, clock, service }: Given,
) {
  const pace = typeof live === 'object' ? live : {};
  const { callsPerMinute = sandboxDefaults.callsPerMinute } = pace;
  const schedules = sources.map((source) => createSchedule(source, callsPerMinute));
  const time = createLiveClock(
    schedules,
    sources[0]?.to ?? 0,
    async ({ accountId, arrived, changed }) => {
      await store.upsert(accountId, [...arrived, ...changed]);
    },
    { ...pace, clock, onError: () => service.log?.(storeFailed(clock.now())) },
  );
  return { schedules, time };
}

function serviceOptions(
  { service, live }: Pick<Given, 'live' | 'service'>,
  {
    routes,
    accounts,
    store,
    clock,
    intercept,
  }: Pick<ServiceOptions, 'store' | 'clock' | 'intercept'> & {
    readonly routes: NonNullable<ServiceOptions['routes']>;
    readonly accounts: readonly SandboxAccount[];
  },
): ServiceOptions {
  return {
    // Connections that a fault leaves open must not delay the end of a test.
    drainTimeout: '500ms',
    ...service,
    store,
    clock,
    intercept,
    accounts,
    routes: [...(service.routes ?? []), ...routes],
    page: service.page !== false && {
      ...service.page,
      sandbox: { accounts, live: live !== false },
    },
  };
}

function storeFailed(now: number): LogEntry {
  return {
    time: new Date(now).toISOString(),
    level: 'error',
    message: 'new calls could not be stored',
  };
}

async function fill(
  store: Store,
  sources: readonly GeneratedCalls[],
  schedules: readonly Schedule[],
  onProgress?: SandboxOptions['onProgress'],
) {
  const total = sources.reduce((sum, { records }) => sum + records, 0);
  let made = 0;

  async function* counted(calls: Iterable<Call>): AsyncGenerator<Call> {
    for (const call of calls) {
      yield call;
      made += 1;
      if (made % 1000 !== 0 && made !== total) continue;
      onProgress?.(made, total);
      // Signals and timers get a turn.
      await setImmediate();
    }
  }

  for (const [index, source] of sources.entries()) {
    const { id, name } = source.account;
    await store.putAccount({ id, name });
    await store.upsert(id, counted(watched(source, itemAt(schedules, index))));
    await store.putSmsNumbers(id, smsNumbers(source.account));
  }
}

function* watched(source: GeneratedCalls, schedule: Schedule): Generator<Call> {
  for (let i = 0; i < source.records; i++) {
    const made = source.at(i, source.to);
    schedule.watch(i, made);
    yield made.call;
  }
}

function smsNumbers({ numbers }: GeneratedAccount) {
  return numbers.slice(0, 3).map(({ number }, i) => ({
    number,
    smsEnabled: i < 2 ? '1' : '0',
    url: `https://listener.example/sms?number=${number}&try=${i + 1}`,
  }));
}
