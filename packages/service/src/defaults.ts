// Shapes and limits of a service with their defaults, once for createService, openApiDocument and programs that read them from a file.
// Start with shapeOptions and limitOptions.
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';

/** The port that programs listen on unless another one is named (`listen()` itself takes a free one), and the address. */
export const serviceDefaults = { port: 8_675, host: '127.0.0.1' } as const;

/** The points that the text of the API leaves open. */
export const shapeOptions = defineOptions({
  /** A single record as an object, or in an array of one. Default `object`. */
  singleAs: option.oneOf('object', 'array').default('object'),
  /**
   * The v2 count: `object` `{"count":18}`, `number` `18`, `text` `"18"`, `array` `[{"count":18}]`, or `header`: `[]`, with the
   * total in the header only. Default `object`.
   */
  countAs: option.oneOf('object', 'number', 'text', 'array', 'header').default('object'),
  /** Rows of a page when the request names none. Default 100. */
  defaultRows: option.whole(1).default(100),
  /** Most rows of one page. Default 1,000. */
  maxRows: option.whole(1).default(1_000),
  /** A request for more rows is refused with 400 (`reject`) or gets `maxRows` rows (`clamp`). Default `reject`. */
  rowsOver: option.oneOf('reject', 'clamp').default('reject'),
});

/** The points that the text of the API leaves open, as options. */
export interface ShapeOptions extends OptionsOf<typeof shapeOptions> {}
/** The points that the text of the API leaves open. */
export interface Shape extends ReadOf<typeof shapeOptions> {}

/** Limits of time, number and size. */
export const limitOptions = defineOptions({
  /** Most connections at a time. Default 5,000. */
  connections: option.whole(1).default(5_000),
  /** Requests of one account that are handled at a time; further ones of it wait. Default 4. */
  atOnce: option.whole(1).default(4),
  /** Time for a request to arrive, and for a TLS handshake. Default `10s`. */
  headTimeout: option.duration().default('10s'),
  /** Longest request head, including the URL, in bytes. Default 32,768. */
  headerBytes: option.whole(1).default(32_768),
  /** Longest URL, in bytes. Default 8,192. */
  urlBytes: option.whole(1).default(8_192),
  /** A response of which the client takes nothing for this time is ended, after twice the time at the latest. Default `30s`. */
  sendTimeout: option.duration().default('30s'),
  /** Time without a byte after which a connection is closed. Default `1m`. */
  idleTimeout: option.duration().default('1m'),
  /** Time for responses in progress to finish when the service is closed. Default `10s`. */
  drainTimeout: option.duration().default('10s'),
});

/** Limits of time, number and size, as options. */
export interface LimitOptions extends OptionsOf<typeof limitOptions> {}
