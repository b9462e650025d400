import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { systemCode, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

/** What `calls.config.json` may say. Keys may be in it or, better, in files it names. */
export const configNames = [
  'baseUrl',
  'legacyBaseUrl',
  'apiVersion',
  'timeZone',
  'accessKey',
  'secretKey',
  'bearerToken',
  'accessKeyFile',
  'secretKeyFile',
  'bearerTokenFile',
] as const;

export type ConfigName = (typeof configNames)[number];

/** A configuration file that was found and read. */
export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Partial<Record<ConfigName, string>>>;
  /** Others on this machine can read it, and it holds a key. */
  readonly exposed: boolean;
}

/**
 * Reads the file named by `--config` or CALLS_CONFIG, else `calls.config.json` in the current folder, else the one in
 * the user's configuration folder. Null when there is none.
 */
export async function readConfig(named: string | null, io: Io): Promise<ConfigFile | null> {
  const asked = named ?? io.env.CALLS_CONFIG ?? null;
  if (asked) {
    const path = resolve(io.cwd, asked);
    const file = await read(path);
    if (file) return file;
    throw new UsageError(`there is no configuration file ${path}`, {
      hints: [`it was named by ${named ? '--config' : 'CALLS_CONFIG'}`],
    });
  }
  const home = io.env.XDG_CONFIG_HOME ?? join(io.env.HOME ?? homedir(), '.config');
  const places = [join(io.cwd, 'calls.config.json'), join(home, 'call-attribution', 'calls.config.json')];
  for (const path of places) {
    const file = await read(path);
    if (file) return file;
  }
  return null;
}

async function read(path: string): Promise<ConfigFile | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new UsageError(`${path} cannot be read (${code ?? 'unknown reason'})`, { cause: error });
  }
  const values = parse(text, path);
  const holdsKey =
    values.secretKey !== undefined || values.bearerToken !== undefined || values.accessKey !== undefined;
  const mode = (await stat(path)).mode;
  return { path, values, exposed: holdsKey && process.platform !== 'win32' && (mode & 0o044) !== 0 };
}

function parse(text: string, path: string): ConfigFile['values'] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text around the fault, which may be a key.
    throw new UsageError(`${path} is not JSON`, {
      hints: ['it looks like { "baseUrl": "https://...", "timeZone": "America/New_York" }'],
    });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new UsageError(`${path} must hold one JSON object`);
  for (const [name, value] of Object.entries(json)) {
    if (!configNames.some((known) => known === name)) {
      const near = nearest(name, configNames);
      throw new UsageError(`${path} has an unknown name ${JSON.stringify(name)}`, {
        hints: [near ? `did you mean ${JSON.stringify(near)}?` : `known are ${configNames.join(', ')}`],
      });
    }
    if (typeof value !== 'string') throw new UsageError(`${path}: ${JSON.stringify(name)} must be a text`);
  }
  return json as ConfigFile['values'];
}

/** A path written in a configuration file starts from that file's folder. */
export function besideFile(file: ConfigFile, path: string): string {
  return isAbsolute(path) ? path : resolve(file.path, '..', path);
}
