import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Call, toCall } from '@call-attribution/core';
import { readLines, writeWholeFile } from '@call-attribution/node-stream/files';
import { openStore, type Store } from '@call-attribution/store';
import type { Args, Handler } from '../args/command.ts';
import { type DeadLetter, fingerprint, isBadRecord, recordOf } from '../bad-records/letter.ts';
import { letterFile } from '../bad-records/letter-file.ts';
import { isJson } from '../calls/output.ts';
import { refusePassword, rowStoreUrl } from '../calls/store-url.ts';
import { Interrupted, systemCode, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileError, type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { type WarehouseFile, warehouseFile } from '../warehouse/choose.ts';
import { loadLibrary } from '../warehouse/library.ts';

/** What became of a record that can be read now: `outdated` when the store has a newer form, `erased` when it must not have it. */
type Fate = 'moved' | 'outdated' | 'erased';

/** Where records go that can be read now. */
interface Place {
  /** How messages call it. */
  readonly shown: string;
  /** Throws for a record that cannot be stored. */
  put(call: Call, letter: DeadLetter): Promise<Fate>;
  /** Makes what was put last. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** `calls retry-dead-letters`: tries records again that were set aside. */
export const retryDeadLetters: Handler = async (args, io) => {
  const shown = args.words[0] ?? '';
  const path = resolve(io.cwd, shown);
  if (!existsSync(path)) {
    throw new UsageError(`there is no file ${shown}`, {
      hints: ['calls export and calls sync write it with --on-bad-record file, when there are such records'],
    });
  }
  const place = await openPlace(args, io);
  try {
    const fates = { moved: 0, outdated: 0, erased: 0 };
    const reasons = new Map<string, number>();
    const done = new Set<string>();
    await letterFile(path, io.signal).hold(async ({ lines, rewrite }) => {
      for await (const { letter } of lines()) {
        if (io.signal.aborted)
          throw new Interrupted(['nothing was removed from the file; run the command again']);
        const result = letter === null ? { reason: 'not_a_letter' } : await tryAgain(letter, place);
        if ('reason' in result) reasons.set(result.reason, (reasons.get(result.reason) ?? 0) + 1);
        else {
          fates[result.fate] += 1;
          done.add((letter as DeadLetter).id);
        }
      }
      if (place === null || done.size === 0) return;
      // Only now: until they are on the disk elsewhere, they stay here.
      await place.finish();
      await rewrite((letter) => letter === null || !done.has(letter.id));
    });
    return await report(fates, reasons, { shown, place, args, io });
  } finally {
    await place?.close();
  }
};

/** What became of a record, or the code of what is still wrong with it. */
async function tryAgain(
  letter: DeadLetter,
  place: Place | null,
): Promise<{ readonly fate: Fate } | { readonly reason: string }> {
  try {
    const call = toCall(recordOf(letter), letter.version);
    return { fate: place === null ? 'moved' : await place.put(call, letter) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return { reason: 'invalid_json' };
    if (!isBadRecord(error)) throw error;
    return { reason: systemCode(error) ?? 'unreadable' };
  }
}

async function openPlace(args: Args, io: Io): Promise<Place | null> {
  const url = args.text('store');
  const output = args.text('output');
  if (url !== null && output !== null)
    throw new UsageError('--store and --output exclude each other; use one');
  if (output !== null) return intoFile(output, io);
  if (url === null) return null;
  refusePassword(url);
  const file = warehouseFile({ url, folder: io.cwd });
  if (file !== null) return intoWarehouse(file, args.text('account'));
  return intoStore(await openStore(rowStoreUrl(url, io)), args.text('account'));
}

/** The account that a record belongs to. */
function ownerOf(call: Call, letter: DeadLetter, account: string | null): string {
  const { acct_id } = call as { acct_id?: unknown };
  const owner = letter.account ?? account ?? (typeof acct_id === 'string' ? acct_id : null);
  if (owner !== null) return owner;
  throw new UsageError('a record does not name its account', { hints: ['name it with --account'] });
}

/** Has the store received something newer since the record was set aside, other than this very record? */
function isOutdated(letter: DeadLetter, call: Call, stored: Call | null): boolean {
  const now = fingerprint(stored);
  return now !== null && now !== letter.before && now !== fingerprint(call);
}

function intoStore(store: Store, account: string | null): Place {
  return {
    shown: store.name,
    async put(call, letter) {
      const owner = ownerOf(call, letter, account);
      if (letter.before !== undefined && isOutdated(letter, call, await store.get(owner, call.sid)))
        return 'outdated';
      const { leftOut } = await store.upsert(owner, [call]);
      return leftOut > 0 ? 'erased' : 'moved';
    },
    finish: async () => {},
    close: () => store.close(),
  };
}

/** A warehouse takes calls together; those of callers that were erased are left out there. */
async function intoWarehouse(file: WarehouseFile, account: string | null): Promise<Place> {
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(file.path);
  const byAccount = new Map<string, Call[]>();
  return {
    shown: `warehouse ${file.shown}`,
    async put(call, letter) {
      const owner = ownerOf(call, letter, account);
      if (letter.before !== undefined && isOutdated(letter, call, await warehouse.get(call.sid, owner)))
        return 'outdated';
      byAccount.set(owner, [...(byAccount.get(owner) ?? []), call]);
      return 'moved';
    },
    async finish() {
      for (const [owner, calls] of byAccount) await warehouse.load(owner, calls);
    },
    close: () => warehouse.close(),
  };
}

/** Adds calls to an NDJSON file. A call whose sid is in the file is not added again, so that a second run does no harm. */
function intoFile(shown: string, io: Io): Place {
  if (!/\.(?:ndjson|jsonl)$/.test(shown)) {
    throw new UsageError(`--output ${shown}: the calls are added to an NDJSON file`, {
      hints: ['end the name in .ndjson'],
    });
  }
  const path = resolve(io.cwd, shown);
  const calls = new Map<string, Call>();
  const all = async function* (): AsyncGenerator<string> {
    if (existsSync(path)) {
      for await (const line of readLines(createReadStream(path))) {
        for (const sid of sidsIn(line)) calls.delete(sid);
        yield `${line}\n`;
      }
    }
    for (const call of calls.values()) yield `${JSON.stringify(call)}\n`;
  };
  return {
    shown,
    async put(call) {
      calls.set(call.sid, call);
      return 'moved';
    },
    finish: () =>
      writeWholeFile(path, all()).catch((error: unknown) => {
        throw fileError(error, shown);
      }),
    close: async () => {},
  };
}

function sidsIn(line: string): string[] {
  try {
    const { sid } = JSON.parse(line) as { sid?: unknown };
    return typeof sid === 'string' ? [sid] : [];
  } catch {
    return [];
  }
}

async function report(
  fates: Readonly<Record<Fate, number>>,
  reasons: ReadonlyMap<string, number>,
  { shown, place, args, io }: { shown: string; place: Place | null; args: Args; io: Io },
): Promise<number> {
  const { moved, outdated, erased } = fates;
  const kept = [...reasons.values()].reduce((sum, n) => sum + n, 0);
  if (isJson(args)) {
    const target = place?.shown ?? null;
    const summary = { file: shown, target, ...fates, kept, reasons: Object.fromEntries(reasons) };
    await write(io.stdout, `${JSON.stringify(summary)}\n`);
  }
  if (place === null)
    say(io, `${shown}: ${plural(moved, 'record')} can be read now; name --store or --output to move`);
  else say(io, `${shown}: ${plural(moved, 'record')} moved to ${place.shown}`);
  if (outdated > 0) say(io, `removed ${plural(outdated, 'record')} of which the store has a newer form`);
  if (erased > 0) say(io, `removed ${plural(erased, 'record')} of callers that were erased`);
  const list = [...reasons].map(([code, n]) => `${count(n)} ${code}`).join(', ');
  if (kept > 0)
    say(io, `${plural(kept, 'record')} still cannot be read or stored and stay in the file: ${list}`);
  return kept > 0 ? exitCodes.incomplete : exitCodes.ok;
}
