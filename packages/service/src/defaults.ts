// What a service uses unless an option says otherwise, for programs that show or repeat it. Importing this loads no other code.
// Start with serviceDefaults.

/** The defaults of `createService` and `listen`, and the port for programs. */
export const serviceDefaults = {
  /** The port that programs listen on unless another one is named. `listen()` itself takes a free port. */
  port: 8_675,
  /** The address to listen on: this machine only. */
  host: '127.0.0.1',
  /** Rows of a page when the request names none. */
  defaultRows: 100,
  /** Most rows of one page. */
  maxRows: 1_000,
  /** What happens to a request for more rows. */
  rowsOver: 'reject',
  /** The shape of a single record. */
  singleAs: 'object',
  /** The shape of the v2 count. */
  countAs: 'object',
  /** Limits of time, number and size. */
  limits: {
    urlBytes: 8_192,
    headerBytes: 32_768,
    connections: 5_000,
    atOnce: 4,
    headTimeout: '10s',
    sendTimeout: '30s',
    idleTimeout: '1m',
    drainTimeout: '10s',
  },
} as const;
