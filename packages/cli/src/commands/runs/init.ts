import { dirname, join, resolve } from 'node:path';
import { apiKeys, bearerToken, createClient } from '@call-attribution/core';
import { codeOf } from '@call-attribution/core/errors';
import {
  accountNameWords,
  isAccountName,
  plainSettings,
  readSmallFile,
  type SecretName,
  secretSettings,
  versionOfUrl,
} from '@call-attribution/core/settings';
import { makeOwnFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import { secretCommand, userConfigFile } from '@call-attribution/settings';
import type { Args, Handler } from '../../args.ts';
import { CliError, exitCodes, UsageError } from '../../errors.ts';
import { explain, report, tryDoctor } from '../../failures.ts';
import { type FoundZone, foundZone } from '../../input/found-zone.ts';
import { fileError, type Io, say, show } from '../../io.ts';
import { count } from '../../terminal/numbers.ts';
import { ask, askHidden, canAsk } from '../../terminal/prompt.ts';
import { whileWaiting } from '../../terminal/waiting.ts';
import { version } from '../../version.ts';
import { readGivenSettings } from '../typed/settings.ts';

/** A credential, and the command that prints it, if it is not to be kept in a file. */
interface Secret {
  readonly value: string;
  readonly command: string | null;
}

/** What is asked for; null is not known yet. */
interface Answers {
  readonly baseUrl: string | null;
  readonly apiVersion: 'v2' | 'v3';
  readonly timeZone: string | null;
  readonly secrets: ReadonlyMap<SecretName, Secret>;
  /** The ID of the account, which its calls tell; null where they do not. */
  readonly id: string | null;
}

const words: Readonly<Record<SecretName, string>> = {
  accessKey: 'access key',
  secretKey: 'secret key',
  bearerToken: 'bearer token',
};

/** The credentials that a version takes. */
const secretNames = (apiVersion: 'v2' | 'v3'): readonly SecretName[] =>
  apiVersion === 'v2' ? ['bearerToken'] : ['accessKey', 'secretKey'];

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isKey = (name: string): boolean =>
  /^(?:accessKey|secretKey|bearerToken)(?:File|Command)?$/.test(name);

/**
 * The ID under which copies have the calls of an account: the one that its calls tell, unless another
 * account has it. One that was there without an ID is in copies under its name.
 */
function idToKeep(
  account: string,
  found: string | null,
  accounts: Readonly<Record<string, unknown>>,
  io: Io,
): string | undefined {
  const known: unknown = Object(accounts[account]).id;
  if (Object.hasOwn(accounts, account) && known === undefined) return undefined;
  const isTaken = Object.entries(accounts).some(
    ([name, each]) => name !== account && [name, Object(each).id].includes(found),
  );
  const old = known === undefined ? undefined : String(known);
  if (found === null || isTaken) return old;
  if (old !== undefined && old !== found)
    say(io, `${account} is account ${found} from now on, as its calls say, and not ${old}`);
  return found;
}

/**
 * `calls init`: asks for address, keys and time zone, tries them, and keeps them for all later
 * commands.
 */
export const init: Handler = async (args, io) => {
  const { typedAs = 'calls' } = io;
  const account = args.text('account');
  if (account !== null && !isAccountName(account))
    throw new UsageError(`--account: a name is ${accountNameWords}`);

  // The file that --config or CALLS_CONFIG names, else that of the user.
  const named = args.text('config') ?? (io.env.CALLS_CONFIG || null);
  const path = named === null ? userConfigFile(io.env) : resolve(io.cwd, named);
  if (path === null)
    throw new UsageError('there is no folder of your own; name the file with --config');
  const json = readConfig(path);
  const accounts = isObject(json.accounts) ? json.accounts : {};
  const names = Object.keys(accounts);

  const preferred = args.text('default');
  if (preferred !== null) {
    const hint =
      names.length > 0 ? `it has ${names.join(', ')}` : `${typedAs} init --account NAME adds one`;
    if (!names.includes(preferred))
      throw new UsageError(`${path} has no account ${JSON.stringify(preferred)}`, [hint]);
    await writeConfig(path, { ...json, default: preferred });
    await show(io, [`${preferred} is the account of every command without --account`]);
    return exitCodes.ok;
  }

  const hasKeys = Object.keys(json).some(isKey);
  if (account === null ? hasKeys : names.includes(account)) {
    const has = `${path} has ${account === null ? 'an address and keys' : `the account ${account}`} already`;
    const other = '--account NAME adds another account';
    if (!canAsk(io))
      throw new UsageError(has, [`${other}; to begin again, remove what is there from the file`]);
    if (!/^y/i.test(await ask(`${has}. Replace? y or n`, 'n', io)))
      throw new UsageError('nothing was changed', [other]);
  }

  const known = given(json, args, io);
  // Most accounts are of one server.
  const similar = Object(accounts[String(json.default)]).baseUrl;
  const offered = { ...known, baseUrl: known.baseUrl ?? (isText(similar) ? similar : null) };
  const answers = canAsk(io)
    ? await askUntilRight(offered, io, args.flag('debug'))
    : await tried(whole(known, typedAs), io);
  const { baseUrl, apiVersion, timeZone, secrets, id } = answers;
  const plain = { baseUrl, ...(apiVersion === 'v2' ? { apiVersion } : {}), timeZone };

  // An account says only what is different from what all share.
  const own = Object.entries(plain).filter(
    ([name, value]) => account === null || json[name] !== value,
  );
  try {
    const fault = await makeOwnFolder(dirname(path));
    if (fault !== null) throw new UsageError(`${dirname(path)} ${fault}; keys are not kept there`);
    const settings: Record<string, unknown> = Object.fromEntries(own);
    if (account !== null) settings.id = idToKeep(account, id, accounts, io);
    for (const name of secretNames(apiVersion)) {
      const { value = '', command = null } = secrets.get(name) ?? {};
      const file = `${account === null ? '' : `${account}.`}${words[name].replace(' ', '-')}`;
      if (command === null)
        await writeWholeFile(join(dirname(path), file), `${value}\n`, { mode: 0o600 });
      settings[command === null ? `${name}File` : `${name}Command`] = command ?? file;
    }
    const withoutKeys = Object.fromEntries(Object.entries(json).filter(([name]) => !isKey(name)));
    // The first account is the one that is meant when none is named.
    const asDefault = names.length === 0 && !hasKeys ? { default: account } : {};
    if (account === null) await writeConfig(path, { ...withoutKeys, ...settings });
    else {
      // What is not asked for stays, such as "spend" and "outcomes".
      const others = Object.entries(Object(accounts[account])).filter(
        ([name]) => !isKey(name) && !['id', 'baseUrl', 'apiVersion', 'timeZone'].includes(name),
      );
      const settled = { ...Object.fromEntries(others), ...settings };
      await writeConfig(path, {
        ...json,
        ...asDefault,
        accounts: { ...accounts, [account]: settled },
      });
    }
  } catch (error) {
    throw fileError(error, path);
  }

  const chosen = account === null ? '' : ` --account ${account}`;
  await show(io, [
    `kept in ${path}, which only you can read`,
    `next: ${typedAs} doctor${chosen}, ${typedAs} list --from 7d${chosen}`,
  ]);
  return exitCodes.ok;
};

const isText = (value: unknown): value is string => typeof value === 'string';

/** What is in the configuration file; nothing when it is not there. */
function readConfig(path: string): Json {
  let text: string;
  try {
    ({ text } = readSmallFile(path, 1024 * 1024));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new UsageError(`${path} cannot be read (${codeOf(error) ?? 'unknown reason'})`);
  }

  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch {
    // Said below.
  }

  throw new UsageError(`${path} does not hold one JSON object`, [
    'mend it, or name another file with --config',
  ]);
}

const writeConfig = (path: string, json: Json): Promise<void> =>
  writeWholeFile(path, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600 });

