import { execSync } from 'node:child_process';
import { InputError } from '@call-attribution/core/errors';
import type { Setting } from './table.ts';

/**
 * A credential that a command prints, such as that of a password manager. It runs when the credential is first asked for, in the shell, with the
 * terminal for its messages; a command that does not end is ended after a minute.
 *
 * @param from the name and the file that have the command, for messages.
 * @example
 * const key = secretCommand('op read op://calls/main/access', 'the access key');
 * key().value;
 */
export function secretCommand(command: string, from: string): () => Setting {
  let found: Setting | null = null;
  return () => {
    found ??= { value: printedBy(command, from), origin: 'command', from };
    return found;
  };
}

function printedBy(command: string, from: string): string {
  let text: string;
  try {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    text = execSync(command, { encoding: 'utf8', stdio, timeout: 60_000, maxBuffer: 65_536 }).trim();
  } catch (error) {
    throw failed(from, reasonOf(error));
  }
  if (text === '') throw failed(from, 'printed nothing');
  if (/[\r\n]/.test(text)) throw failed(from, 'printed more than one line');
  return text;
}

/** The message of the error has the command in it, which may hold a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if ('code' in error && error.code === 'ETIMEDOUT') return 'did not end within a minute';
  if ('code' in error && error.code === 'ENOBUFS') return 'printed more than one line';
  return 'status' in error && typeof error.status === 'number'
    ? `ended with status ${error.status}`
    : 'failed';
}

const failed = (from: string, reason: string): InputError =>
  new InputError({
    message: `${from}: the command ${reason}`,
    hint: 'run it in a shell: it has to print the credential and nothing else, and end with status 0',
  });
