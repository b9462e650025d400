import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { readSmallFile } from '@call-attribution/core/settings';
import { periodStart } from '@call-attribution/core/time';
import {
  joinRemovals,
  nothingRemoved,
  parseRemovals,
  removalsEnding,
} from '@call-attribution/node-stream/copies';
import { exportCalls, importCalls, type Store } from '@call-attribution/store';
import type { Handler } from '../args/command.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { CliError, Interrupted, systemCode, UsageError } from '../errors.ts';
import { saveLines } from '../output/file.ts';
import {
  erasedLines,
  numbersOf,
  openLedgers,
  refuseStrangeAccount,
  sayWhatRemains,
} from '../stores/removing.ts';
import { whileWaiting } from '../term/waiting.ts';
import { accountOf, onCopy, onStore, print } from './on-store.ts';

/** `calls store import`: adds or replaces calls from NDJSON. */
export const importFile = onStore(async (store, args, io) => {
  const [file = '-'] = args.words;
  const shown = file === '-' ? 'standard input' : file;
  const source = readable(file === '-' ? io.stdin : unpacked(resolve(io.cwd, file)), shown, io.signal);
  if (file !== '-') await takeOverRemovals(store, args.need('account'), resolve(io.cwd, file), file);
  const done = await whileWaiting(`reading ${shown}`, () => importCalls(store, args.need('account'), source));
  await print(io, done);
});

/** Leaves out what was erased where a file was written: `calls export` says so beside it. */
async function takeOverRemovals(store: Store, account: string, path: string, shown: string): Promise<void> {
  const beside = `${path}${removalsEnding}`;
  if (!existsSync(beside)) return;
  const notes = parseRemovals(readSmallFile(beside, removalsBytes).text);
  if (notes === null)
    throw new UsageError(`${shown}${removalsEnding} does not say in a known form which callers were erased`, {
      hints: ['export again, or remove the file to import the calls without it'],
    });
  await store.addRemovals(account, [...notes.values()].reduce(joinRemovals, nothingRemoved));
}

// Hashes of a million callers have some 50 MB.
const removalsBytes = 256 * 1024 * 1024;

/** `calls store export`: writes the calls of an account as NDJSON. */
export const exportFile = onStore(async (store, args, io) => {
  const { id } = await accountOf(store, args.need('account'));
  const form = (['v2', 'v3'] as const).find((form) => form === args.text('form')) ?? 'neutral';
  const lines = exportCalls(store, id, { form });
  const target = args.text('output') ?? '-';
  const isPacked = target.endsWith('.gz');
  await saveLines(target, isPacked ? pipeline(lines, createGzip(), () => undefined) : lines, io);
});

/** `calls store purge`: deletes older calls. */
export const purge = onCopy(async (copy, args, io) => {
  const account = args.need('account');
  const before = args.need('before');
  const border = periodStart(before);
  if (border === null)
    throw new UsageError(`--before is ${JSON.stringify(before)}, which is not a time that exists`, {
      hints: ['write a day or a time of the account: 2024-01-01, "2024-01-01 08:30:00"'],
    });
  await refuseStrangeAccount(copy, account);
  await print(io, { purged: await (copy.store ?? copy.warehouse).purge(account, border) });
});

/** `calls store erase`: deletes the calls of callers, now and in the future. */
export const erase: Handler = async (args, io) => {
  const typed = canAsk(io) ? await askHidden('Number of the caller', io) : await textOf(io.stdin);
  const numbers = numbersOf(typed);
  return onCopy(async (copy) => {
    const account = args.need('account');
    await refuseStrangeAccount(copy, account);
    const ledgers = await openLedgers(args.list('ledger'), copy, io);
    try {
      const callers = numbers.map(({ number }) => number);
      const erasure = await (copy.store ?? copy.warehouse).erase(account, callers);
      await ledgers.forget(erasure.sids);
      for (const line of erasedLines(numbers, erasure)) await print(io, line);
      sayWhatRemains(erasure, copy, account, io);
    } finally {
      await ledgers.close();
    }
  })(args, io);
};

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

/** The same bytes. What keeps them from being read is said with the name of the file. */
async function* readable(bytes: AsyncIterable<Uint8Array | string>, shown: string, signal: AbortSignal) {
  try {
    yield* bytes;
  } catch (error) {
    // Standard input is closed then, too.
    if (signal.aborted) throw new Interrupted();
    const code = systemCode(error) ?? '';
    if (code === 'ENOENT') throw new UsageError(`there is no file ${shown}`);
    const problem = code.startsWith('Z_') ? 'it is cut or damaged, and cannot be unpacked' : unreadable[code];
    throw new CliError(`${shown}: ${problem ?? 'it could not be read'}${problem ? '' : ` (${code})`}`, {
      cause: error,
      hints: code.startsWith('Z_')
        ? [
            'the calls before the damage are stored; import the whole file again, calls that are there stay as they are',
          ]
        : [],
    });
  }
}

const unreadable: Readonly<Record<string, string>> = {
  EACCES: 'no permission to read it',
  EISDIR: 'it is a folder; name a file in it',
};

function unpacked(path: string): AsyncIterable<Uint8Array> {
  const bytes = createReadStream(path);
  // A file that cannot be read fails the stream that is returned.
  return path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}
