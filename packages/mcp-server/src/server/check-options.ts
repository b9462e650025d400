import {
  checkOption,
  checkOptions,
  either,
  group,
  kinds,
  number,
  type OptionKind,
  type OptionShape,
  oneOf,
  only,
  whole,
  withMethods,
} from '@call-attribution/core/errors';
import type { HttpOptions, MountOptions, SessionOptions } from '../http/options.ts';
import type { MirrorOptions } from '../mirror/options.ts';
import type { CallsMcpOptions } from './options.ts';

const clientKind = either(
  withMethods('a client made by createClient()', 'listCalls', 'getCall'),
  { expected: 'a function that returns one', accepts: kinds.callback.accepts },
  { expected: 'a list of accounts', accepts: kinds.list.accepts },
);

const serverShape = {
  version: oneOf('v2', 'v3'),
  budget: kinds.anything,
  reveal: kinds.list,
  pseudonymKey: {
    expected: 'a string or bytes',
    accepts: (value) => typeof value === 'string' || value instanceof Uint8Array,
  },
  timeZone: kinds.string,
  mirror: group({
    file: kinds.string,
    every: kinds.anything,
  } satisfies OptionShape & Record<keyof MirrorOptions, OptionKind>),
  summaryLimits: group({ rows: whole(1), ms: number(0) }),
  tools: kinds.list,
  callTimeoutMs: number(1),
  now: kinds.callback,
  log: kinds.callback,
} satisfies OptionShape & Record<keyof CallsMcpOptions, OptionKind>;

const authShape = {
  token: kinds.string,
  verify: kinds.callback,
  metadata: group({ resource: kinds.string, authorizationServers: kinds.list, scopes: kinds.list }),
};

const mountShape = {
  allowedHosts: kinds.list,
  allowedOrigins: kinds.list,
  maxBodyBytes: whole(1),
  sessions: either(
    kinds.flag,
    group({
      max: whole(1),
      idleMs: number(1),
      now: kinds.callback,
    } satisfies OptionShape & Record<keyof SessionOptions, OptionKind>),
  ),
  auth: either(group(authShape), only(false)),
} satisfies OptionShape & Record<keyof MountOptions, OptionKind>;

const httpShape = {
  ...mountShape,
  auth: group(authShape),
  port: whole(0),
  host: kinds.string,
  path: kinds.string,
  graceMs: number(0),
} satisfies OptionShape & Record<keyof HttpOptions, OptionKind>;

/** Refuses a client or options that a server cannot use. */
export function checkServer(client: unknown, options: CallsMcpOptions): void {
  checkOption('client', clientKind, client);
  checkOptions(options, serverShape);
}

/** Refuses options that `serveHttp` does not have. */
export const checkHttp = (options: HttpOptions): void => checkOptions(options, httpShape);

/** Refuses options that `mountHttp` does not have. */
export const checkMount = (options: MountOptions): void => checkOptions(options, mountShape);
