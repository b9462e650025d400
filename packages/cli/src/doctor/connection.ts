import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@call-attribution/core';
import { type Settings, userConfigFile } from '@call-attribution/mcp-server/settings';
import type { Args } from '../args.ts';
import { readSettings, readStoredSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { configuredAccounts, typedAccounts } from '../input/accounts.ts';
import { openClient, refuseUnchosen } from '../input/connect.ts';
import type { Io } from '../io.ts';
import { count } from '../terminal/numbers.ts';
import { type Finding, note, ok, wrong } from './findings.ts';

/** The settings of each chosen account, and what the server responds to them. Returns the exit status with the findings. */
export async function connections(
  args: Args,
  io: Io,
): Promise<{ readonly findings: readonly Finding[]; readonly status: number }> {
  const names = typedAccounts(args);
  if (names === null) return connection(() => readSettings(args, io), io);
  const accounts =
    names === 'all' ? readStoredSettings(null, args, io).accounts.map(({ name }) => name) : names;
  if (accounts.length === 0) configuredAccounts(names, args, io);
  const findings: Finding[] = [];
  const statuses: number[] = [];
  for (const account of accounts) {
    const found = await connection(() => settingsOf(account, args, io), io);
    findings.push(...found.findings.map((finding) => ({ account, ...finding })));
    statuses.push(found.status);
  }
  return { findings, status: statuses.find((status) => status !== exitCodes.ok) ?? exitCodes.ok };
}

function settingsOf(account: string, args: Args, io: Io): Settings {
  const [found] = configuredAccounts([account], args, io);
  if (found === undefined) throw new Error(`the account ${account} has no settings`);
  return found.settings;
}

/** Goes on until something is wrong: without settings there are no keys to try, and without keys no calls. */
async function connection(read: () => Settings, io: Io) {
  const findings: Finding[] = [];
  let item = 'settings';
  let client: Client | null = null;
  try {
    const settings = read();
    refuseUnchosen(settings);
    findings.push(...settingsFound(settings, io));
    if (settings.baseUrl === null) return { findings, status: exitCodes.usage };
    item = 'keys';
    client = await openClient(settings, io);
    for (const [name, request] of requests) {
      item = name;
      findings.push(await request(client, settings, io.signal));
    }
    return { findings, status: exitCodes.ok };
  } catch (error) {
    if (io.signal.aborted) throw error;
    const { message, hints, exitCode } = await explain(error);
    // Not the hint to run calls doctor, which is what the user just did.
    const fix = hints.filter((hint) => !hint.includes('calls doctor')).join('; ');
    findings.push(wrong(item, message, fix));
    return { findings, status: exitCode };
  } finally {
    await client?.close();
  }
}

/** The configuration file that was read. One in the current folder is read only where it is named, which is easily missed. */
function fileFound({ file }: Settings, { cwd, env }: Io): Finding {
  const here = 'calls.config.json';
  const hint = existsSync(join(cwd, here)) && file?.path !== join(cwd, here);
  const fix = hint ? `--config ${here} reads the one in this folder` : undefined;
  if (file === null)
    return note(
      'file',
      `there is no ${userConfigFile(env) ?? here}; only options and environment are used`,
      fix,
    );
  if (file.isExposed)
    return note(
      'file',
      `${file.path} has a key in it, and other users can read it`,
      `chmod 600 ${file.path}`,
    );
  return fix === undefined ? ok('file', file.path) : note('file', file.path, fix);
}

/** What is configured, and where it comes from. */
export function settingsFound(settings: Settings, io: Io): Finding[] {
  const { baseUrl, apiVersion, timeZone } = settings;
  const secrets = [
    ['accessKey', 'access key'],
    ['secretKey', 'secret key'],
    ['bearerToken', 'bearer token'],
  ] as const;
  return [
    fileFound(settings, io),
    baseUrl === null
      ? wrong(
          'URL',
          'not set',
          'calls init asks for it and keeps it; or set CALLS_BASE_URL, or use --base-url',
        )
      : ok('URL', `${baseUrl.value} (${baseUrl.from})`),
    ok('version', `${apiVersion.value} (${apiVersion.from})`),
    ...secrets.flatMap(([name, item]) => {
      const secret = settings.secret(name);
      return secret === null ? [] : [ok(item, `set (${secret.from})`)];
    }),
    timeZone === null
      ? note(
          'time zone',
          'not set; times such as 7d and upload sheets need it',
          'set CALLS_TIME_ZONE to the time zone of the account',
        )
      : ok('time zone', `${timeZone.value} (${timeZone.from})`),
  ];
}

type Request = (client: Client, settings: Settings, signal: AbortSignal) => Promise<Finding>;

/** What the server is asked, in this order. */
const requests: readonly (readonly [item: string, request: Request])[] = [
  [
    'list',
    async (client, _, signal) => {
      const { records } = await client.listCalls({ rows: 1, signal });
      return ok(
        'list',
        records.length > 0 ? 'the server responds with a call' : 'the account has no calls yet',
      );
    },
  ],
  [
    'count',
    async (client, _, signal) => {
      const { total, source } = await client.countCalls({ signal });
      const without = client.version === 'v3' ? ', not including call extensions' : '';
      return ok('count', `${count(total)} calls${without} (${source})`);
    },
  ],
  [
    'sms',
    async (client, { legacyBaseUrl }, signal) => {
      if (legacyBaseUrl === null)
        return note('sms', 'skipped: CALLS_LEGACY_BASE_URL is not set', 'only calls sms needs it');
      const numbers = await client.listSmsNumbers({ signal });
      return ok('sms', `${count(numbers.filter(({ smsEnabled }) => smsEnabled).length)} SMS-enabled numbers`);
    },
  ],
];
