import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { exportCalls, importCalls, type RecordForm, type Store } from '@call-attribution/store';
import type { Args, Handler } from '../args/command.ts';
import { chooseStore } from '../calls/choose-store.ts';
import { openStoreOf } from '../calls/store-url.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { readServiceSection } from '../config/service-section.ts';
import { readFileSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { accountOf, accounts, needed, print } from './store-accounts.ts';

type Task = (store: Store, args: Args, io: Io) => Promise<number>;

/** `calls store`: looks after a store. Each task prints JSON lines. */
export const store: Handler = async (args, io) => {
  const [task = '', what] = args.words;
  if (what !== undefined && task !== 'accounts' && task !== 'import')
    throw new UsageError(`calls store ${task} has one argument too many: ${JSON.stringify(what)}`);
  return whileWaiting('waiting for the store', async () => {
    const settings = readFileSettings(args, io);
    const chosen = chooseStore(args, settings, io);
    const opened = await openStoreOf(chosen, readServiceSection(settings), io);
    try {
      return await (tasks[task] as Task)(opened, args, io);
    } finally {
      await opened.close();
    }
  });
};

const tasks: Readonly<Record<string, Task>> = {
  accounts,
  async import(store, args, io) {
    const file = args.words[1];
    if (file === undefined) throw new UsageError('calls store import needs a file, or - for stdin');
    const source = file === '-' ? io.stdin : unpacked(resolve(io.cwd, file));
    const doing = file === '-' ? 'reading standard input' : `reading ${file}`;
    const account = needed(args, 'account');
    await print(io, await whileWaiting(doing, () => importCalls(store, account, source)));
    return exitCodes.ok;
  },
  async export(store, args, io) {
    const { id } = await accountOf(store, needed(args, 'account'));
    const lines = exportCalls(store, id, { form: (args.text('form') ?? 'neutral') as RecordForm });
    const target = args.text('output') ?? '-';
    if (target === '-') for await (const line of lines) await write(io.stdout, line);
    else await writeLines(resolve(io.cwd, target), lines);
    return exitCodes.ok;
  },
  async purge(store, args, io) {
    await print(io, { purged: await store.purge(needed(args, 'account'), needed(args, 'before')) });
    return exitCodes.ok;
  },
  async erase(store, args, io) {
    const account = needed(args, 'account');
    const number = canAsk(io) ? await askHidden('Number of the caller', io) : await textOf(io.stdin);
    if (!/\d/.test(number)) {
      throw new UsageError('calls store erase needs the number of the caller on stdin', {
        hints: ['it is not an option, so that it stays out of the shell history'],
      });
    }
    await print(io, { erased: await store.erase(account, number.trim()) });
    say(
      io,
      'files of --on-bad-record are not searched: delete lines with this number from files such as calls.db.bad-records.ndjson',
    );
    return exitCodes.ok;
  },
  async sizes(store, _args, io) {
    await print(io, await store.sizes());
    return exitCodes.ok;
  },
  async check(store, _args, io) {
    const faults = await store.check();
    await print(io, { exact: faults.length === 0, faults });
    return faults.length === 0 ? exitCodes.ok : exitCodes.failed;
  },
  async rebuild(store) {
    await store.rebuild();
    return exitCodes.ok;
  },
};

async function textOf(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream)
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  return text;
}

function unpacked(path: string): AsyncIterable<Uint8Array> {
  const bytes = createReadStream(path);
  // A file that cannot be read fails the stream that is returned.
  return path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}

/** The file appears under its name only when it is complete. */
function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  return writeWholeFile(path, path.endsWith('.gz') ? pipeline(lines, createGzip(), () => undefined) : lines);
}
