import { apiKeys, bearerToken, createClient } from '@call-attribution/core';
import {
  plainSettings,
  type SecretName,
  type Settings,
  secretCommand,
  secretSettings,
} from '@call-attribution/mcp-server/settings';
import type { Handler } from '../args.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../failures.ts';
import { type Io, say, show } from '../io.ts';
import { count } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import { version } from '../version.ts';
import { type ConfigEntry, openConfig, type Place } from './own-config.ts';
import { ask, askHidden, canAsk } from './prompt.ts';
import { readGivenSettings } from './settings.ts';

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
  readonly secrets: Readonly<Partial<Record<SecretName, Secret>>>;
}

const words: Readonly<Record<SecretName, string>> = {
  accessKey: 'access key',
  secretKey: 'secret key',
  bearerToken: 'bearer token',
};

/** `calls init`: asks for address, keys and time zone, tries them, and keeps them for all later commands. */
export const init: Handler = async (args, io) => {
  const place = openConfig(args, io);
  const preferred = args.text('default');
  if (preferred !== null) return makeDefault(place, preferred, io);
  if (place.isTaken) await mayReplace(place, io);
  const answers = canAsk(io)
    ? await askUntilRight(answersFrom(readGivenSettings(args, io), place), io, args.flag('debug'))
    : await tried(whole(answersFrom(readGivenSettings(args, io), place)), io);
  await place.keep(entryOf(answers));
  const chosen = place.account === null ? '' : ` --account ${place.account}`;
  await show(io, [
    `kept in ${place.path}, which only you can read`,
    `next: calls doctor${chosen}, calls list --from 7d${chosen}`,
  ]);
  return exitCodes.ok;
};

/** `calls init --default NAME`: the account that is meant when none is named. */
async function makeDefault(place: Place, account: string, io: Io): Promise<number> {
  if (!place.accounts.includes(account))
    throw new UsageError(`${place.path} has no account ${JSON.stringify(account)}`, {
      hints: [
        place.accounts.length > 0
          ? `it has ${place.accounts.join(', ')}`
          : 'calls init --account NAME adds one',
      ],
    });
  await place.makeDefault(account);
  await show(io, [`${account} is the account of every command without --account`]);
  return exitCodes.ok;
}

async function mayReplace(place: Place, io: Io): Promise<void> {
  const has = `${place.path} has ${place.account === null ? 'an address and keys' : `the account ${place.account}`} already`;
  if (!canAsk(io)) {
    throw new UsageError(has, {
      hints: ['--account NAME adds another account; to begin again, remove what is there from the file'],
    });
  }
  const answer = await ask(`${has}. Replace? y or n`, 'n', io);
  if (!/^y/i.test(answer))
    throw new UsageError('nothing was changed', { hints: ['--account NAME adds another account'] });
}

/** What options, environment and, for an account, the file say already. */
function answersFrom({ baseUrl, apiVersion, timeZone, secret }: Settings, { shared }: Place): Answers {
  const kept = (name: SecretName) => {
    const found = secret(name);
    return found === null ? {} : { [name]: { value: found.value, command: null } };
  };
  return {
    baseUrl: baseUrl?.value ?? shared.baseUrl ?? null,
    apiVersion: apiVersion.origin === 'default' && shared.apiVersion === 'v2' ? 'v2' : apiVersion.value,
    timeZone: timeZone?.value ?? shared.timeZone ?? null,
    secrets: { ...kept('accessKey'), ...kept('secretKey'), ...kept('bearerToken') },
  };
}

/** The credentials that a version takes. */
const secretNames = (apiVersion: 'v2' | 'v3'): readonly SecretName[] =>
  apiVersion === 'v2' ? ['bearerToken'] : ['accessKey', 'secretKey'];

