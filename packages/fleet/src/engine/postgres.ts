import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import type pg from 'pg';
import { FleetError } from '../errors.ts';
import type { BossLibrary } from './pg-boss.ts';

/** The schema of PostgreSQL in which pg-boss keeps its tables. */
export const engineSchema = 'calls_fleet';

/** The URL without password and settings. */
export function placeOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    throw new FleetError('engine_unfit', 'The address of an engine must be postgres://user@host/database.');
  const { protocol, host, pathname, username } = url;
  return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`;
}

const oldest = [22, 12] as const;

/** Loads pg-boss, which asks for a later Node.js than the rest. */
export async function loadBoss(): Promise<BossLibrary> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    throw new FleetError(
      'engine_unfit',
      `A job for several machines needs Node.js ${oldest.join('.')} or later, and this is ${process.versions.node}.`,
      { hint: 'Without CALLS_FLEET one process does the whole job, on any Node.js from 20.19 on.' },
    );
  // A name that is not written here is not looked for when this package is built: not everybody has it.
  const name: string = 'pg-boss';
  return loaded(name, () => import(name));
}

/** Opens connections. */
export async function openPool(url: string): Promise<pg.Pool> {
  const { default: library } = await loaded('pg', () => import('pg'));
  const pool = new library.Pool({
    connectionString: url,
    max: 4,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 20_000,
    query_timeout: 25_000,
    idle_in_transaction_session_timeout: 5_000,
    keepAlive: true,
    application_name: 'call-attribution-fleet',
  });
  // A connection can break at any time. Without a listener that would end the process; the next statement fails instead.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function loaded<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ConfigurationError(
      'missing_package',
      {
        message: `A job for several machines needs the package ${name}.`,
        hint: 'Install both with: npm install pg pg-boss@12.38.0',
      },
      { cause },
    );
  }
}

/** An error of the engine. The server may quote values in its messages, so they are left out. */
export function trouble(error: unknown, name: string): unknown {
  if (error instanceof FleetError || error instanceof ConfigurationError) return error;
  const code = codeOf(error) ?? 'no answer';
  const [, refusal] = Object.entries(refusals).find(([start]) => code.startsWith(start)) ?? [];
  if (refusal === undefined)
    return new FleetError('engine_unavailable', `The engine ${name} does not answer (${code}).`);
  const [what, hint] = refusal;
  return new FleetError('engine_unfit', `The engine ${name} ${what} (${code}).`, { hint });
}

/** By SQLSTATE or the beginning of one. */
const refusals: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  '28': [
    'refuses the connection',
    'Check the user, the password (PGPASSWORD) and how the server lets users in.',
  ],
  '3D000': ['has no such database', 'Create it, or correct CALLS_FLEET.'],
  '42501': [
    `does not let this user use the schema ${engineSchema}`,
    'Grant CREATE on the database for the first time, then all rights on the schema.',
  ],
  '25006': ['is read-only', 'Use the primary server, not a standby.'],
};
