import { startSandbox } from '@call-attribution/sandbox';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import type { Args, Handler } from '../args/command.ts';
import { refusePassword } from '../calls/store-url.ts';
import { stopped } from '../calls/until-stopped.ts';
import { systemCode, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';

/** `calls serve`: the API on this machine, over made-up calls or over a store of one's own. */
export const serve: Handler = async (args, io) => {
  const store = args.text('store');
  const host = args.text('host') ?? '127.0.0.1';
  const port = args.integer('port', { max: 65_535 }) ?? 8080;
  if (store === null) return serveSandbox(args, io, { host, port });
  for (const name of ['records', 'seed', 'accounts', 'live']) {
    if (args.flag(name)) throw new UsageError(`--${name} belongs to the sandbox; leave it out with --store`);
  }
  refusePassword(store);
  return serveStore(store, args, io, { host, port });
};

interface Place {
  readonly host: string;
  readonly port: number;
}

async function serveSandbox(args: Args, io: Io, place: Place): Promise<number> {
  const records = args.integer('records') ?? 5000;
  const sandbox = await startSandbox({
    records,
    seed: args.integer('seed', { max: 0xffffffff }) ?? 1,
    accounts: args.integer('accounts', { min: 1, max: 1000 }) ?? 1,
    live: args.flag('live'),
    ...place,
  }).catch((error: unknown) => {
    throw listenFault(error);
  });
  try {
    const { url, legacyUrl, accounts } = sandbox;
    if (args.flag('ready-json')) {
      const shown = accounts.map(({ id, accessKey, secretKey, bearerToken }) => ({
        id,
        accessKey,
        secretKey,
        bearerToken,
      }));
      await write(io.stdout, `${JSON.stringify({ url, legacyUrl, accounts: shown })}\n`);
    }
    say(io, `sandbox with ${count(records)} made-up calls on ${url}; Ctrl-C stops it`);
    for (const account of accounts) {
      say(io, '');
      say(io, `${account.name} (account ${account.id}). Paste into another terminal:`);
      say(io, `  export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${legacyUrl}`);
      say(io, `  export CALLS_ACCESS_KEY=${account.accessKey} CALLS_SECRET_KEY=${account.secretKey}`);
      say(io, `  calls list            # v2: export CALLS_BEARER_TOKEN=${account.bearerToken}`);
    }
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

async function serveStore(url: string, args: Args, io: Io, place: Place): Promise<number> {
  const store = await openStore(url);
  try {
    const service = createService({ store });
    const listening = await service.listen(place).catch((error: unknown) => {
      throw listenFault(error);
    });
    try {
      const accounts = await store.accounts();
      if (args.flag('ready-json')) {
        const ready = {
          url: listening.url,
          legacyUrl: listening.legacyUrl,
          accounts: accounts.map(({ id }) => ({ id })),
        };
        await write(io.stdout, `${JSON.stringify(ready)}\n`);
      }
      say(io, `${store.name}: ${plural(accounts.length, 'account')} on ${listening.url}; Ctrl-C stops it`);
      if (accounts.length === 0) say(io, 'the store is empty: calls sync --store fills it');
      else say(io, 'it opens with the keys that calls sync was run with');
      await stopped(io.signal);
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await store.close();
  }
}

// The service says in its message what is wrong with the address; choosing another is up to the person.
function listenFault(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return error instanceof Error && systemCode(cause) !== null
    ? new UsageError(error.message, { cause })
    : error;
}
