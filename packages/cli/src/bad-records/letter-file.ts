import { createReadStream, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { FileLockedError, lockFile, readLines, writeWholeFile } from '@call-attribution/node-stream/files';
import { pause } from '../calls/until-stopped.ts';
import { Interrupted, systemCode } from '../errors.ts';
import { type DeadLetter, readLetter } from './letter.ts';

/** Personal data: nobody but the user may read it. */
const ownerOnly = 0o600;

/** A file of records that were set aside, one per line. Several processes may use it at the same time. */
export interface LetterFile {
  readonly path: string;
  /** Adds letters that it does not have. Returns how many were added. They are on the disk afterwards. */
  add(letters: readonly DeadLetter[]): Promise<number>;
  /** Removes the letters of these calls of an account. */
  resolve(account: string, sids: readonly string[]): Promise<void>;
  /** Runs `body` while nobody else changes the file. */
  hold<T>(body: (held: HeldLetters) => Promise<T>): Promise<T>;
}

/** A dead-letter file that nobody else changes. */
export interface HeldLetters {
  /** Every line, with its letter; null for a line that is not one. */
  lines(): AsyncGenerator<{ line: string; letter: DeadLetter | null }>;
  /** Rewrites the file with the lines for which `keep` is true; an empty file is removed. */
  rewrite(keep: (letter: DeadLetter | null) => boolean): Promise<void>;
}

/** A dead-letter file, which need not exist yet. */
export function letterFile(path: string, signal: AbortSignal): LetterFile {
  const known = new Set<string>();
  const sids = new Set<string>();
  let readAs: string | null = null;

  async function* lines(): AsyncGenerator<{ line: string; letter: DeadLetter | null }> {
    if (stateOf(path) === null) return;
    for await (const line of readLines(createReadStream(path)))
      if (line.trim() !== '') yield { line, letter: readLetter(line) };
  }
  /** Reads what the file holds, unless it is as this process left it. */
  const refresh = async (): Promise<void> => {
    const state = stateOf(path);
    if (readAs === state && state !== null) return;
    known.clear();
    sids.clear();
    for await (const { letter } of lines()) if (letter !== null) note(letter);
    readAs = state;
  };
  const note = ({ id, account, sid }: DeadLetter): void => {
    known.add(id);
    if (account !== null && sid !== null) sids.add(`${account}\n${sid}`);
  };
  const rewrite = async (keep: (letter: DeadLetter | null) => boolean): Promise<void> => {
    let kept = 0;
    const rest = async function* (): AsyncGenerator<string> {
      for await (const { line, letter } of lines()) {
        if (!keep(letter)) continue;
        kept += 1;
        yield `${line}\n`;
      }
    };
    await writeWholeFile(path, rest(), { mode: ownerOnly });
    if (kept === 0) await rm(path, { force: true });
    readAs = null;
  };
  const locked = async <T>(body: () => Promise<T>): Promise<T> => {
    const unlock = await lockWhenFree(`${path}.lock`, signal);
    try {
      return await body();
    } finally {
      await unlock();
    }
  };

  return {
    path,
    add: (letters) =>
      locked(async () => {
        await refresh();
        const fresh = letters.filter(
          ({ id }, at) => !known.has(id) && letters.findIndex((l) => l.id === id) === at,
        );
        if (fresh.length === 0) return 0;
        await append(path, fresh.map((letter) => `${JSON.stringify(letter)}\n`).join(''));
        for (const letter of fresh) note(letter);
        readAs = stateOf(path);
        return fresh.length;
      }),
    async resolve(account, found) {
      const isHere = (sid: string | null) => sids.has(`${account}\n${sid}`);
      if (readAs !== stateOf(path)) await refresh();
      if (!found.some(isHere)) return;
      const done = new Set(found);
      await locked(() =>
        rewrite((letter) => letter?.account !== account || letter.sid === null || !done.has(letter.sid)),
      );
    },
    hold: (body) => locked(() => body({ lines, rewrite })),
  };
}

/** What tells whether another process changed the file; null when there is none. */
function stateOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

async function append(path: string, text: string): Promise<void> {
  if (stateOf(path) === null) return writeWholeFile(path, text, { mode: ownerOnly });
  const file = await open(path, 'a+');
  try {
    await file.chmod(ownerOnly);
    const { size } = await file.stat();
    const last = Buffer.alloc(1, '\n');
    if (size > 0) await file.read(last, 0, 1, size - 1);
    // A run that was cut off may have left half a line.
    await file.appendFile(last.toString() === '\n' ? text : `\n${text}`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Waits for the run that holds the lock: it adds or removes a few letters and is soon done. */
async function lockWhenFree(path: string, signal: AbortSignal): Promise<() => Promise<void>> {
  for (let wait = 10; ; wait = Math.min(2 * wait, 500)) {
    try {
      return await lockFile(path);
    } catch (error) {
      if (!(error instanceof FileLockedError) && systemCode(error) !== 'file_locked') throw error;
    }
    await pause(wait, signal);
    if (signal.aborted) throw new Interrupted();
  }
}
