import { resolve } from 'node:path';
import { readSmallFile } from '@call-attribution/core/settings';

/** Most bytes of a file that the file of feeds names: a password, or rules of values. */
const mostBytes = 1024 * 1024;

/** The content of a file that the file of feeds names, or why it cannot be read. */
export function namedFile(
  name: string,
  folder: string,
): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: readSmallFile(resolve(folder, name), mostBytes).text };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    return { problem: `names ${name}, which cannot be read (${code})` };
  }
}
