import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isAccountName } from '@call-attribution/core/settings';
import { WarehouseError, type WarehouseErrorCode } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { type LoadHost, storeAgain } from './files.ts';
import { create, inspect, migrate } from './migrate.ts';
import { stagingFolder, WarehouseSink } from './sink.ts';

/** Makes the tables, or brings them up to date; stores what a process that was killed left staged. */
export async function prepare(
  host: LoadHost,
  mayCreate: boolean,
  ask: <T>(body: (session: Session) => Promise<T>) => Promise<T>,
): Promise<void> {
  if (!existsSync(host.path) && !mayCreate) {
    throw new WarehouseError('not_found', `There is no warehouse at ${host.path}.`, {
      hint: 'Fill one first, for example with: calls sync --store duckdb:calls.duckdb',
    });
  }
  const folder = dirname(resolve(host.path));
  if (!existsSync(folder))
    throw new WarehouseError('not_found', `There is no folder ${folder} to put a warehouse in.`);
  const stats = statSync(host.path, { throwIfNoEntry: false });
  // A pipe would be waited for, and like a device it has no size: it would be taken for an empty file.
  if (stats !== undefined && !stats.isFile() && !stats.isDirectory())
    throw new WarehouseError(
      'not_a_warehouse',
      `${host.path} is not a regular file. Name another file, or a new one and sync again.`,
    );
  const isThere = stats !== undefined && stats.size > 0;
  const state = isThere ? await ask((session) => inspect(session, host.path)) : 'empty';
  if (state !== 'ready') await bringUpToDate(host, state);
  for (const account of accountsLeftBehind(host.path)) await storeLeftovers(host, account);
}

async function bringUpToDate(host: LoadHost, state: 'empty' | 'older'): Promise<void> {
  try {
    await host.write(async (session) => {
      // Another process may have been faster.
      const found = await inspect(session, host.path);
      if (found === 'empty') await create(session);
      if (found === 'older')
        await migrate(session, (account, calls) => storeAgain(host, session, account, calls));
    });
  } catch (error) {
    if (state !== 'older' || !(error instanceof WarehouseError) || !canWait.has(error.code)) throw error;
    throw new WarehouseError(
      error.code,
      `${host.path} was written by an older release and has to be brought up to date first. ${error.message}`,
      { cause: error },
    );
  }
}

function accountsLeftBehind(path: string): string[] {
  const folder = stagingFolder(path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.journal'))
    .map((name) => name.slice(0, -'.journal'.length))
    .filter(isAccountName);
}

/** What keeps a file from being brought up to date, but may pass. */
const canWait = new Set<WarehouseErrorCode>(['in_use', 'not_writable', 'disk_full', 'memory_limit']);

/**
 * An account that another process is filling is left to it. What cannot be stored, for whatever reason, stays, and its next sink
 * says why: no question has to wait for it.
 */
async function storeLeftovers(host: LoadHost, account: string): Promise<void> {
  const sink = new WarehouseSink(host, account);
  try {
    await sink.load();
  } catch (error) {
    if (!(error instanceof WarehouseError)) throw error;
  } finally {
    await sink.close();
  }
}
