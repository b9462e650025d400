import { resolve } from 'node:path';
import { isLoopback, readSmallFile } from '@call-attribution/core/settings';
import type { ListenOptions, LogEntry, ServiceOptions } from '@call-attribution/service';
import { serviceDefaults } from '@call-attribution/service/defaults';
import type { Args } from '../args/command.ts';
import type { ServiceSection } from '../config/service-section.ts';
import { systemCode, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/** Where to listen. */
export function listenOptions(args: Args, io: Io): ListenOptions {
  const [cert, key] = [args.text('tls-cert'), args.text('tls-key')];
  if ((cert === null) !== (key === null)) throw new UsageError('TLS needs both --tls-cert and --tls-key');
  return {
    port: args.integer('port') ?? serviceDefaults.port,
    host: hostOf(args),
    adminPort: args.integer('status-port'),
    tls: cert === null || key === null ? null : { cert: pem(cert, io), key: pem(key, io) },
  };
}

/** The address to listen on. */
export const hostOf = (args: Args): string => args.text('host') ?? serviceDefaults.host;

/** Most bytes of a certificate with its chain. */
const pemBytes = 1024 * 1024;

function pem(path: string, io: Io): string {
  try {
    return readSmallFile(resolve(io.cwd, path), pemBytes).text;
  } catch (cause) {
    throw new UsageError(`the file ${path} cannot be read (${systemCode(cause)})`, { cause });
  }
}

/** The password of the page, from the environment. It is sent with each request, so nobody may read along. */
export function pagePassword({ host, tls }: ListenOptions, { env }: Io): string | null {
  const password = env.CALLS_PAGE_PASSWORD ?? '';
  if (password === '') return null;
  if (tls || isLoopback(host ?? '')) return password;
  throw new UsageError(`CALLS_PAGE_PASSWORD would cross the network unencrypted: ${host} has no TLS`, {
    hints: [
      'give --tls-cert and --tls-key, or stay on --host 127.0.0.1 behind a proxy with TLS',
      'without the variable the page asks for keys',
    ],
  });
}

/** How the service works. `log` is what holds when the configuration file does not say it. */
export function serviceOptions(
  section: ServiceSection,
  io: Io,
  log: 'json' | 'off',
): Omit<ServiceOptions, 'store'> {
  const { rateRequests: requests, ratePer: per, drainTimeout, ...others } = section;
  const { synchronous: _, poolSize: __, statementTimeout: ___, ...settings } = others;
  return {
    ...settings,
    ...(drainTimeout === null ? {} : { drainTimeout }),
    rateLimit: requests === 0 ? null : { requests, per },
    log: logsTo(section, log) ? (entry: LogEntry) => say(io, JSON.stringify(entry)) : null,
  };
}

/** Does the service write its log? */
export const logsTo = (section: ServiceSection, standard: 'json' | 'off'): boolean =>
  (section.log ?? standard) === 'json';

/** The service says in its message what is wrong with the address or a proxy; choosing another one is up to the user. */
export function explainListening(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  const isUsage = error instanceof RangeError || systemCode(cause) !== null;
  if (!(error instanceof Error) || !isUsage) throw error;
  const hints =
    systemCode(cause) === 'EADDRINUSE' ? ['--port N names another one, --port 0 any free one'] : [];
  throw new UsageError(error.message, { hints, cause: cause ?? error });
}
