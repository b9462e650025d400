import { createHmac, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { isObject } from '../protocol/messages.ts';
import { ToolError } from '../text/failures.ts';

/** A question that was begun: what was asked, and what was counted so far. */
export interface Begun {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** When, in milliseconds since 1970: `last month` stays the month that it was then. */
  readonly at: number;
  readonly saved: unknown;
}

/** How long it can be continued. */
const keptFor = 60 * 60_000;

const nameForm = /^u_[A-Za-z0-9_-]{22}$/;

/** Does this cursor name a question that was begun? */
export const isBegun = (cursor: string): boolean => nameForm.test(cursor.trim());

/**
 * Keeps questions that were begun in files that only their owner reads, for an hour, so that they can go on after this process has ended.
 * `owner` tells servers with other accounts, masks or settings apart.
 */
export class UnfinishedQuestions {
  readonly #owner: string;

  constructor(key: string | Uint8Array, owner: string) {
    this.#owner = createHmac('sha256', key).update(owner).digest('base64url');
  }

  /** Keeps what was counted so far, and names it. */
  keep(begun: Begun): string {
    const name = `u_${randomBytes(16).toString('base64url')}`;
    const text = JSON.stringify({ owner: this.#owner, ...begun });
    try {
      const folder = this.#open();
      writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' });
      setTimeout(() => this.#sweep(folder), keptFor + 1000).unref();
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
  find(cursor: string, tool: string): Begun {
    const name = cursor.trim();
    const found = isBegun(name) ? this.#read(name) : null;
    if (found === null || found.tool !== tool) throw new ToolError({ code: 'foreign_cursor' });
    return found;
  }

  #read(name: string): Begun | null {
    try {
      const file = join(this.#open(), name);
      if (Date.now() - statSync(file).mtimeMs > keptFor) return null;
      const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
      if (!isObject(found) || found.owner !== this.#owner) return null;
      const { tool, args, at, saved } = found;
      return isObject(args) && typeof at === 'number' ? { tool: String(tool), args, at, saved } : null;
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      return null;
    }
  }

  /** The folder, which somebody may have removed or replaced since the last question. */
  #open(): string {
    const { uid } = userInfo();
    const folder = join(tmpdir(), `call-attribution-mcp-${uid}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid: owner, mode } = lstatSync(folder);
    const isOwn = process.platform === 'win32' || (owner === uid && (mode & 0o077) === 0);
    if (!isOwn || !lstatSync(folder).isDirectory())
      throw new ConfigurationError(
        'invalid_option',
        `${folder} belongs to somebody else or can be read by others, so no unfinished question is kept there. Remove it.`,
      );
    this.#sweep(folder);
    return folder;
  }

  /** Removes what is older than an hour. */
  #sweep(folder: string): void {
    try {
      for (const name of readdirSync(folder)) {
        const file = join(folder, name);
        if (isBegun(name) && Date.now() - statSync(file).mtimeMs > keptFor) rmSync(file, { force: true });
      }
    } catch {
      // Another process has removed it.
    }
  }
}
