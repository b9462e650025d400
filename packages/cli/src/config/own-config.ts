import { dirname, join, resolve } from 'node:path';
import { accountNameWords, isAccountName, readSmallFile } from '@call-attribution/core/settings';
import { type SecretName, userConfigFile } from '@call-attribution/mcp-server/settings';
import { makeOwnFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import type { Args } from '../args.ts';
import { systemCode, UsageError } from '../errors.ts';
import { fileError, type Io } from '../io.ts';

/** What is kept of an account, or of the settings outside of accounts. */
export interface ConfigEntry {
  readonly plain: Readonly<Record<'baseUrl' | 'timeZone', string | null>> & { readonly apiVersion?: string };
  readonly secrets: readonly {
    readonly name: SecretName;
    readonly value: string;
    /** The command that prints it; null: it is kept in a file. */
    readonly command: string | null;
  }[];
}

/** Where the configuration is kept. */
export interface Place {
  /** The configuration file, whether it is there or not. */
  readonly path: string;
  /** The account of it; null for the settings outside of accounts. */
  readonly account: string | null;
  /** It has settings for this account. */
  readonly isTaken: boolean;
  /** The settings that all accounts share. */
  readonly shared: Readonly<Partial<Record<string, string>>>;
  /** The accounts it has. */
  readonly accounts: readonly string[];
  /** Uses another account when none is chosen. */
  makeDefault(account: string): Promise<void>;
  /** Writes the file again with these settings, and each credential into a file of its own that only this user can read. */
  keep(entry: ConfigEntry): Promise<void>;
}

/** The file that --config or CALLS_CONFIG names, else that of the user. */
export function openConfig(args: Args, { env, cwd }: Io): Place {
  const account = args.text('account');
  if (account !== null && !isAccountName(account))
    throw new UsageError(`--account: a name is ${accountNameWords}`);
  const named = args.text('config') ?? (env.CALLS_CONFIG || null);
  const path = named === null ? userConfigFile(env) : resolve(cwd, named);
  if (path === null) throw new UsageError('there is no folder of your own; name the file with --config');
  const json = readObject(path);
  const accounts = isObject(json.accounts) ? json.accounts : {};
  const isTaken = account === null ? hasKeys(json) : Object.hasOwn(accounts, account);
  const shared = Object.fromEntries(
    Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  return {
    path,
    account,
    isTaken,
    shared,
    accounts: Object.keys(accounts),
    async makeDefault(account) {
      await writeWholeFile(path, `${JSON.stringify({ ...json, default: account }, null, 2)}\n`, {
        mode: 0o600,
      });
    },
    async keep(entry) {
      try {
        const fault = await makeOwnFolder(dirname(path));
        if (fault !== null) throw new UsageError(`${dirname(path)} ${fault}; keys are not kept there`);
        const settings = { ...changed(entry, shared, account), ...(await keepSecrets(entry, path, account)) };
        // The first account is the one that is meant when none is named.
        const isFirst = Object.keys(accounts).length === 0 && !hasKeys(json);
        const asDefault = isFirst ? { default: account } : {};
        const next =
          account === null
            ? { ...withoutKeys(json), ...settings }
            : { ...json, ...asDefault, accounts: { ...accounts, [account]: settings } };
        await writeWholeFile(path, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
      } catch (error) {
        throw fileError(error, path);
      }
    },
  };
}

const secretName = /^(?:accessKey|secretKey|bearerToken)(?:File|Command)?$/;
const hasKeys = (json: object): boolean => Object.keys(json).some((name) => secretName.test(name));
const withoutKeys = (json: object): object =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !secretName.test(name)));

/** An account says only what is different from what all share. */
function changed({ plain }: ConfigEntry, shared: Place['shared'], account: string | null): object {
  const entries = Object.entries(plain).filter(([, value]) => value !== null);
  return Object.fromEntries(
    account === null ? entries : entries.filter(([name, value]) => shared[name] !== value),
  );
}

async function keepSecrets({ secrets }: ConfigEntry, path: string, account: string | null): Promise<object> {
  const names: Record<string, string> = {};
  for (const { name, value, command } of secrets) {
    if (command !== null) {
      names[`${name}Command`] = command;
      continue;
    }
    const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const file = `${account === null ? '' : `${account}.`}${words}`;
    await writeWholeFile(join(dirname(path), file), `${value}\n`, { mode: 0o600 });
    names[`${name}File`] = file;
  }
  return names;
}

/** What is in the file; nothing when it is not there. */
function readObject(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    ({ text } = readSmallFile(path, 1024 * 1024));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return {};
    throw new UsageError(`${path} cannot be read (${systemCode(error) ?? 'unknown reason'})`);
  }
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch {
    // Said below.
  }
  throw new UsageError(`${path} does not hold one JSON object`, {
    hints: ['mend it, or name another file with --config'],
  });
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