/** What options, environment and, of what all accounts share, the file say already. */
function given(json: Json, args: Args, io: Io): Answers {
  const { baseUrl, apiVersion, timeZone, secret } = readGivenSettings(args, io);
  const shared = (name: string) => (typeof json[name] === 'string' ? json[name] : null);
  const secrets = new Map<SecretName, Secret>();
  for (const name of Object.keys(words) as SecretName[]) {
    const found = secret(name);
    if (found !== null) secrets.set(name, { value: found.value, command: null });
  }

  return {
    baseUrl: baseUrl?.value ?? shared('baseUrl'),
    apiVersion:
      apiVersion.origin === 'default' && shared('apiVersion') === 'v2' ? 'v2' : apiVersion.value,
    timeZone: timeZone?.value ?? shared('timeZone'),
    secrets,
    id: null,
  };
}

/** Without a terminal, everything has to be there. */
function whole(answers: Answers, typedAs: string): Answers {
  const { baseUrl, timeZone, apiVersion, secrets } = answers;
  const missing = [
    ...(baseUrl === null ? ['CALLS_BASE_URL'] : []),
    ...secretNames(apiVersion)
      .filter((name) => !secrets.has(name))
      .map((name) => secretSettings[name]),
    ...(timeZone === null ? ['CALLS_TIME_ZONE'] : []),
  ];
  if (missing.length === 0) return answers;
  const are = missing.length === 1 ? 'is' : 'are';
  throw new UsageError(`there is no terminal to ask at, and ${missing.join(', ')} ${are} not set`, [
    `run ${typedAs} init at a terminal, or set them: what they say is tried and kept`,
  ]);
}