/** Without a terminal, everything has to be there. */
function whole(answers: Answers): Answers {
  const { baseUrl, timeZone, apiVersion, secrets } = answers;
  const missing = [
    ...(baseUrl === null ? ['CALLS_BASE_URL'] : []),
    ...secretNames(apiVersion)
      .filter((name) => !secrets[name])
      .map((name) => secretSettings[name]),
    ...(timeZone === null ? ['CALLS_TIME_ZONE'] : []),
  ];
  if (missing.length === 0) return answers;
  throw new UsageError(
    `there is no terminal to ask at, and ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set`,
    {
      hints: ['run calls init at a terminal, or set them: what they say is tried and kept'],
    },
  );
}

/** Asks until the server accepts what was typed. */
async function askUntilRight(known: Answers, io: Io, debug: boolean): Promise<Answers> {
  let answers = known;
  for (;;) {
    answers = await asked(answers, io);
    try {
      return await tried(answers, io);
    } catch (error) {
      if (io.signal.aborted) throw error;
      await report(error, io, { debug });
      say(io, 'nothing is kept yet. Enter takes what is in brackets, Ctrl-C ends.');
      answers = { ...answers, secrets: {} };
    }
  }
}

async function asked(known: Answers, io: Io): Promise<Answers> {
  const baseUrl = await askFor('baseUrl', 'URL of the API, up to /v2 and /v3', known.baseUrl, io);
  const apiVersion =
    (await askFor('apiVersion', 'Version of the API', known.apiVersion, io)) === 'v2' ? 'v2' : 'v3';
  const secrets: Partial<Record<SecretName, Secret>> = {};
  for (const name of secretNames(apiVersion))
    secrets[name] = known.secrets[name] ?? (await askSecret(name, io));
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timeZone = await askFor('timeZone', "Time zone of the account's times", known.timeZone ?? own, io);
  return { baseUrl, apiVersion, secrets, timeZone };
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
    if ('value' in read) {
      if (name !== 'baseUrl') return typed;
      const problem = await problemOfUrl(typed);
      if (problem === null) return typed;
      say(io, problem);
      continue;
    }
    say(io, `${read.message}${read.hint === undefined ? '' : `; ${read.hint}`}`);
  }
}

/** What a client says of a URL; null when it takes it. */
async function problemOfUrl(baseUrl: string): Promise<string | null> {
  try {
    await createClient({ baseUrl, auth: apiKeys('none', 'none') }).close();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function askSecret(name: SecretName, io: Io): Promise<Secret> {
  for (;;) {
    const title = words[name].replace(/^./, (first) => first.toUpperCase());
    const typed = await askHidden(`${title} (not shown), or Enter to name a command that prints it`, io);
    if (typed !== '') return { value: typed, command: null };
    const command = await ask(`Command that prints the ${words[name]}, or Enter to type it`, '', io);
    if (command === '') continue;
    try {
      const { value } = secretCommand(command, `the command of the ${words[name]}`)();
      if (value !== '') return { value, command };
      say(io, 'the command prints nothing');
    } catch (error) {
      if (io.signal.aborted) throw error;
      await report(error, io, { debug: false });
    }
  }
}

/** The answers, once the server has responded to them. */
async function tried(answers: Answers, io: Io): Promise<Answers> {
  const { baseUrl, apiVersion, secrets } = answers;
  const { accessKey, secretKey, bearerToken: token } = secrets;
  const client = createClient({
    baseUrl: baseUrl ?? '',
    version: apiVersion,
    auth:
      token && apiVersion === 'v2'
        ? bearerToken(token.value)
        : apiKeys(accessKey?.value ?? '', secretKey?.value ?? ''),
    userAgent: `call-attribution-cli/${version}`,
  });
  try {
    const { signal } = io;
    const { total } = await whileWaiting('trying the keys', () => client.countCalls({ signal }));
    say(io, `the server accepts them: ${count(total)} calls`);
    return answers;
  } finally {
    await client.close();
  }
}

function entryOf({ baseUrl, apiVersion, timeZone, secrets }: Answers): ConfigEntry {
  return {
    plain: { baseUrl, ...(apiVersion === 'v2' ? { apiVersion } : {}), timeZone },
    secrets: secretNames(apiVersion).flatMap((name) => {
      const secret = secrets[name];
      return secret === undefined ? [] : [{ name, ...secret }];
    }),
  };
}
