import { checkNames } from '@call-attribution/core/options';
import {
  type Clock,
  type Duration,
  durationMillis,
  systemClock,
} from '@call-attribution/core/time';
import type { Definitions, Question } from '@call-attribution/questions';
import type { Store } from '@call-attribution/store';
import {
  type LimitOptions,
  type Limits,
  limitDefaults,
  type Shape,
  type ShapeOptions,
  shapeDefaults,
} from './defaults.ts';
import type { Feed } from './feeds/feed.ts';
import type { Intercept, LogEntry, RateLimit, Route, Viewer } from './http/public-types.ts';

/** An account with its keys in plain text, as a sandbox or a test knows it. */
export interface AccountWithKeys {
  /** Id in the store. */
  readonly id: string;
  /** Name to show. */
  readonly name: string;
  /** Access key of v3 and of the SMS listing. */
  readonly accessKey: string;
  /** Secret key that belongs to it. */
  readonly secretKey: string;
  /** Bearer token of v2. */
  readonly bearerToken: string;
}

/** An account with its test keys, as the page of a sandbox shows it. */
export interface PageAccount extends AccountWithKeys {
  /** The number of calls at the start. */
  readonly records: number;
}

/** What the page shows of a sandbox. */
export interface PageSandbox {
  /** Its accounts, whose test keys the page shows. */
  readonly accounts: readonly PageAccount[];
  /** Are new calls coming in? */
  readonly live: boolean;
}

/** What a team has set up for its calls, as `calls.config.json` has it. */
export interface PageSetup {
  /** Names for conditions: each is a switch of the page. */
  readonly definitions: Definitions;
  /** The definition of calls that do not count; null when all do. */
  readonly exclude: string | null;
  /** Reports with a name, in the order of the menu. */
  readonly reports: readonly PageReport[];
  /** What happened on some days, in their order. */
  readonly annotations: readonly PageAnnotation[];
}

/** What files say for a report. */
export type PageFiles = Pick<Question, 'spend' | 'outcomes' | 'period'>;

/** A report with a name: a question that the page asks of the account that is chosen. */
export interface PageReport {
  /** The name, as the address has it. */
  readonly name: string;
  /** What it is called in the menu. */
  readonly title: string;
  /** IDs or names of the accounts that it is about; null for all. */
  readonly accounts: readonly string[] | null;
  /** The question, with its period in words. */
  readonly question: Question;
  /**
   * Reads what was spent on an account, or what its calls became, and the period where a file says
   * that; null for a question without both.
   */
  readonly files: ((account: string) => Promise<PageFiles>) | null;
}

/** What happened on a day, such as a new landing page. */
export interface PageAnnotation {
  /** The day, as `2026-10-05`. */
  readonly date: string;
  /** What happened. */
  readonly text: string;
  /** ID or name of the account that it is about; null for all. */
  readonly account: string | null;
}

/** What the page at `/` shows. */
export interface PageOptions {
  /** The sandbox that the calls are from. Default none: the page has input fields for keys. */
  readonly sandbox?: PageSandbox | undefined;
  /** Definitions, reports and annotations. Default none. */
  readonly setup?: PageSetup | undefined;
  /**
   * The password of the page: with it, people sign in (scripts with HTTP Basic, any user name),
   * whoever has it sees all accounts, and keys do not open the page any more. The API stays as it
   * is. Default: the page asks for keys.
   */
  readonly password?: string | null | undefined;
  /** People with names and passwords of their own, and what each of them sees. Default none. */
  readonly viewers?: readonly Viewer[] | undefined;
  /**
   * The time zone of the calls' times: words such as `yesterday` are about its days. Default: that
   * of this machine, and the page says so.
   */
  readonly timeZone?: string | undefined;
  /** Folder of the built page. Default: the one in this package. */
  readonly assets?: string | undefined;
}

