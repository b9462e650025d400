// Shapes and limits of a service with their defaults, once for createService, openApiDocument and
// programs that read them from a file. Start with shapeDefaults and limitDefaults.
import type { Duration } from '@call-attribution/core/time';

/**
 * The port that programs listen on unless another one is named (`listen()` itself takes a free
 * one), and the address.
 */
export const serviceDefaults = { port: 8_675, host: '127.0.0.1' } as const;

/**
 * Limits of size: the longest request head with its URL, the longest URL, and the shortest password
 * where others can try it.
 */
export const limits = { headerBytes: 32_768, urlBytes: 8_192, passwordLength: 12 } as const;

/** The points that the text of the API leaves open, as options. */
export interface ShapeOptions {
  /** A single record as an object, or in an array of one. Default `object`. */
  readonly singleAs?: 'object' | 'array' | undefined;
  /**
   * The v2 count: `object` `{"count":18}`, `number` `18`, `text` `"18"`, `array` `[{"count":18}]`,
   * or `header`: `[]`, with the total in the header only. Default `object`.
   */
  readonly countAs?: 'object' | 'number' | 'text' | 'array' | 'header' | undefined;
  /** Rows of a page when the request names none. Default 100. */
  readonly defaultRows?: number | undefined;
  /** Most rows of one page. Default 1,000. */
  readonly maxRows?: number | undefined;
  /**
   * A request for more rows is refused with 400 (`reject`) or gets `maxRows` rows (`clamp`).
   * Default `reject`.
   */
  readonly rowsOver?: 'reject' | 'clamp' | undefined;
}

/** The points that the text of the API leaves open. */
export type Shape = { readonly [N in keyof ShapeOptions]-?: NonNullable<ShapeOptions[N]> };

/** Their defaults. */
export const shapeDefaults: Shape = {
  singleAs: 'object',
  countAs: 'object',
  defaultRows: 100,
  maxRows: 1_000,
  rowsOver: 'reject',
};

/** Limits of time and number, as options. */
export interface LimitOptions {
  /** Most connections at a time. Default 5,000. */
  readonly connections?: number | undefined;
  /** Requests of one account that are handled at a time; further ones of it wait. Default 4. */
  readonly atOnce?: number | undefined;
  /** Time for a request to arrive, and for a TLS handshake. Default `10s`. */
  readonly headTimeout?: Duration | undefined;
  /**
   * A response of which the client takes nothing for this time is ended, after twice the time at
   * the latest. Default `30s`.
   */
  readonly sendTimeout?: Duration | undefined;
  /** Time without a byte after which a connection is closed. Default `1m`. */
  readonly idleTimeout?: Duration | undefined;
  /** Time for responses in progress to finish when the service is closed. Default `10s`. */
  readonly drainTimeout?: Duration | undefined;
}

/** Limits of time in milliseconds, and of number. */
export type Limits = { readonly [N in keyof LimitOptions]-?: number };

/** Their defaults. */
export const limitDefaults: Limits = {
  connections: 5_000,
  atOnce: 4,
  headTimeout: 10_000,
  sendTimeout: 30_000,
  idleTimeout: 60_000,
  drainTimeout: 10_000,
};
