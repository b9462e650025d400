// A PostgreSQL server for the benches of the store: the one that tests start, bundled for plain
// Node.
import { readdirSync, readFileSync } from 'node:fs';
import { bundled } from '../bundled.mjs';

/** Starts a server, or returns null when none is installed. */
export async function postgresServer() {
  const { startPostgres, newDatabase } = await bundled(
    "export * from './src/postgres.ts'",
    new URL('../../packages/test-tools/', import.meta.url),
    { external: ['pg'] },
  );
  const postgres = startPostgres();
  return postgres && { newUrl: () => newDatabase(postgres.url), close: () => postgres.close() };
}

/**
 * Milliseconds of CPU that a process has used, with the programs that it has started and that have
 * ended; 0 when it has ended itself.
 */
export function cpuOf(pid, { isOfChildren = false } = {}) {
  const [user, system, userOfEnded, systemOfEnded] = statOf(pid).slice(11, 15).map(Number);
  return 10 * ((isOfChildren ? 0 : user + system) + userOfEnded + systemOfEnded);
}

/** The same for a server on this machine, with its processes that still run. */
export function cpuOfServer(url) {
  const folder = new URL(url).searchParams.get('host');
  const [server] = readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n');
  const running = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && statOf(pid)[1] === server,
  );

  // What ends meanwhile is added to the server, which is looked at last.
  return [...running, server].reduce((sum, pid) => sum + cpuOf(pid), 0);
}

function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /)[1].split(' ');
  } catch {
    return Array.from({ length: 15 }, () => '0');
  }
}
