import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fixtureCalls, type HostileServer, startHostileServer } from '@call-attribution/core/testing';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// A kill needs some milliseconds of reading to fall into; each answer is held back a little to make room for it.
const answerAfterMs = 4;
const kills = 4;
let folder: string;
let program: string;
let server: HostileServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'calls-drill-'));
  const room = new URL('..', import.meta.url).pathname;
  program = join(room, 'node_modules', `.drill-${process.pid}`, 'reader.mjs');
  await build({
    entryPoints: [join(room, 'test/drill/reader.ts')],
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
  server = await startHostileServer({
    calls: fixtureCalls(1500),
    fault: () => ({
      send: ({ status, headers, body }, response, later) => {
        later(() => response.writeHead(status, headers).end(body), answerAfterMs);
      },
    }),
  });
}, 60_000);

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
  await rm(join(program, '..'), { recursive: true, force: true });
});

function start(mode: string, into: string): ChildProcess {
  return spawn(process.execPath, [program, mode, server.url, into], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Kills the reader again and again, each time a little later after it has begun, then lets it finish. */
async function drill(mode: string): Promise<string[]> {
  const into = join(folder, mode);
  await mkdir(into);
  for (let i = 0; i < kills; i++) {
    const child = start(mode, into);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    await delay(5 + i * 31);
    child.kill('SIGKILL');
    const [code, signal] = await once(child, 'exit');
    expect([code, signal]).toEqual([null, 'SIGKILL']);
  }
  const [code] = await once(start(mode, into), 'exit');
  expect(code).toBe(0);
  const text = await readFile(join(into, 'log.ndjson'), 'utf8');
  // The line that a kill cut in two is no record; a transaction leaves none.
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line).sid);
}

describe('a reader killed at any moment and started again', { timeout: 60_000 }, () => {
  const expected = () => server.calls.map(({ sid }) => sid);

  test('loses nothing: a store that upserts by sid holds each record', async () => {
    const sids = await drill('upsert');
    expect([...new Set(sids)].sort()).toEqual(expected().sort());
  });

  test.each(['file', 'bytes'])('has each record once in a file that is resumed (%s)', async (mode) => {
    expect(await drill(mode)).toEqual(expected());
  });

  test('has each record once in a sink that commits records and place together', async () => {
    expect(await drill('transaction')).toEqual(expected());
  });
});
