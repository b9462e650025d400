import type { Client } from '@call-attribution/core';
import type { Settings } from '@call-attribution/core/settings';
import type { Args, Handler } from '../args/command.ts';
import { openClient } from '../calls/connect.ts';
import { readSettings, readStoredSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import type { Io } from '../io.ts';
import { count } from '../term/numbers.ts';
import { configuredAccounts, typedAccounts } from '../warehouse/accounts.ts';
import { type Finding, showFindings } from './findings.ts';

/** `calls check`: tries each part of the configuration and says what to change. */
export const check: Handler = async (args, io) => {
  const findings: Finding[] = [];
  const exitCode = await checkAccounts(args, io, findings);
  return showFindings(findings, exitCode, args, io);
};

/** Tries the configuration of each chosen account. Returns the exit status. */
export async function checkAccounts(args: Args, io: Io, findings: Finding[]): Promise<number> {
  const names = typedAccounts(args);
  if (names === null) return tryAll(() => readSettings(args, io), args, io, findings);
  const accounts =
    names === 'all' ? readStoredSettings(null, args, io).accounts.map(({ name }) => name) : names;
  if (accounts.length === 0) configuredAccounts(names, args, io);
  const statuses: number[] = [];
  for (const account of accounts) {
    const own: Finding[] = [];
    const read = (): Settings => configuredAccounts([account], args, io)[0]?.settings as Settings;
    statuses.push(await tryAll(read, args, io, own));
    findings.push(...own.map((finding) => ({ account, ...finding })));
  }
  return statuses.find((status) => status !== exitCodes.ok) ?? exitCodes.ok;
}

async function tryAll(read: () => Settings, args: Args, io: Io, findings: Finding[]): Promise<number> {
  const found = (item: string, state: Finding['state'], text: string, fix?: string): void => {
    findings.push({ item, state, text, ...(fix ? { fix } : {}) });
  };
  const failed = async (item: string, error: unknown): Promise<number> => {
    if (io.signal.aborted) throw error;
    const { message, hints, exitCode } = await explain(error);
    // Not the hint to run calls check, which is what the user just did.
    found(item, 'wrong', message, hints.filter((hint) => !hint.includes('calls check')).join('; '));
    return exitCode;
  };
  let settings: Settings;
  try {
    settings = read();
  } catch (error) {
    return await failed('settings', error);
  }
  configured(settings, found);
  if (!settings.baseUrl) return exitCodes.usage;
  let client: Client;
  try {
    client = await openClient(settings, args, io);
  } catch (error) {
    return await failed('keys', error);
  }
  try {
    try {
      const page = await client.listCalls({ rows: 1, signal: io.signal });
      const seen =
        page.records.length === 0 ? 'the account has no calls yet' : 'the server responds with a call';
      found('list', 'ok', seen);
    } catch (error) {
      return await failed('list', error);
    }
    try {
      const { total, source } = await client.countCalls({ signal: io.signal });
      const without = client.version === 'v3' ? ', not including call extensions' : '';
      found('count', 'ok', `${count(total)} calls${without} (${source})`);
    } catch (error) {
      return await failed('count', error);
    }
    if (!settings.legacyBaseUrl) {
      found('sms', 'note', 'skipped: CALLS_LEGACY_BASE_URL is not set', 'only calls sms needs it');
      return exitCodes.ok;
    }
    try {
      const numbers = await client.listSmsNumbers({ signal: io.signal });
      found(
        'sms',
        'ok',
        `${count(numbers.filter(({ smsEnabled }) => smsEnabled).length)} SMS-enabled numbers`,
      );
      return exitCodes.ok;
    } catch (error) {
      return await failed('sms', error);
    }
  } finally {
    await client.close();
  }
}

function configured(
  settings: Settings,
  found: (item: string, state: Finding['state'], text: string, fix?: string) => void,
): void {
  const { file } = settings;
  if (!file) found('file', 'note', 'there is no calls.config.json; only options and environment are used');
  else if (file.isExposed) {
    found(
      'file',
      'note',
      `${file.path} has a key in it, and other users can read it`,
      `chmod 600 ${file.path}`,
    );
  } else found('file', 'ok', file.path);
  if (settings.baseUrl) found('URL', 'ok', `${settings.baseUrl.value} (${settings.baseUrl.from})`);
  else
    found('URL', 'wrong', 'not set', 'set CALLS_BASE_URL, or "baseUrl" in calls.config.json, or --base-url');
  found('version', 'ok', `${settings.apiVersion.value} (${settings.apiVersion.from})`);
  for (const [name, label] of [
    ['accessKey', 'access key'],
    ['secretKey', 'secret key'],
    ['bearerToken', 'bearer token'],
  ] as const) {
    const secret = settings.secret(name);
    if (secret) found(label, 'ok', `set (${secret.from})`);
  }
  if (settings.timeZone) found('time zone', 'ok', `${settings.timeZone.value} (${settings.timeZone.from})`);
  else {
    found(
      'time zone',
      'note',
      'not set; times such as 7d and upload sheets need it',
      'set CALLS_TIME_ZONE to the time zone of the account',
    );
  }
}
