import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { Reveal } from '../privacy/masking.ts';
import { isObject } from '../protocol/messages.ts';
import type { MirrorSettings } from './options.ts';

// A copy for assistants holds masks in the place of personal data. The key that the masks are made with lies next to it, or a caller would
// have two masks after a restart.

/** Where a copy is, and the key of its masks. */
export interface MirrorPlace extends MirrorSettings {
  readonly key: string;
}

/** The file with the key of a copy. */
const keyFileOf = (file: string): string => `${file}.key`;

/** Reads the key of a copy, and makes one for a new copy. Throws when the file is a copy of another kind. */
export function placeOf(
  settings: MirrorSettings,
  reveal: ReadonlySet<Reveal>,
  given: string | Uint8Array | undefined,
): MirrorPlace {
  const { file } = settings;
  const keyFile = keyFileOf(file);
  const shown = [...reveal].sort();
  if (!existsSync(keyFile)) {
    if (existsSync(file))
      throw unusable(
        `${file} holds calls with personal data, and assistants get a copy without: choose a file of its own.`,
      );
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const key =
      given === undefined
        ? randomBytes(32).toString('base64url')
        : createHmac('sha256', given).update('copy').digest('base64url');
    writeNew(keyFile, JSON.stringify({ version: 1, key, reveal: shown }));
  }
  const found = read(keyFile);
  if (found === null)
    throw unusable(`${keyFile} cannot be read. Remove it and ${file}: the copy is then made again.`);
  if (found.reveal.join() !== shown.join())
    throw unusable(
      `${file} was made with ${found.reveal.length === 0 ? 'nothing revealed' : `--reveal ${found.reveal.join(',')}`}: start with the same, choose another file, or remove it and ${keyFile}.`,
    );
  return { ...settings, key: found.key };
}

const unusable = (message: string): ConfigurationError => new ConfigurationError('invalid_option', message);

/** Two processes may begin at once: the first one decides. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function read(file: string): { readonly key: string; readonly reveal: readonly string[] } | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(found) || typeof found.key !== 'string' || !Array.isArray(found.reveal)) return null;
    return { key: found.key, reveal: found.reveal.map(String) };
  } catch {
    return null;
  }
}
