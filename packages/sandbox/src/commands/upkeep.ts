import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Store } from '@call-attribution/store';
import { exportCalls, importCalls, type RecordForm } from '@call-attribution/store';
import { SettingsError } from '../config/read-settings.ts';
import { accountOf, needed } from './accounts.ts';
import type { CommandIo } from './io.ts';

/** Flags of the upkeep commands. */
interface UpkeepFlags {
  readonly id: string | undefined;
  readonly before: string | undefined;
  readonly form: string | undefined;
}

type Upkeep = (store: Store, flags: UpkeepFlags, io: CommandIo, file: string | undefined) => Promise<number>;

/** Commands that read or mend a store, by name. */
export const upkeep: Readonly<Record<string, Upkeep>> = {
  async import(store, flags, io, file) {
    const source = needed(file, 'a file (or - for stdin)');
    const stored = await importCalls(
      store,
      needed(flags.id, '--id'),
      source === '-' ? io.stdin : unpacked(source),
    );
    say(io, stored);
    return 0;
  },
  async export(store, flags, io, file) {
    const target = needed(file, 'a file (or - for stdout)');
    const { id } = await accountOf(store, needed(flags.id, '--id'));
    const calls = exportCalls(store, id, { form: formOf(flags.form) });
    if (target === '-') for await (const line of calls) await written(io.stdout, line);
    else await writeFile(target, calls);
    return 0;
  },
  async purge(store, flags, io) {
    say(io, { purged: await store.purge(needed(flags.id, '--id'), needed(flags.before, '--before')) });
    return 0;
  },
  async erase(store, flags, io) {
    const id = needed(flags.id, '--id');
    let number = '';
    for await (const chunk of io.stdin)
      number += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (!/\d/.test(number))
      throw new SettingsError('Which caller? Write the number to stdin: it stays out of the shell history.');
    say(io, { erased: await store.erase(id, number.trim()) });
    return 0;
  },
  async sizes(store, _flags, io) {
    say(io, await store.sizes());
    return 0;
  },
  async check(store, _flags, io) {
    const faults = await store.check();
    say(io, { exact: faults.length === 0, faults });
    return faults.length === 0 ? 0 : 1;
  },
  async rebuild(store) {
    await store.rebuild();
    return 0;
  },
};

function say(io: CommandIo, value: object): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}

function formOf(form = 'neutral'): RecordForm {
  if (form === 'neutral' || form === 'v2' || form === 'v3') return form;
  throw new SettingsError('The form of an export is neutral, v2 or v3.');
}

function unpacked(path: string): AsyncIterable<Uint8Array> {
  const bytes = createReadStream(path);
  if (!path.endsWith('.gz')) return bytes;
  const gunzip = createGunzip();
  bytes.once('error', (error) => gunzip.destroy(error));
  return bytes.pipe(gunzip);
}

/** The file appears under its name only when it is whole. */
async function writeFile(path: string, lines: AsyncIterable<string>): Promise<void> {
  const part = `${path}.part`;
  try {
    const source = Readable.from(lines);
    if (path.endsWith('.gz')) await pipeline(source, createGzip(), createWriteStream(part));
    else await pipeline(source, createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function written(stream: NodeJS.WritableStream, text: string): Promise<void> {
  if (!stream.write(text)) await new Promise<void>((done) => stream.once('drain', done));
}
