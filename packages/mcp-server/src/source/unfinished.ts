import { createHmac, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { ToolError } from '../text/failures.ts';

/** A question that was begun: what was asked, and what was counted so far. */
export interface Begun {
  readonly tool: string;
  /** Names of the accounts that were asked. */
  readonly accounts: readonly string[];
  readonly args: Readonly<Record<string, unknown>>;
  /** When, in milliseconds since 1970: `last month` stays the month that it was then. */
  readonly at: number;
  readonly saved: unknown;
}

/** How long it can be continued. */
const keptFor = 60 * 60_000;
/** How often what is older is removed. */
const sweptEvery = 60_000;

const nameForm = /^u_[A-Za-z0-9_-]{22}$/;

/** Does this cursor name a question that was begun? */
export const isBegun = (cursor: string): boolean => nameForm.test(cursor.trim());

/**
 * Keeps questions that were begun in files that only their owner reads, for an hour, so that they can go on after this process has ended.
 * Each file has a seal: one that was changed is not used. `owner` tells servers with other accounts, masks or settings apart.
 */
export class UnfinishedQuestions {
  readonly #key: Uint8Array;

  constructor(key: string | Uint8Array, owner: string) {
    this.#key = createHmac('sha256', key).update(owner).digest();
  }

  /** Keeps what was counted so far, and names it. */
  keep(begun: Begun): string {
    const name = `u_${randomBytes(16).toString('base64url')}`;
    const body = JSON.stringify(begun);
    try {
      const text = `{"seal":"${this.#sealOf(body)}",${body.slice(1)}`;
      writeFileSync(join(openFolder(), name), text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      throw new ConfigurationError(
        'invalid_option',
        `The question takes more than one tool call, and what was counted so far cannot be written to ${tmpdir()} (${String(propertyOf(error, 'code'))}). Set TMPDIR to a folder that this server can write.`,
      );
    }
    return name;
  }

  /** What a cursor names. It stays for its hour: the answer may be lost on its way. */
  find(cursor: string): Begun {
    const name = cursor.trim();
    const found = isBegun(name) ? this.#read(name) : null;
    if (found === null) throw new ToolError({ code: isBegun(name) ? 'lost_question' : 'foreign_cursor' });
    return found;
  }

  #read(name: string): Begun | null {
    try {
      const file = join(folderName(), name);
      if (isOld(file)) return null;
      const text = readFileSync(file, 'utf8');
      const [start = '', seal] = /^\{"seal":"([\w-]+)",/.exec(text) ?? [];
      const body = `{${text.slice(start.length)}`;
      return seal === this.#sealOf(body) ? JSON.parse(body) : null;
    } catch {
      return null;
    }
  }

  #sealOf(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url');
  }
}

/**
 * Removes questions that were begun over an hour ago, now and every minute, also those of servers that were killed. The function that it
 * returns ends that. The age of a file is by the clock of the machine, which wrote it.
 */
export function sweepUnfinished({ timer = systemClock.timer }: Partial<Clock>): () => void {
  const after = timer === systemClock.timer ? inBackground : timer;
  let cancel = (): void => undefined;
  const sweep = (): void => {
    removeOld(folderName());
    cancel = after(sweep, sweptEvery);
  };
  sweep();
  return () => cancel();
}

/** A timer for which no process stays alive. */
const inBackground: Clock['timer'] = (run, ms) => {
  const handle = setTimeout(run, ms).unref();
  return () => clearTimeout(handle);
};

const folderName = (): string => join(tmpdir(), `call-attribution-mcp-${userInfo().uid}`);

/** The folder, which somebody may have removed or replaced since the last question. */
function openFolder(): string {
  const folder = folderName();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = lstatSync(folder);
  const isOwn = process.platform === 'win32' || (owner === userInfo().uid && (mode & 0o077) === 0);
  if (!isOwn || !lstatSync(folder).isDirectory())
    throw new ConfigurationError(
      'invalid_option',
      `${folder} belongs to somebody else or can be read by others, so no unfinished question is kept there. Remove it.`,
    );
  return folder;
}

const isOld = (file: string): boolean => Date.now() - statSync(file).mtimeMs > keptFor;

function removeOld(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (isBegun(name) && isOld(file)) rmSync(file, { force: true });
    }
  } catch {
    // There is no folder, or another process has removed a file.
  }
}
