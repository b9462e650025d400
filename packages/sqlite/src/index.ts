// SQLite for Node.js releases that have none built in, or an old one. As an optional dependency,
// package managers leave it out where `engines` does not allow it.
import { createRequire } from 'node:module';

export {
  /** An open database, as that of `node:sqlite`. */
  DatabaseSync,
} from '@photostructure/sqlite';

/** The file from which another process can load the same SQLite. */
export const sqliteFile = (): string =>
  createRequire(import.meta.url).resolve('@photostructure/sqlite');
