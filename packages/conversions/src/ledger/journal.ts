import { createHash } from 'node:crypto';
import { type FileHandle, stat } from 'node:fs/promises';
import { withoutCalls } from '@call-attribution/node-stream/copies';
import {
  FileLockedError,
  inUseBy,
  lockFile,
  openOwnList,
  syncFolder,
  writeWholeFile,
} from '@call-attribution/node-stream/files';
import { DeliveryError, damagedAt, strange } from './errors.ts';

/**
 * An append-only list of strings that one process uses at a time. A ledger is kept in one: a file,
 * or a table of a store (`store.journal(name)`).
 */
export interface Journal {
  /**
   * Everything in it, oldest first. Read once, before the first `append`. Rejects while another
   * process has it.
   */
  read(): AsyncIterable<string>;
  /**
   * Adds a string, which is durable when this resolves. Rejects when another process has taken it
   * since `read`.
   */
  append(line: string): Promise<void>;
  /** Lets go of it, so that another process may use it. */
  close(): Promise<void>;
}

/**
 * A journal in a file: one line for each string, with a checksum over the line and all lines before
 * it. A last line that a crash has cut off was never acknowledged and is removed. A lock file keeps
 * other processes out.
 *
 * @example
 * const ledger = await openLedger(await fileJournal('uploads.ledger'));
 */
export async function fileJournal(path: string): Promise<Journal> {
  const inUse = (error: unknown): never => {
    if (!(error instanceof FileLockedError)) throw error;
    const { owner: pid, host } = error;
    const isKnown = pid !== null && host !== null;
    throw new DeliveryError(
      'ledger_in_use',
      isKnown ? inUseBy(`the ledger ${path}`, { pid, host }) : error.message,
    );
  };

  const unlock = await lockFile(`${path}.lock`).catch(inUse);
  let file: FileHandle;
  try {
    file = await openOwnList(path, (what) => strange(`${path} ${what}`), 0o600);
    await syncFolder(path);
  } catch (error) {
    await unlock();
    throw error;
  }

  let sum = '';
  let size = 0;
  return {
    async *read() {
      const bytes = await file.readFile();
      let count = 0;

      // A write that was interrupted leaves no line break.
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, size)) {
        count += 1;
        const text = bytes.toString('utf8', size, end);
        const line = text.slice(17);
        const next = sumOf(sum, line);
        if (text.slice(0, 16) !== next) throw damagedAt(`line ${count} of ${path}`);
        sum = next;
        size = end + 1;
        yield line;
      }
    },
    async append(line) {
      await unlock.check().catch(inUse);
      const next = sumOf(sum, line);
      const text = `${next} ${line}\n`;

      // What an interrupted write has left is overwritten.
      await file.truncate(size);
      await file.appendFile(text);
      await file.sync();
      sum = next;
      size += Buffer.byteLength(text);
    },
    async close() {
      await file.close();
      await unlock();
    },
  };
}

/**
 * Opens a ledger in a file to take calls out of it, which keeps everybody else from using it.
 * `forget` writes the file again without what it says about some calls, by their `sid`, and says
 * whether there was something.
 *
 * @example
 * const ledger = await openToForget('uploads.ledger');
 * await ledger.forget(new Set(erasure.sids));
 * await ledger.close();
 */
export async function openToForget(path: string): Promise<{
  forget(sids: ReadonlySet<string>): Promise<boolean>;
  close(): Promise<void>;
}> {
  const journal = await fileJournal(path);
  const lines: string[] = [];
  try {
    for await (const line of journal.read()) lines.push(line);
  } catch (error) {
    await journal.close();
    throw error;
  }

  return {
    async forget(sids) {
      const changed = lines.map((line) => withoutCalls(line, (sid) => sids.has(sid)));
      if (changed.every((line, i) => line === lines[i])) return false;
      let sum = '';
      let text = '';
      for (const line of changed) {
        sum = sumOf(sum, line);
        text += `${sum} ${line}\n`;
      }

      await writeWholeFile(path, text, { mode: (await stat(path)).mode & 0o777 });
      return true;
    },
    close: () => journal.close(),
  };
}

function sumOf(before: string, line: string): string {
  return createHash('sha256').update(`${before}\n${line}`).digest('hex').slice(0, 16);
}
