import type { Dispatcher } from 'undici';
import type { Auth, KeyAuth } from '../auth/auth.ts';
import type { Clock } from '../http/clock.ts';
import type { Limiter, LimiterOptions } from '../http/limiter.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { RecordProblem } from '../record/check-record.ts';
import type { RecordMode } from '../record/to-call.ts';
import type { Version } from '../version.ts';

/** Deadlines in milliseconds; `Infinity` switches one off. */
export interface Timeouts {
  /** Until a connection stands. Not used when a dispatcher is given: it has its own. @default 10000 */
  readonly connect: number;
  /** Silence of the server, before or within an answer. @default 15000 */
  readonly idle: number;
  /** One attempt, its whole body included. @default 60000 */
  readonly attempt: number;
  /** The whole call: all attempts and all waits between them. A list of many pages has it for each page. @default 120000 */
  readonly total: number;
}

/** Something a client noticed that is no error, but that somebody should know. */
export type Report =
  | ({ readonly type: 'record' } & RecordProblem)
  | { readonly type: 'clamped'; readonly asked: number; readonly got: number }
  | { readonly type: 'total_moved'; readonly from: number; readonly to: number }
  | { readonly type: 'repeated_calls'; readonly count: number }
  | { readonly type: 'plain_http'; readonly origin: string };

/** How a client is set up. Only `baseUrl` is needed; `auth` must be there before anything is sent. */
export interface ClientOptions {
  /** Address before `/v2` or `/v3`, without keys in it. */
  readonly baseUrl: string;
  /** Address before `/ibp_api.php`; only the SMS listing needs it. */
  readonly legacyBaseUrl?: string;
  /** @default 'v3' */
  readonly version?: Version;
  /** Made by `apiKeys` or `bearerToken`. v2 takes a bearer token only. */
  readonly auth?: Auth;
  /** Keys of the SMS listing, where `auth` is a bearer token. */
  readonly legacyAuth?: KeyAuth;
  readonly timeout?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Limits the client keeps by itself, or a limiter shared with other clients. @default none */
  readonly limiter?: LimiterOptions | Limiter;
  /** An undici 7 dispatcher (proxy, mock, own TLS settings) instead of the client's own. `close()` leaves it open. */
  readonly dispatcher?: Dispatcher;
  /** Largest body taken in, packed or unpacked. @default 67108864 */
  readonly maxBodyBytes?: number;
  /** Ask for gzip and br. @default true */
  readonly compress?: boolean;
  /** What happens with records that break the table of fields. @default 'report' */
  readonly records?: RecordMode;
  /** Told once about each unknown or broken field, and about clamped pages and totals that move. */
  readonly onReport?: (report: Report) => void;
  readonly clock?: Clock;
  /** A number from 0 up to 1, for the jitter of waits. @default Math.random */
  readonly random?: () => number;
  /** @default call-attribution-core and its version */
  readonly userAgent?: string;
}
