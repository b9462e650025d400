import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startSandbox } from '@call-attribution/sandbox';
import {
  createService,
  type Listening,
  type ListenOptions,
  type LogEntry,
  type ServiceOptions,
} from '@call-attribution/service';
import type { Args, Handler } from '../args/command.ts';
import { openStoreOf, storeUrl } from '../calls/store-url.ts';
import { stopped } from '../calls/until-stopped.ts';
import { systemCode, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { dumpSettings, serveSettings } from './serve-settings.ts';

/** `calls serve`: the API on this machine, over made-up calls or your own store. */
export const serve: Handler = async (args, io, commands) => {
  const settings = serveSettings(args, io, commands);
  if (args.flag('dump-config')) {
    await write(io.stdout, dumpSettings(settings, commands));
    return exitCodes.ok;
  }
  if (settings.text('store') === null || settings.flag('sandbox')) return serveSandbox(settings, io);
  for (const name of ['records', 'seed', 'accounts', 'live']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; remove it, or remove --store`);
  }
  return serveStore(settings, io);
};

async function serveSandbox(settings: Args, io: Io): Promise<number> {
  const records = whole(settings, 'records', 0);
  const store = settings.text('store');
  const sandbox = await startSandbox({
    records,
    seed: whole(settings, 'seed', 0, 0xffffffff),
    accounts: whole(settings, 'accounts', 1, 1000),
    live: settings.flag('live'),
    ...(store === null ? {} : { store: storeUrl(store, io) }),
    ...listenOptions(settings, io),
    service: serviceOptions(settings, io, 'off'),
  }).catch(explainListening);
  try {
    const { url, legacyUrl, accounts } = sandbox;
    const shown = accounts.map(({ id, accessKey, secretKey, bearerToken }) => ({
      id,
      accessKey,
      secretKey,
      bearerToken,
    }));
    const notify = await announce(settings, io, { url, legacyUrl, accounts: shown });
    notify(`sandbox with ${count(records)} made-up calls on ${url}; Ctrl-C stops it`);
    for (const account of accounts) {
      notify('');
      notify(`${account.name} (account ${account.id}). Paste into another terminal:`);
      notify(`  export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${legacyUrl}`);
      notify(`  export CALLS_ACCESS_KEY=${account.accessKey} CALLS_SECRET_KEY=${account.secretKey}`);
      notify(`  calls list            # v2: export CALLS_BEARER_TOKEN=${account.bearerToken}`);
    }
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

async function serveStore(settings: Args, io: Io): Promise<number> {
  const at = listenOptions(settings, io);
  const options = serviceOptions(settings, io, 'json');
  const store = await openStoreOf(settings, io);
  try {
    const service = createService({ ...options, store });
    try {
      const { url, legacyUrl } = await service.listen(at).catch(explainListening);
      const accounts = (await store.accounts()).map(({ id, name }) => ({ id, name }));
      const notify = await announce(settings, io, { url, legacyUrl, accounts });
      notify(`${store.name}: ${plural(accounts.length, 'account')} on ${url}; Ctrl-C stops it`);
      if (accounts.length === 0) notify('the store is empty; calls sync --store fills it');
      else
        notify(
          'it accepts the keys that calls sync was run with, and those made by calls store accounts key',
        );
      await stopped(io.signal);
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await store.close();
  }
}

/** Prints the line for scripts, and returns the function for messages to people: silent where stderr is a log for programs. */
async function announce(
  settings: Args,
  io: Io,
  ready: Pick<Listening, 'url' | 'legacyUrl'> & { readonly accounts: readonly object[] },
): Promise<(line: string) => void> {
  if (settings.flag('ready-json')) await write(io.stdout, `${JSON.stringify(ready)}\n`);
  const logs = logsTo(settings, settings.text('store') === null || settings.flag('sandbox') ? 'off' : 'json');
  return logs && io.stderr.isTTY !== true ? () => undefined : (line) => say(io, line);
}

function listenOptions(settings: Args, io: Io): ListenOptions {
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

function serviceOptions(settings: Args, io: Io, log: 'json' | 'off'): Omit<ServiceOptions, 'store'> {
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

const logsTo = (settings: Args, standard: 'json' | 'off'): boolean =>
  (settings.text('log') ?? standard) === 'json';

/** A number that has a default, so that there always is one. */
function whole(settings: Args, name: string, min = 1, max = 1e9): number {
  return settings.integer(name, { min, max }) as number;
}

// The service says in its message what is wrong with the address or a proxy; choosing another one is up to the user.
function explainListening(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  const isUsage = error instanceof RangeError || systemCode(cause) !== null;
  throw error instanceof Error && isUsage ? new UsageError(error.message, { cause: cause ?? error }) : error;
}