/** What a service serves, and how. */
export interface ServiceOptions extends ShapeOptions, LimitOptions {
  /** Where calls and accounts are. The caller opens and closes it. */
  readonly store: Store;
  /** Accounts that `listen` adds to the store. Default none. */
  readonly accounts?: readonly AccountWithKeys[] | undefined;
  /** Requests that each key may make; others get status 429. Default no limit. */
  readonly rateLimit?: RateLimit | null | undefined;
  /** Sees each API request first and may delay, change or replace the response. Default none. */
  readonly intercept?: Intercept | null | undefined;
  /** Further paths, served without credentials. Default none. */
  readonly routes?: readonly Route[] | undefined;
  /** The page for people at `/`, or false for none. Default: a page with input fields for keys. */
  readonly page?: false | PageOptions | undefined;
  /** Upload sheets at fixed addresses, with their status for people at `/feeds`. Default none. */
  readonly feeds?: readonly Feed[] | undefined;
  /**
   * What keeps the service from being ready, in a few words, or null. Default: nothing but the
   * store does.
   */
  readonly ready?: (() => string | null) | undefined;
  /** Further metrics in the text format of Prometheus. Default none. */
  readonly metrics?: (() => string) | undefined;
  /** Receives one entry per request. Default none. */
  readonly log?: ((entry: LogEntry) => void) | null | undefined;
  /**
   * Addresses or networks of your own proxies, such as `127.0.0.1` or `10.0.0.0/8`: wrong passwords
   * of feeds count for the clients that they name last in `x-forwarded-for`. Default none.
   */
  readonly proxies?: readonly string[] | undefined;
  /**
   * Path under which an application mounts the service, such as `/calls`. Not needed where the
   * application cuts it off. Default none.
   */
  readonly prefix?: string | undefined;
  /** The clock; with `timer`, refusals of wrong passwords wait by it. Default: that of the machine. */
  readonly clock?: (Pick<Clock, 'now'> & Partial<Clock>) | undefined;
}

/** The same with the defaults. */
export type ServiceSettings = ReturnType<typeof serviceSettings>;

/** What a service serves, and how, with the defaults. */
export function serviceSettings(options: ServiceOptions) {
  const settings = {
    store: options.store,
    accounts: options.accounts ?? [],
    rateLimit: options.rateLimit ?? null,
    intercept: options.intercept ?? null,
    routes: options.routes ?? [],
    page: options.page ?? {},
    feeds: options.feeds ?? [],
    ready: options.ready ?? (() => null),
    metrics: options.metrics ?? (() => ''),
    log: options.log ?? null,
    proxies: options.proxies ?? [],
    prefix: (options.prefix ?? '').replace(/\/+$/, ''),
    clock: { ...systemClock, ...options.clock },
    ...shapeOf(options),
    ...limitsOf(options),
  };
  checkNames(options, Object.keys(settings));
  return settings;
}

/** A certificate and its key, in PEM form. */
export interface Certificate {
  /** The certificate. */
  readonly cert: string;
  /** The private key. */
  readonly key: string;
}

/** Where to listen. */
export interface ListenOptions {
  /** Port of the API. Default 0: a free port. */
  readonly port?: number | undefined;
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Another port for `/healthz`, `/readyz` and `/metrics`. Default: the port of the API. */
  readonly adminPort?: number | null | undefined;
  /** Certificate and private key in PEM form. Default plain HTTP. */
  readonly tls?: Certificate | null | undefined;
}

/** The points that the text of the API leaves open, with their defaults. */
export const shapeOf = (options: ShapeOptions): Shape => withDefaults(shapeDefaults, options);

function withDefaults<T extends object>(
  defaults: T,
  given: { readonly [N in keyof T]?: unknown },
): T {
  const values = Object.entries(defaults).map(([name, usual]) => [
    name,
    given[name as keyof T] ?? usual,
  ]);
  return Object.fromEntries(values) as T;
}

/** Limits of time in milliseconds and of number, with their defaults. */
function limitsOf(options: LimitOptions): Limits {
  const given: Readonly<Record<string, Duration>> = withDefaults(limitDefaults, options);
  const read = Object.entries(given).map(([name, limit]) => [name, durationMillis(limit, name)]);
  return Object.fromEntries(read) as Limits;
}
