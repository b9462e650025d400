import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fixtureCalls, startHostileServer } from '@call-attribution/core/testing';
import { build } from 'esbuild';
import { expect } from 'vitest';

// A kill needs some milliseconds of reading to fall into, so each response is held back a little.
const responseAfterMs = 4;

/** What the program does with the records it reads; see `reader.ts`. */
export type Mode = 'upsert' | 'file' | 'bytes' | 'transaction';

/** A reader that is killed and started again, and the sids it should have read in the end. */
export interface KilledReader {
  /** Kills the reader this often, each time a little later after it has begun; then lets it finish. Gives the sids it wrote. */
  run(mode: Mode, kills: number): Promise<string[]>;
  readonly expected: readonly string[];
  close(): Promise<void>;
}

/** Builds the program and starts the server it reads from. */
export async function prepareKilledReader(): Promise<KilledReader> {
  const folder = await mkdtemp(join(tmpdir(), 'killed-reader-'));
  const packageFolder = new URL('../..', import.meta.url).pathname;
  const program = join(packageFolder, 'node_modules', `.killed-reader-${process.pid}`, 'reader.mjs');
  await build({
    entryPoints: [join(packageFolder, 'test/laws/reader.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });
  const server = await startHostileServer({
    calls: fixtureCalls(1500),
    fault: () => ({
      send: ({ status, headers, body }, response, later) => {
        later(() => response.writeHead(status, headers).end(body), responseAfterMs);
      },
    }),
  });
  const start = (mode: Mode): ChildProcess =>
    spawn(process.execPath, [program, mode, server.url, join(folder, mode)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  return {
    expected: server.calls.map(({ sid }) => sid),
    async run(mode, kills) {
      await mkdir(join(folder, mode));
      for (let i = 0; i < kills; i++) {
        const child = start(mode);
        await once(child.stdout as NodeJS.ReadableStream, 'data');
        await delay(5 + i * 31);
        child.kill('SIGKILL');
        const [code, signal] = await once(child, 'exit');
        expect([code, signal]).toEqual([null, 'SIGKILL']);
      }
      const [code] = await once(start(mode), 'exit');
      expect(code).toBe(0);
      const text = await readFile(join(folder, mode, 'log.ndjson'), 'utf8');
      // A line that a kill cut in two is not a record; a transaction leaves none.
      const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
      return lines.map((line) => JSON.parse(line).sid);
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
      await rm(join(program, '..'), { recursive: true, force: true });
    },
  };
}
