import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { exportCalls, importCalls } from '@call-attribution/store';
import { askHidden, canAsk } from '../config/prompt.ts';
import { UsageError } from '../errors.ts';
import { say, write } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { accountOf, onStore, print } from './on-store.ts';

/** `calls store import`: adds or replaces calls from NDJSON. */
export const importFile = onStore(async (store, args, io) => {
  const [file = '-'] = args.words;
  const source = file === '-' ? io.stdin : unpacked(resolve(io.cwd, file));
  const doing = file === '-' ? 'reading standard input' : `reading ${file}`;
  await print(io, await whileWaiting(doing, () => importCalls(store, args.need('account'), source)));
});

/** `calls store export`: writes the calls of an account as NDJSON. */
export const exportFile = onStore(async (store, args, io) => {
  const { id } = await accountOf(store, args.need('account'));
  const form = (['v2', 'v3'] as const).find((form) => form === args.text('form')) ?? 'neutral';
  const lines = exportCalls(store, id, { form });
  const target = args.text('output') ?? '-';
  if (target === '-') for await (const line of lines) await write(io.stdout, line);
  else await writeLines(resolve(io.cwd, target), lines);
});

/** `calls store purge`: deletes older calls. */
export const purge = onStore(async (store, args, io) =>
  print(io, { purged: await store.purge(args.need('account'), args.need('before')) }),
);

/** `calls store erase`: deletes the calls of one caller, now and in the future. */
export const erase = onStore(async (store, args, io) => {
  const number = canAsk(io) ? await askHidden('Number of the caller', io) : await textOf(io.stdin);
  if (!/\d/.test(number)) {
    throw new UsageError('calls store erase needs the number of the caller on stdin', {
      hints: ['it is not an option, so that it stays out of the shell history'],
    });
  }
  await print(io, { erased: await store.erase(args.need('account'), number.trim()) });
  say(
    io,
    'files of --on-bad-record are not searched: delete lines with this number from files such as calls.db.bad-records.ndjson',
  );
});

/** `calls store sizes`: number, size and age of the calls of each account. */
export const sizes = onStore(async (store, _args, io) => print(io, await store.sizes()));

/** `calls store rebuild`: counts all calls again. */
export const rebuild = onStore((store) => store.rebuild());

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