/** Asks until the server accepts what was typed. */
async function askUntilRight(known: Answers, io: Io, debug: boolean): Promise<Answers> {
  let answers = known;
  for (;;) {
    const question = 'URL of the API, up to /v2 and /v3';
    let typed = await askFor('baseUrl', question, answers.baseUrl, io);
    const [usual, end] = /^.*(\/v[23])(?=\/.)/.exec(await baseOf(typed)) ?? [];
    if (usual !== undefined) {
      say(io, `the URL of the API usually ends with ${end}; to keep a longer one, type it again`);
      typed = await askFor('baseUrl', question, usual, io);
    }
    const offered = versionOfUrl(typed) ?? answers.apiVersion;
    const apiVersion =
      (await askFor('apiVersion', 'Version of the API', offered, io)) === 'v2' ? 'v2' : 'v3';
    const baseUrl = await baseOf(typed);
    say(io, `requests go to ${baseUrl}/${apiVersion}; they are tried with the keys`);
    const secrets = new Map<SecretName, Secret>();
    for (const name of secretNames(apiVersion))
      secrets.set(name, answers.secrets.get(name) ?? (await askSecret(name, io)));
    answers = { ...answers, baseUrl, apiVersion, secrets };
    try {
      const { found, ...accepted } = await tried(answers, io);
      if (found !== null) say(io, found.reason);
      const zone =
        answers.timeZone ?? found?.zones[0] ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
      const timeZone = await askFor('timeZone', "Time zone of the account's times", zone, io);
      return { ...accepted, timeZone };
    } catch (error) {
      if (io.signal.aborted) throw error;
      // calls doctor would try what is kept, which is nothing.
      const { message, hints, detail } = explain(error);
      const own = hints.filter((hint) => hint !== tryDoctor);
      await report(new CliError(message, { hints: own, detail, cause: error }), io, { debug });
      say(io, 'nothing is kept yet. Enter takes what is in brackets, Ctrl-C ends.');
      answers = { ...answers, secrets: new Map() };
    }
  }
}

/** An address as a client reads it, without a version at its end. */
async function baseOf(typed: string): Promise<string> {
  const auth = versionOfUrl(typed) === 'v2' ? bearerToken('none') : apiKeys('none', 'none');
  const client = createClient({ baseUrl: typed, auth });
  await client.close();
  return client.baseUrl;
}

async function askFor(
  name: 'baseUrl' | 'apiVersion' | 'timeZone',
  question: string,
  offered: string | null,
  io: Io,
): Promise<string> {
  for (;;) {
    const typed = await ask(question, offered, io);
    const read = plainSettings[name].read(typed, 'the answer');
    try {
      // A client refuses more: such as an address with a query.
      if ('value' in read && name === 'baseUrl') await baseOf(typed);
      if ('value' in read) return typed;
      say(io, `${read.message}${read.hint === undefined ? '' : `; ${read.hint}`}`);
    } catch (error) {
      say(io, error instanceof Error ? error.message : String(error));
    }
  }
}

async function askSecret(name: SecretName, io: Io): Promise<Secret> {
  for (;;) {
    const title = words[name].replace(/^./, (first) => first.toUpperCase());
    const typed = await askHidden(
      `${title} (not shown), or Enter to name a command that prints it`,
      io,
    );
    if (typed !== '') return { value: typed, command: null };
    const command = await ask(
      `Command that prints the ${words[name]}, or Enter to type it`,
      '',
      io,
    );
    if (command === '') continue;
    try {
      return {
        value: secretCommand(command, `the command of the ${words[name]}`)().value,
        command,
      };
    } catch (error) {
      if (io.signal.aborted) throw error;
      await report(error, io, { debug: false });
    }
  }
}

/** The answers, once the server has responded to them, and the time zone that its calls point to. */
async function tried(
  answers: Answers,
  io: Io,
): Promise<Answers & { readonly found: FoundZone | null }> {
  const { baseUrl, apiVersion, secrets } = answers;
  const value = (name: SecretName): string => secrets.get(name)?.value ?? '';
  const client = createClient({
    baseUrl: baseUrl ?? '',
    version: apiVersion,
    auth:
      apiVersion === 'v2'
        ? bearerToken(value('bearerToken'))
        : apiKeys(value('accessKey'), value('secretKey')),
    userAgent: `call-attribution-cli/${version}`,
  });
  try {
    const { signal } = io;
    const { total } = await whileWaiting('trying the keys', () => client.countCalls({ signal }));
    say(io, `the server accepts them: ${count(total)} calls`);
    const found = await whileWaiting('looking for the time zone', () => foundZone(client, signal));
    const { records } = await client.listCalls({ rows: 1, signal });
    const id = String(records[0]?.acct_id ?? '');
    return { ...answers, baseUrl: client.baseUrl, found, id: isAccountName(id) ? id : null };
  } finally {
    await client.close();
  }
}
