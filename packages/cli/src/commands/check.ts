import type { Client } from '@call-attribution/core';
import type { Settings } from '@call-attribution/core/settings';
import type { Args, Handler } from '../args/command.ts';
import { openClient } from '../calls/connect.ts';
import { readSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import { type Io, write } from '../io.ts';
import { count } from '../term/numbers.ts';
import { styleFor } from '../term/style.ts';

/** The result of one item. */
interface Finding {
  readonly item: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
  /** What to change. */
  readonly fix?: string;
}

/** `calls check`: tries each part of the configuration and says what to change. */
export const check: Handler = async (args, io) => {
  const findings: Finding[] = [];
  const exitCode = await tryAll(args, io, findings);
  if (args.flag('json')) {
    await write(io.stdout, `${JSON.stringify({ ok: exitCode === exitCodes.ok, findings }, null, 2)}\n`);
    return exitCode;
  }
  const style = styleFor(io.stdout, io.env, args.flag('no-color'));
  const marks = { ok: style.green('ok   '), note: style.yellow('note '), wrong: style.red('wrong') };
  const width = Math.max(...findings.map((finding) => finding.item.length));
  for (const { item, state, text, fix } of findings) {
    await write(io.stdout, `${marks[state]}  ${item.padEnd(width)}  ${text}\n`);
    if (fix) await write(io.stdout, `${' '.repeat(width + 9)}${style.dim('→')} ${fix}\n`);
  }
  return exitCode;
};

async function tryAll(args: Args, io: Io, findings: Finding[]): Promise<number> {
  const found = (item: string, state: Finding['state'], text: string, fix?: string): void => {
    findings.push({ item, state, text, ...(fix ? { fix } : {}) });
  };
  const failed = async (item: string, error: unknown): Promise<number> => {
    const { message, hints, exitCode } = await explain(error);
    // Not the hint to run calls check, which is what the user just did.
    found(item, 'wrong', message, hints.filter((hint) => !hint.includes('calls check')).join('; '));
    return exitCode;
  };
  let settings: Settings;
  try {
    settings = readSettings(args, io);
  } catch (error) {
    return failed('settings', error);
  }
  configured(settings, found);
  if (!settings.baseUrl) return exitCodes.usage;
  let client: Client;
  try {
    client = await openClient(settings, args, io);
  } catch (error) {
    return failed('keys', error);
  }
  try {
    try {
      const page = await client.listCalls({ rows: 1, signal: io.signal });
      const seen =
        page.records.length === 0 ? 'the account has no calls yet' : 'the server responds with a call';
      found('list', 'ok', seen);
    } catch (error) {
      return failed('list', error);
    }
    try {
      const { total, source } = await client.countCalls({ signal: io.signal });
      const without = client.version === 'v3' ? ', not including call extensions' : '';
      found('count', 'ok', `${count(total)} calls${without} (${source})`);
    } catch (error) {
      return failed('count', error);
    }
    if (!settings.legacyBaseUrl) {
      found('sms', 'note', 'skipped: CALLS_LEGACY_BASE_URL is not set', 'only calls sms needs it');
      return exitCodes.ok;
    }
    try {
      const numbers = await client.listSmsNumbers({ signal: io.signal });
      found('sms', 'ok', `${count(numbers.length)} SMS-enabled numbers`);
      return exitCodes.ok;
    } catch (error) {
      return failed('sms', error);
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
