import { type Auth, apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import { connectionOf, missingSettings, type Settings } from '@call-attribution/mcp-server/settings';
import { askHidden, canAsk } from '../config/prompt.ts';
import { type CliError, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { version } from '../version.ts';
import type { FilterContext } from './filter.ts';

/** An account that a command works on. */
export interface NamedAccount {
  /** What its rows are called; null when there is only one account, which needs no name. */
  readonly name: string | null;
  readonly settings: Settings;
  /** What is wrong with the settings of this account. It fails with it when its turn comes. */
  readonly problem: CliError | null;
}

/**
 * Creates the client that the settings describe; the caller closes it. Commands read their other options first, so that
 * a mistake in them is reported before keys are asked for.
 */
export async function openClient(settings: Settings, io: Io): Promise<Client> {
  refuseUnchosen(settings);
  if (!settings.baseUrl) throw missingOf(settings);
  const connection = connectionOf(settings, (line) => say(io, line));
  return createClient({
    ...connection,
    baseUrl: settings.baseUrl.value,
    auth: connection.auth ?? (await askForAuth(settings, io)),
    userAgent: `call-attribution-cli/${version}`,
  });
}

/** Clients, each opened when it is first needed and closed with the others. */
export function keptClients() {
  const clients = new Map<unknown, Promise<Client>>();
  return {
    of(key: unknown, open: () => Promise<Client>): Promise<Client> {
      const client = clients.get(key) ?? open();
      clients.set(key, client);
      // What is missing may be there the next time.
      return client.catch((error: unknown) => {
        clients.delete(key);
        throw error;
      });
    },
    async close(): Promise<void> {
      for (const client of clients.values()) await (await client).close();
    },
  };
}

/** The client of an account. */
export async function openNamed({ settings, problem }: NamedAccount, io: Io): Promise<Client> {
  if (problem) throw problem;
  return openClient(settings, io);
}

/** What filterOf needs besides the options. */
export function contextOf(settings: Settings, io: Io): FilterContext {
  return {
    now: io.clock.now(),
    timeZone: settings.timeZone?.value ?? null,
    version: settings.apiVersion.value,
  };
}

/** Asks at the terminal for the credentials that are not set; without a terminal an error says how to set them. */
async function askForAuth(settings: Settings, io: Io): Promise<Auth> {
  if (!canAsk(io)) throw missingOf(settings);
  const of = settings.account === null ? '' : ` of account ${settings.account.name}`;
  const ask = async (name: 'accessKey' | 'secretKey', what: string) =>
    settings.secret(name)?.value ?? (await askHidden(`${what}${of} (not shown)`, io));
  if (settings.apiVersion.value === 'v2')
    return bearerToken(await askHidden(`Bearer token${of} (not shown)`, io));
  return apiKeys(await ask('accessKey', 'Access key'), await ask('secretKey', 'Secret key'));
}

/** What is not set, and how to set it. */
function missingOf(settings: Settings): UsageError {
  const [problem] = missingSettings(settings);
  const others = [
    'calls init asks for what is missing and keeps it',
    'or set CALLS_BASE_URL, CALLS_ACCESS_KEY and CALLS_SECRET_KEY (v2: CALLS_BEARER_TOKEN)',
    'without an account, calls demo shows everything, and calls serve starts a sandbox',
  ];
  return new UsageError(problem?.message ?? 'the settings are incomplete', {
    hints: settings.account === null || !problem?.hint ? others : [problem.hint],
  });
}

/** Refuses settings without keys where the configuration file has accounts of which none is chosen. */
export function refuseUnchosen({ account, accounts, file, secret }: Settings): void {
  if (account !== null || accounts.length === 0) return;
  if (secret('accessKey') ?? secret('secretKey') ?? secret('bearerToken')) return;
  const names = accounts.map(({ name }) => name);
  const list = names.length === 1 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new UsageError(`choose --account ${list}, or --all-accounts`, {
    hints: [
      `${file?.path ?? 'the configuration'} has several accounts; calls init --default ${names[0]} makes one the usual`,
    ],
  });
}
