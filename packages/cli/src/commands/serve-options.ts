import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ListenOptions, LogEntry, ServiceOptions } from '@call-attribution/service';
import type { Args } from '../args/command.ts';
import { systemCode, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/** Where to listen. */
export function listenOptions(settings: Args, io: Io): ListenOptions {
  const [cert, key] = [settings.text('tls-cert'), settings.text('tls-key')];
  if ((cert === null) !== (key === null)) throw new UsageError('TLS needs both --tls-cert and --tls-key');
  return {
    port: whole(settings, 'port', 0, 65_535),
    host: settings.text('host') ?? '',
    adminPort: settings.integer('admin-port', { max: 65_535 }),
    tls: cert === null || key === null ? null : { cert: pem(cert, io), key: pem(key, io) },
  };
}

function pem(path: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, path), 'utf8');
  } catch (cause) {
    throw new UsageError(`the file ${path} cannot be read (${systemCode(cause)})`, { cause });
  }
}

/** How the service works. `log` is what holds when the options do not say it. */
export function serviceOptions(settings: Args, io: Io, log: 'json' | 'off'): Omit<ServiceOptions, 'store'> {
  const requests = whole(settings, 'rate-requests', 0);
  const drainMs = settings.integer('drain-timeout', { min: 1, max: 1e9 });
  return {
    proxies: (settings.text('proxies') ?? '').split(',').filter((proxy) => proxy !== ''),
    defaultRows: whole(settings, 'default-rows'),
    maxRows: whole(settings, 'max-rows'),
    rowsOver: settings.text('rows-over') as NonNullable<ServiceOptions['rowsOver']>,
    singleAs: settings.text('single-as') as NonNullable<ServiceOptions['singleAs']>,
    countAs: settings.text('count-as') as NonNullable<ServiceOptions['countAs']>,
    rateLimit: requests === 0 ? null : { requests, seconds: whole(settings, 'rate-seconds') },
    page: { mostCalls: whole(settings, 'page-calls') },
    limits: {
      urlBytes: whole(settings, 'max-url-bytes'),
      headerBytes: whole(settings, 'max-header-bytes'),
      connections: whole(settings, 'max-connections'),
      connectionsPerAddress: whole(settings, 'max-connections-per-address'),
      handshakes: whole(settings, 'max-handshakes'),
      handshakeMs: whole(settings, 'handshake-timeout'),
      pipelined: whole(settings, 'max-pipelined', 0),
      atWork: whole(settings, 'max-at-work'),
      headMs: whole(settings, 'head-timeout'),
      sendMs: whole(settings, 'send-timeout'),
      unsentBytes: whole(settings, 'max-unsent-bytes'),
      idleMs: whole(settings, 'idle-timeout'),
      ...(drainMs === null ? {} : { drainMs }),
    },
    log: logsTo(settings, log) ? (entry: LogEntry) => say(io, JSON.stringify(entry)) : null,
  };
}

/** Does the service write its log? */
export const logsTo = (settings: Args, standard: 'json' | 'off'): boolean =>
  (settings.text('log') ?? standard) === 'json';

/** A number that has a default, so that there always is one. */
export function whole(settings: Args, name: string, min = 1, max = 1e9): number {
  return settings.integer(name, { min, max }) as number;
}

/** The service says in its message what is wrong with the address or a proxy; choosing another one is up to the user. */
export function explainListening(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  const isUsage = error instanceof RangeError || systemCode(cause) !== null;
  throw error instanceof Error && isUsage ? new UsageError(error.message, { cause: cause ?? error }) : error;
}
