import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { Tally } from '@call-attribution/test-tools/drill';
import { build } from 'esbuild';
import { expect } from 'vitest';

// A kill needs some milliseconds of reading to fall into, so each response is held back a little.
const responseAfterMs = 4;

/** What the program does with the records it reads; see `reader.ts`. */
export type Mode = 'upsert' | 'file' | 'chain' | 'bytes' | 'transaction';

/** A reader that is killed and started again, and the sids it should have read in the end. */
export interface KilledReader {
  /**
   * Kills the reader this often, at different times after it has begun, and starts it again each
   * time. A reader that finishes before it is killed begins again with an empty folder. Gives the
   * sids of each folder.
   */
  run(mode: Mode, kills: number): Promise<string[][]>;
  readonly expected: readonly string[];
  close(): Promise<void>;
}

/** Builds the program and starts the server it reads from. */
export async function prepareKilledReader(tally = new Tally()): Promise<KilledReader> {
  const folder = await mkdtemp(join(tmpdir(), 'killed-reader-'));
  const packageFolder = new URL('../..', import.meta.url).pathname;
  const program = join(
    packageFolder,
    'node_modules',
    `.killed-reader-${process.pid}`,
    'reader.mjs',
  );
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
  const server = await fakeApi({
    calls: fixtureCalls(1500),
    faults: () => ({
      send: ({ status, headers, body }, response, later) => {
        later(() => response.writeHead(status, headers).end(body), responseAfterMs);
      },
    }),
  }).listen();

  /** Starts the reader until it finishes, and kills it before as often as that is allowed. */
  const finish = async (
    mode: Mode,
    target: string,
    kills: { landed: number; readonly most: number },
  ) => {
    let isFinished = false;
    while (!isFinished)
      await tally.run(async () => {
        const child = spawn(process.execPath, [program, mode, server.url, target], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(child, 'exit');
        if (kills.landed < kills.most) {
          await Promise.race([once(child.stdout, 'data'), ended]);
          await Promise.race([delay(5 + ((kills.landed * 31) % 170)), ended]);
          child.kill('SIGKILL');
        }

        const [code, signal] = await ended;
        if (signal === 'SIGKILL') {
          kills.landed++;
          tally.happened('kills');
        } else {
          expect(code).toBe(0);
          isFinished = true;
        }
      });
  };

  return {
    expected: server.calls.map(({ sid }) => sid),
    async run(mode, most) {
      const kills = { landed: 0, most };
      const results: string[][] = [];
      while (results.length === 0 || kills.landed < most) {
        const target = await mkdtemp(join(folder, `${mode}-`));
        await finish(mode, target, kills);
        const text = await readFile(join(target, 'log.ndjson'), 'utf8');
        // A line that a kill cut in two is not a record; a transaction leaves none.
        const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
        const sids: string[] = lines.map((line) => JSON.parse(line).sid);
        // A store that upserts by sid may be given a record again.
        tally.compare(
          server.calls.map(({ sid }) => sid),
          mode === 'upsert' ? [...new Set(sids)] : sids,
        );
        results.push(sids);
      }

      return results;
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
      await rm(join(program, '..'), { recursive: true, force: true });
    },
  };
}
