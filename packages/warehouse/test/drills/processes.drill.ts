import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/index.ts';
import { call, testWarehouse } from '../support.ts';

openDrill({
  name: 'warehouse-processes',
  kind: 'stops',
  what: 'Several processes write and read one warehouse; readers never see half a commit, and whoever has to wait learns for whom',
  countTests: true,
});

let files: Record<'hold' | 'reader' | 'writer', string>;
beforeAll(async () => {
  const build = (name: string) => builtFile(new URL(`../fixtures/${name}.ts`, import.meta.url).href);
  files = { hold: await build('hold'), reader: await build('reader'), writer: await build('writer') };
});

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a fixture and collects the lines it prints. */
function start(file: string, ...args: string[]) {
  const child = spawn(process.execPath, [file, ...args]);
  children.push(child);
  const errors = text(child.stderr);
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data;
  });
  const ended = once(child, 'exit');
  const lines = () => said.split('\n').slice(0, -1);
  const firstLine = async () => {
    while (lines().length === 0) await once(child.stdout, 'data');
  };
  return { child, ended, lines, firstLine, errors };
}

describe('several processes', () => {
  test('a question waits for a writer, up to a limit, and then says who has the file', async () => {
    const { warehouse, path } = await testWarehouse();
    await warehouse.close();
    const holder = start(files.hold, path);
    await holder.firstLine();
    const impatient = openWarehouse(path, { wait: 100 });
    await expect(impatient).rejects.toMatchObject({
      code: 'in_use',
      message: `Process ${holder.child.pid} has ${path} open. Wait until it closes the file, or end it.`,
    });
    setTimeout(() => holder.child.stdin.end(), 200);
    const patient = await openWarehouse(path, { wait: 60_000 });
    expect(await patient.count()).toMatchObject({ calls: 0 });
    await holder.ended;
  });

  test('a sync does not wait for readers until its run has finished: what is staged is safe', async () => {
    const { warehouse, path } = await testWarehouse({ batch: 1, wait: 100 });
    const { finished, running } = await states();
    const sink = warehouse.sink('main');
    await sink.load();
    const holder = start(files.hold, path, 'READ_ONLY');
    await holder.firstLine();
    await sink.commit({ calls: [call('a')], ...running });
    await sink.commit({ calls: [call('b')], ...running });
    await expect(sink.commit({ calls: [call('c')], ...finished })).rejects.toMatchObject({
      code: 'in_use',
    });
    expect(await warehouse.count()).toMatchObject({ calls: 0 });
    holder.child.stdin.end();
    await holder.ended;
    await warehouse.close();
    const again = await openWarehouse(path);
    expect(await again.count()).toMatchObject({ calls: 3 });
    await again.close();
  });

  test('a file that is read cannot be opened to write, however often the reader has opened and closed it since', async () => {
    const { warehouse, path } = await testWarehouse();
    await warehouse.load('main', [call('a'), call('b')]);
    // Closing any descriptor of a file ends the locks that a process has on it.
    for await (const { sid } of warehouse.calls({ order: 'sid', limit: 2 })) {
      if (sid === 'b') break;
      await using again = await openWarehouse(path);
      await again.get(sid);
      await (await again.query('select 1')).close();
      expect(await start(files.hold, path).errors).toContain('Could not set lock');
    }
    await warehouse.close();
    const holder = start(files.hold, path);
    await holder.firstLine();
    holder.child.stdin.end();
    expect(await holder.ended).toEqual([0, null]);
  });

  test('a file that is open for the next question is given free for a process that writes, and what that wrote is seen', async () => {
    const { warehouse, path } = await testWarehouse();
    for (const last of ['3', '6', '9']) {
      expect(await warehouse.count()).toMatchObject({ calls: (Number(last) - 3) * 10 });
      // It waits for less time than the file stays open.
      const writer = start(files.writer, path, `${Number(last) - 3}`, '3', last, '0', '1500');
      expect([await writer.ended, await writer.errors]).toEqual([[0, null], '']);
      expect(await warehouse.count()).toMatchObject({ calls: Number(last) * 10 });
    }
  });

  test('a file is closed some seconds after the last question, or with the warehouse', async () => {
    const { warehouse, path } = await testWarehouse();
    const opens = async () => {
      const { lines, child, ended } = start(files.hold, path);
      child.stdin.end();
      await ended;
      return lines().length === 1;
    };
    await warehouse.count();
    expect(await opens()).toBe(false);
    while (!(await opens())) expect(warehouse.isAtWork).toBe(false);
    await warehouse.count();
    expect(await opens()).toBe(false);
    await warehouse.close();
    expect(await opens()).toBe(true);
  });

  test('readers never see half a commit while another process writes', async () => {
    const { path } = await testWarehouse();
    const readers = [start(files.reader, path), start(files.reader, path)];
    for (const reader of readers) await reader.firstLine();
    const writer = start(files.writer, path, '0', '3', '12');
    await writer.ended;
    for (const reader of readers) reader.child.stdin.end();
    for (const reader of readers) await reader.ended;
    const answers = readers.flatMap((reader) => reader.lines());
    expect(answers.length).toBeGreaterThan(10);
    for (const answer of answers) {
      const [calls, sids] = answer.split(' ').map(Number);
      expect(sids).toBe(calls);
      expect(Number(calls) % 10).toBe(0);
    }
    const warehouse = await openWarehouse(path);
    expect(await warehouse.count()).toMatchObject({ calls: 120 });
    await warehouse.close();
  });
});

async function states() {
  const { syncState } = await import('../support.ts');
  return { finished: syncState(true), running: syncState(false) };
}
