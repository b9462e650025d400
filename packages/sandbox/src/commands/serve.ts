import { readFileSync } from 'node:fs';
import type { LogEntry } from '@call-attribution/service';
import { createService, type ListenOptions, type ServiceOptions } from '@call-attribution/service';
import { SettingsError } from '../config/read-settings.ts';
import { type Settings, settings as table } from '../config/settings.ts';
import { startSandbox } from '../sandbox.ts';
import type { CommandIo } from './io.ts';
import { openStoreOf } from './open-store-of.ts';

/** What `--ready-json` prints; a mirror never prints keys. */
interface Ready {
  readonly url: string;
  readonly legacyUrl: string;
  readonly accounts: readonly object[];
}

/** Serves until it is told to stop. */
export async function serve(given: Settings, io: CommandIo): Promise<number> {
  const running = given.sandbox === true ? await serveSandbox(given, io) : await serveMirror(given, io);
  const stopped = io.stopped();
  const { url, legacyUrl, accounts } = running.ready;
  if (given['ready-json'] === true) io.stdout.write(`${JSON.stringify({ url, legacyUrl, accounts })}\n`);
  else io.stderr.write(`The call-attribution API listens at ${url}\n`);
  await stopped;
  await running.close();
  return 0;
}

async function serveSandbox(
  given: Settings,
  io: CommandIo,
): Promise<{ ready: Ready; close(): Promise<void> }> {
  const { records, seed, accounts, live, store } = given;
  const options = present({ records, seed, accounts, live, store });
  const sandbox = await startSandbox({
    ...options,
    ...listenOptions(given),
    service: { ...serviceOptions(given, io, 'off') },
  });
  const keys = sandbox.accounts.map(({ id, accessKey, secretKey, bearerToken }) => ({
    id,
    accessKey,
    secretKey,
    bearerToken,
  }));
  return { ready: { ...sandbox, accounts: keys }, close: () => sandbox.close() };
}

async function serveMirror(
  given: Settings,
  io: CommandIo,
): Promise<{ ready: Ready; close(): Promise<void> }> {
  const store = await openStoreOf(given);
  const service = createService({ ...serviceOptions(given, io, 'json'), store });
  const close = async () => {
    await service.close();
    await store.close();
  };
  try {
    const listening = await service.listen(listenOptions(given));
    const accounts = (await store.accounts()).map(({ id, name }) => ({ id, name }));
    return { ready: { ...listening, accounts }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function listenOptions(given: Settings): ListenOptions {
  const cert = given['tls-cert'];
  const key = given['tls-key'];
  if ((cert === undefined) !== (key === undefined)) {
    throw new SettingsError('TLS needs both --tls-cert and --tls-key.');
  }
  const tls = cert === undefined || key === undefined ? null : { cert: pem(cert), key: pem(key) };
  const { host } = given;
  const port = given.port ?? table.port.standard;
  return { port, tls, adminPort: given['admin-port'] ?? null, ...present({ host }) };
}

function pem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new SettingsError(`The file ${path} cannot be read.`);
  }
}

function serviceOptions(given: Settings, io: CommandIo, log: 'json' | 'off'): Omit<ServiceOptions, 'store'> {
  const requests = given['rate-requests'] ?? 0;
  return {
    ...present({
      defaultRows: given['default-rows'],
      maxRows: given['max-rows'],
      rowsOver: given['rows-over'] as 'reject' | 'clamp' | undefined,
      singleAs: given['single-as'] as 'object' | 'array' | undefined,
      countAs: given['count-as'] as NonNullable<ServiceOptions['countAs']> | undefined,
    }),
    rateLimit:
      requests === 0 ? null : { requests, seconds: given['rate-seconds'] ?? table['rate-seconds'].standard },
    limits: present({
      urlBytes: given['max-url-bytes'],
      headerBytes: given['max-header-bytes'],
      connections: given['max-connections'],
      headMs: given['head-timeout'],
      idleMs: given['idle-timeout'],
      drainMs: given['drain-timeout'],
    }),
    log:
      (given.log ?? log) === 'off'
        ? null
        : (entry: LogEntry) => io.stderr.write(`${JSON.stringify(entry)}\n`),
  };
}

// An option that was not set must be absent, so that its default holds.
function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
