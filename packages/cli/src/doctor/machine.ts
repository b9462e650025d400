import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { statfsSync } from 'node:fs';
import { propertyOf } from '@call-attribution/core/errors';
import type { Settings } from '@call-attribution/mcp-server/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Io } from '../io.ts';
import { bytes, duration } from '../terminal/numbers.ts';
import { version } from '../version.ts';
import { type Finding, note, ok, wrong } from './findings.ts';

const oldestNode = [20, 19] as const;

/** The versions of the programs. */
export function versions(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  const text = `calls ${version}, Node.js ${process.versions.node} on ${process.platform} ${process.arch}`;
  return isOld ? wrong('versions', text, 'install Node.js 20.19 or later') : ok('versions', text);
}

const known = [
  ...['BASE_URL', 'LEGACY_BASE_URL', 'API_VERSION', 'TIME_ZONE', 'STORE', 'CONFIG'],
  ...['ACCESS_KEY', 'SECRET_KEY', 'BEARER_TOKEN'].flatMap((name) => [name, `${name}_FILE`]),
].map((name) => `CALLS_${name}`);

/** Variables whose names are misspelled: they are silently ignored everywhere else. */
export function variables({ env }: Io): Finding[] {
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('CALLS_') || known.includes(name)) return [];
    const near = nearest(name, known);
    // CALLS_BERLIN_ACCESS_KEY is a variable that an account names.
    if (near === undefined || Math.abs(near.length - name.length) > 2) return [];
    return [note('variables', `${name} is not read by calls`, `did you mean ${near}?`)];
  });
}

/** The proxy that requests go through. */
export function proxy({ baseUrl }: Settings, { env }: Io): Finding {
  const scheme = baseUrl?.value.startsWith('http:') ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const address = (env[scheme.toLowerCase()] ?? env[scheme] ?? '').trim();
  const except = (env.no_proxy ?? env.NO_PROXY ?? '').trim();
  if (address === '') return ok('proxy', `none: ${scheme} is not set`);
  if (!URL.canParse(address))
    return wrong('proxy', `${scheme} is not a URL`, 'write it as http://proxy.example:3128');
  return ok('proxy', `${new URL(address).origin} (${scheme})${except ? `, except for ${except}` : ''}`);
}

const clockTolerance = 60_000;

/**
 * Runs something that sends requests, and compares the clock of this machine with the Date header of what the server responds.
 * There is no finding when nothing was responded.
 */
export async function withClock<T>(io: Io, run: () => Promise<T>): Promise<[T, Finding[]]> {
  let lag: number | null = null;
  const listener = (message: unknown): void => {
    const sent = Date.parse(dateIn(message) ?? '');
    if (!Number.isNaN(sent)) lag = io.clock.now() - sent;
  };
  subscribe('undici:request:headers', listener);
  try {
    const result = await run();
    return [result, lag === null ? [] : [clockFound(lag)]];
  } finally {
    unsubscribe('undici:request:headers', listener);
  }
}

/** The Date header in a message of undici, whose headers are names and values in turn. */
function dateIn(message: unknown): string | undefined {
  const headers = propertyOf(propertyOf(message, 'response'), 'headers');
  const texts = Array.isArray(headers) ? headers.map(String) : [];
  const at = texts.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'date');
  return at < 0 ? undefined : texts[at + 1];
}

function clockFound(lag: number): Finding {
  if (Math.abs(lag) <= clockTolerance) return ok('clock', 'agrees with that of the server');
  const off = `${duration(Math.abs(lag))} ${lag > 0 ? 'fast' : 'slow'}`;
  return note(
    'clock',
    `${off}, compared with that of the server: times such as 7d or now are off by that`,
    'set the clock of this machine, for example with NTP',
  );
}

const littleSpace = { wrong: 100e6, note: 1e9 };

/** The free space of a folder. */
export function disk(folder: string, io: Io): Finding {
  let free: number;
  try {
    const { bavail, bsize } = statfsSync(folder);
    free = bavail * bsize;
  } catch {
    return note('disk', `${folder} does not exist`, 'create it before calls writes there');
  }
  const text = `${bytes(free)} free in ${folder === io.cwd ? 'the current folder' : folder}`;
  if (free >= littleSpace.note) return ok('disk', text);
  const found = free < littleSpace.wrong ? wrong : note;
  return found('disk', text, 'make space: an export and a sync need as much as they write');
}
