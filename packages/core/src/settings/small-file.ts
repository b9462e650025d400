import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A small file that was read. */
export interface SmallFile {
  /** What is in it, without a byte order mark. */
  readonly text: string;
  /** Other users of this machine can read it. */
  readonly isExposed: boolean;
}

/** Most bytes of a file with a credential. */
const keyFileBytes: number = 64 * 1024;

/**
 * Reads a small regular file, in UTF-8 or, as some Windows programs write it, UTF-16. A pipe would
 * wait for a writer and a device may never end, so anything else is refused: the `code` of the
 * error says why, as that of a system error does.
 *
 * @param most bytes that it may have.
 * @example
 * const { text } = readSmallFile('/run/secrets/key');
 */
export function readSmallFile(path: string, most: number = keyFileBytes): SmallFile {
  // Where there is no O_NONBLOCK, as on Windows, there are no named pipes in folders either.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw refusal(path, 'EISDIR');
    if (!stats.isFile()) throw refusal(path, 'not a regular file');
    // One byte more than allowed: a file can grow while it is read.
    const bytes = Buffer.alloc(Math.min(stats.size, most) + 1);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    if (stats.size > most || length > most) throw refusal(path, `larger than ${most / 1024} KiB`);
    const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
    return {
      text: new TextDecoder(encoding).decode(bytes.subarray(0, length)),
      isExposed: process.platform !== 'win32' && (stats.mode & 0o044) !== 0,
    };
  } finally {
    closeSync(file);
  }
}

const refusal = (path: string, code: string): Error =>
  Object.assign(new Error(`${path} cannot be read: ${code}`), { code });
