import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './environment.ts';

/** Where the copy that assistants ask is kept when nobody says otherwise: a folder that only the user can read. */
export function defaultMirrorFile(env: Environment): string {
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local', 'share');
  return join(data, 'call-attribution', 'assistants.duckdb');
}
